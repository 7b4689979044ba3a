// SPDX-License-Identifier: GPL-2.0-or-later
//
// The call-frame information of a file, copied, checked and opened with libdw.
// Held by CfiRows.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unwind/elf_bytes.h"
#include "unwind/elf_handle.h"

namespace lattop {

class ImageWriter;
struct CfiEntries;

/// A search table as .eh_frame_hdr has one, made from .eh_frame itself, for
/// files that come without: static programs.
struct SearchTable {
    struct Entry {
        std::int32_t start;  ///< of the function's code
        std::int32_t entry;  ///< its FDE; both from `address` on
    };
    std::uint64_t address = 0;   ///< of .eh_frame, as the file counts addresses
    std::vector<Entry> entries;  ///< by start
};

class FrameSections {
public:
    explicit FrameSections(const ElfBytes& file);

    /// What is copied of the file to begin with.
    static std::size_t bytes_to_read(const ElfBytes& file);
    FrameSections(const FrameSections&) = delete;
    FrameSections& operator=(const FrameSections&) = delete;
    ~FrameSections();

    /// nullptr where the file has none, or none that is sound.
    [[nodiscard]] Dwarf_CFI* eh_frame() const { return eh_frame_; }
    [[nodiscard]] Dwarf_CFI* debug_frame() const { return debug_frame_; }

    [[nodiscard]] const SearchTable& search_table() const { return table_; }

    /// Whether there was something that was not sound.
    [[nodiscard]] bool damaged() const { return damaged_; }

    /// libdw is asked for a frame: it keeps what it finds.
    void note_look() { ++looks_; }

    /// About how much memory it holds, and libdw with it.
    [[nodiscard]] std::size_t bytes() const;

private:
    void open_eh_frame(const ElfBytes& file);
    void add_table(ImageWriter& writer, const ElfBytes::Section& table, std::uint64_t address,
                   const CfiEntries& entries, const ElfBytes& file);
    void open_debug_frame(const ElfBytes& file);

    std::vector<std::uint8_t> eh_image_, debug_image_;  // what libelf reads
    ElfHandle eh_elf_, debug_elf_;
    Dwarf* dwarf_ = nullptr;
    Dwarf_CFI* eh_frame_ = nullptr;
    Dwarf_CFI* debug_frame_ = nullptr;
    SearchTable table_;
    bool has_table_ = false;  ///< of its own
    bool damaged_ = false;
    std::size_t common_ = 0;  ///< CIEs of .eh_frame
    std::size_t looks_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace lattop
