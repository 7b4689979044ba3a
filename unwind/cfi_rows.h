// SPDX-License-Identifier: GPL-2.0-or-later
//
// From the call-frame information of one ELF file to rows for the module.
// Called by RowBuilder, which knows processes; this knows files only.
//
// A row is what is left of a function's unwind table at one pc: how to find
// the caller's frame. It depends on the file and the pc alone, so rows are the
// same for all processes that map the file, and once built are kept.
//
// Files are hostile. elf_bytes.h copies the sections in question, cfi_check.h
// looks through every entry of them, and what libdw reads is a small ELF file
// in memory that holds those sections and nothing else: it never sees a byte
// that the process could still change, or a size that was not bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "unwind/elf_bytes.h"
#include "unwind/frame_sections.h"
#include "unwind/row_step.h"

namespace lattop {

/// Why a row says LT_ROW_CANNOT.
enum class CannotCause {
    None,
    NoRoom,         ///< no descriptor or memory to open the mapping's file: may be had later
    NoFile,         ///< the mapping's file could not be read, or is no x86-64 ELF
    NoCfi,          ///< no call-frame information for this code
    BadCfi,         ///< the file's call-frame information is damaged
    Cfa,            ///< the frame's place is no register plus a constant
    Bp,             ///< the caller's bp is where no row can say
    ReturnAddress,  ///< not at cfa - 8
    Count
};

/// For people.
const char* cannot_text(CannotCause cause);

struct BuiltRow {
    lt_row row{};
    CannotCause cannot = CannotCause::None;
};

class CfiRows {
public:
    /// Reads what is needed to build rows. Always gives an object: a file that
    /// is not usable gives rows that say so.
    static std::unique_ptr<CfiRows> from_file(UniqueFd fd);

    /// The same for an image in memory (the vdso).
    static std::unique_ptr<CfiRows> from_memory(std::vector<char> bytes);

    CfiRows(const CfiRows&) = delete;
    CfiRows& operator=(const CfiRows&) = delete;
    ~CfiRows();

    /// The row for the code at `file_offset`; `exact` where it is no return
    /// address. row.pc is left 0.
    BuiltRow row_at(std::uint64_t file_offset, bool exact);

    /// Rows that were asked for before and say how to go on, at most `max`, of
    /// the code at `first` <= file offset < `end`: (file offset, row).
    [[nodiscard]] std::vector<std::pair<std::uint64_t, BuiltRow>> known_rows(std::uint64_t first,
                                                                             std::uint64_t end,
                                                                             std::size_t max) const;

    /// Empty where the file has one of its own.
    [[nodiscard]] const SearchTable& search_table() const;

    [[nodiscard]] const ElfBytes& file() const { return file_; }

    /// About how much memory it holds.
    [[nodiscard]] std::size_t bytes() const;

private:
    struct Unwinding;  // libelf's and libdw's handles, kept out of this header

    explicit CfiRows(ElfBytes file);
    [[nodiscard]] BuiltRow build(std::uint64_t address, std::uint64_t file_offset, bool exact);
    [[nodiscard]] BuiltRow without_cfi(std::uint64_t look_up, std::uint64_t file_offset) const;
    [[nodiscard]] bool is_signal_return(std::uint64_t file_offset) const;
    [[nodiscard]] bool is_entry(std::uint64_t look_up) const;

    ElfBytes file_;
    std::unique_ptr<Unwinding> unwinding_;
    std::unordered_map<std::uint64_t, BuiltRow> rows_;  // by file offset * 2 + exact
};

}  // namespace lattop
