// SPDX-License-Identifier: GPL-2.0-or-later
//
// Source lines from the DWARF that a file itself carries. Held by ElfImage.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unwind/unique_fd.h"

namespace lattop {

struct SourceLine {
    std::string file;
    std::uint32_t line = 0;
};

class ElfLines {
public:
    /// Nothing where `elf` has no DWARF, or more than kMaxDebugBytes of it.
    /// Takes over `elf` and `fd`, which it reads, in any case.
    static std::unique_ptr<ElfLines> open(Elf* elf, UniqueFd fd);

    ElfLines(const ElfLines&) = delete;
    ElfLines& operator=(const ElfLines&) = delete;
    ~ElfLines();

    /// The line of the code at `address`, as the file counts addresses.
    std::optional<SourceLine> line_at(std::uint64_t address);

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    struct UnitRange {
        std::uint64_t start, end;
        Dwarf_Off unit;  ///< of its DIE
    };

    ElfLines(Elf* elf, Dwarf* dwarf, UniqueFd fd, std::size_t bytes);
    void index_units();

    UniqueFd fd_;
    Elf* elf_;
    Dwarf* dwarf_;
    std::size_t bytes_;
    std::vector<UnitRange> units_;  // by start
    bool indexed_ = false;
};

}  // namespace lattop
