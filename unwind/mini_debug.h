// SPDX-License-Identifier: GPL-2.0-or-later
//
// The function names that Fedora and its kin leave in stripped programs:
// "MiniDebugInfo" of the gdb manual, an ELF file with little but a symbol
// table, compressed by xz, in the section .gnu_debugdata. Called by ElfImage.
#pragma once

#include <cstddef>
#include <vector>

struct Elf;

namespace lattop {

/// Uncompressed. A shared library's is a tenth of a MB, a browser's 20 MB.
inline constexpr std::size_t kMaxMiniDebugBytes = std::size_t{64} << 20;

/// The ELF file in `elf`'s .gnu_debugdata; empty where there is none, where it
/// is damaged, and where it is larger than kMaxMiniDebugBytes or asks for that
/// much memory to uncompress.
std::vector<char> mini_debug_info(Elf* elf);

}  // namespace lattop
