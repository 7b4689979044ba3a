// SPDX-License-Identifier: GPL-2.0-or-later
//
// The registers that a walk by libunwind begins with, and what /proc says of them. Filled in by
// live_stack.cc, and by tests with all there are.
#pragma once

#include <libunwind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lattop {

/// Registers by DWARF number (which is libunwind's): 6 bp, 7 sp, 16 pc. Those
/// that are not known are empty.
struct ThreadRegisters {
    static constexpr std::size_t kBp = UNW_X86_64_RBP;
    static constexpr std::size_t kSp = UNW_X86_64_RSP;
    static constexpr std::size_t kPc = UNW_X86_64_RIP;
    std::array<std::optional<std::uint64_t>, UNW_X86_64_RIP + 1> values;
};

/// What /proc/PID/task/TID/syscall says (proc(5)): arguments, sp and pc of the
/// system call a thread is blocked in. bp is not among them. Nothing for a
/// thread that runs, or text that is not of that form.
std::optional<ThreadRegisters> parse_syscall(const std::string& text);

}  // namespace lattop
