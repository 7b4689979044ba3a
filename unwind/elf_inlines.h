// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which functions the compiler inlined at a place, from DWARF. Called by
// ElfLines.
//
// The tree is walked here and not by dwarf_getscopes(3): that one recurses as
// deep as the file says, and the file may be anybody's. Here depth and number
// of the entries looked at are bounded.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lattop {

struct SourceLine {
    std::string file;
    std::uint32_t line = 0;  ///< 0 where not known
};

/// As a file's line table says it; of a path that the kernel would not take the
/// beginning, for each frame keeps a copy.
SourceLine source_line(const char* file, std::uint32_t line);

struct InlinedCall {
    std::string function;  ///< demangled; "" where it has no name
    SourceLine call;       ///< where in its caller it was called
};

/// Cuts the texts of these calls, the innermost first, to what a frame may keep: 4 KiB of a name,
/// 32 KiB of all names and paths. The calls of a program made to be endless stay, nameless.
void bound_texts(std::vector<InlinedCall>& calls);

/// The calls inlined at `address` of a unit, the innermost first; bound_texts().
std::vector<InlinedCall> inlined_at(Dwarf_Die& unit, std::uint64_t address);

}  // namespace lattop
