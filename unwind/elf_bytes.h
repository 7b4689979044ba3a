// SPDX-License-Identifier: GPL-2.0-or-later
//
// The few facts about an ELF file that unwinding needs, read by hand. Called
// by CfiRows.
//
// Why not libelf: it sizes its tables by what the file says, and a file of
// another user may say anything, and something else at the next read. Here
// every count and size is bounded before it is used, nothing is mapped, and
// what is handed on is a copy that no longer changes.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "unwind/unique_fd.h"

namespace lattop {

class ElfBytes {
public:
    /// Where a section is: its bytes are read() to where they are wanted.
    struct Section {
        std::uint64_t address = 0;
        std::uint64_t flags = 0;  ///< SHF_*
        std::uint64_t offset = 0;
        std::size_t bytes = 0;
    };

    static ElfBytes from_file(UniqueFd fd);
    static ElfBytes from_memory(std::vector<char> bytes);

    /// Whether it is an x86-64 program or library with bounded tables.
    [[nodiscard]] bool usable() const { return usable_; }

    [[nodiscard]] std::span<const Elf64_Phdr> segments() const { return segments_; }
    [[nodiscard]] std::uint64_t entry() const { return header_.e_entry; }

    /// The section of that name; nothing where there is none, or it says that
    /// it holds more than `max_bytes`.
    [[nodiscard]] std::optional<Section> section(std::string_view name,
                                                 std::uint64_t max_bytes) const;

    /// The file's address of the code at an offset; nothing outside of the
    /// loaded segments.
    [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;

    /// Fills `bytes` from `offset`; false where the file ends before.
    bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

    /// Nothing more is read. To close a file can take as long as to read it, and a file that is
    /// open cannot be unmounted, nor its place on the disk be used again.
    void let_go() {
        fd_.reset();
        memory_ = {};
    }

private:
    void load();
    bool load_tables();

    UniqueFd fd_;
    std::vector<char> memory_;
    bool usable_ = false;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Phdr> segments_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<std::uint8_t> names_;
};

}  // namespace lattop
