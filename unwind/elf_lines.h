// SPDX-License-Identifier: GPL-2.0-or-later
//
// Source lines and inlined calls from the DWARF in a program or in its debug
// file. Held by ElfImage.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unwind/elf_handle.h"
#include "unwind/elf_inlines.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// What is at an address: a line, and the calls that were inlined there.
struct SourcePlace {
    SourceLine line;                   ///< of the innermost function
    std::vector<InlinedCall> inlined;  ///< innermost first
};

/// Whether a file may lead on to another one by a path in it (dwz's
/// .gnu_debugaltlink), which libdw opens, whatever it is. Not where anybody may
/// have written that path.
enum class AltLink { Refused, Followed };

class ElfLines {
public:
    /// Nothing where `elf` has no DWARF, or more than kMaxDebugBytes of it.
    /// Takes over `elf` and `fd`, which it reads, in any case.
    static std::unique_ptr<ElfLines> open(ElfHandle elf, UniqueFd fd, AltLink alt_link);

    ElfLines(const ElfLines&) = delete;
    ElfLines& operator=(const ElfLines&) = delete;
    ~ElfLines();

    /// The code at `address`, as the file counts addresses; nothing where no
    /// unit has it.
    std::optional<SourcePlace> place_at(std::uint64_t address);

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    /// The file that it reads.
    [[nodiscard]] Elf* elf() const { return elf_.get(); }

private:
    struct UnitRange {
        std::uint64_t start, end;
        Dwarf_Off unit;  ///< of its DIE
    };

    ElfLines(ElfHandle elf, Dwarf* dwarf, UniqueFd fd, std::size_t bytes);
    void index_units();

    UniqueFd fd_;
    ElfHandle elf_;
    Dwarf* dwarf_;
    std::size_t bytes_;
    std::vector<UnitRange> units_;  // by start
    bool indexed_ = false;
};

}  // namespace lattop
