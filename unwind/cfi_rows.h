// SPDX-License-Identifier: GPL-2.0-or-later
//
// From the call-frame information of one ELF file to rows for the module.
// Called by RowBuilder, which knows processes; this knows files only.
//
// A row is what is left of a function's unwind table at one pc: how to find
// the caller's frame. It depends on the file and the pc alone, so rows are the
// same for all processes that map the file, and once built are kept.
//
// Whose processes asked for a row is kept with it. A stack is whatever its owner wrote
// there, so what one user's walks came by is no reason to teach it to another's processes.
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
#include <unordered_set>
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

/// Without a pc: a row that says why there is none, and one of a signal's frame, whose ucontext is
/// so far behind sp.
BuiltRow cannot_row(CannotCause cause);
BuiltRow signal_row(std::int64_t ucontext_offset);

/// Whose process asks: a real user id of this user namespace. That of another one is not
/// to be told from its owner by us, and counts as nobody else's: kApart | its number.
using CodeUser = std::uint64_t;
inline constexpr CodeUser kRootUser = 0;
inline constexpr CodeUser kApart = CodeUser{1} << 63;
inline constexpr CodeUser kNoUser = UINT64_MAX;  ///< not said: counts for nothing

struct KnownRow {
    std::uint64_t file_offset = 0;
    BuiltRow built;
    std::uint32_t asked = 0;  ///< for it, how often
};

class CfiRows {
public:
    /// Reads what is needed to build rows. Always gives an object: a file that
    /// is not usable gives rows that say so; but nullptr where it takes more than `most_bytes`.
    /// The file is closed then.
    static std::unique_ptr<CfiRows> from_file(UniqueFd fd, std::size_t most_bytes = SIZE_MAX);

    /// The same in two steps: how much will be read of the file, which is for the caller to judge,
    /// and that. `file`: as it was opened.
    static std::size_t bytes_to_read(const ElfBytes& file) {
        return FrameSections::bytes_to_read(file);
    }
    static std::unique_ptr<CfiRows> from_elf(ElfBytes file, std::size_t most_bytes);

    /// The same for an image in memory (the vdso).
    static std::unique_ptr<CfiRows> from_memory(std::vector<char> bytes);

    CfiRows(const CfiRows&) = delete;
    CfiRows& operator=(const CfiRows&) = delete;
    ~CfiRows();

    /// The row for the code at `file_offset`; `exact` where it is no return
    /// address. row.pc is left 0.
    BuiltRow row_at(std::uint64_t file_offset, bool exact, CodeUser asker = kNoUser);

    /// Rows that say how to go on and were asked for before by `user`, by two other ones, or
    /// by root, of the code at `first` < file offset < `end`; at most `max`, those asked
    /// for most.
    [[nodiscard]] std::vector<KnownRow> known_rows(std::uint64_t first, std::uint64_t end,
                                                   std::size_t max, CodeUser user) const;

    /// How many are kept, whoever asked for them.
    [[nodiscard]] std::size_t rows() const { return rows_.size(); }

    /// Empty where the file has one of its own.
    [[nodiscard]] const SearchTable& search_table() const;

    [[nodiscard]] const ElfBytes& file() const { return file_; }

    /// About how much memory it holds.
    [[nodiscard]] std::size_t bytes() const;

private:
    struct Unwinding;  // libelf's and libdw's handles, kept out of this header
    struct Row {
        BuiltRow built;
        std::uint32_t asked = 0;
        CodeUser first = kNoUser;  ///< who asked for it; it is in users_ by that
        bool shared = false;       ///< others did, or root: it is in shared_
    };
    using Keys = std::unordered_set<std::uint64_t>;

    explicit CfiRows(ElfBytes file);
    [[nodiscard]] BuiltRow build(std::uint64_t address, bool exact);
    [[nodiscard]] BuiltRow without_cfi(std::uint64_t look_up) const;
    [[nodiscard]] bool is_entry(std::uint64_t look_up) const;
    void note_asker(std::uint64_t key, Row& row, CodeUser asker);
    void forget_rows();

    ElfBytes file_;
    std::unique_ptr<Unwinding> unwinding_;
    std::unordered_map<std::uint64_t, Row> rows_;  // by file offset * 2 + exact
    std::unordered_map<CodeUser, Keys> users_;
    Keys shared_;
};

}  // namespace lattop
