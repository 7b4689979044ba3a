// SPDX-License-Identifier: GPL-2.0-or-later
//
// The stack of a thread by libunwind's remote interface: no ptrace, no stop.
// Called by `lattop stack`, and by tests as the reference for rows.
//
// Nothing here is shared with rows but the maps: libunwind reads .eh_frame_hdr
// and .eh_frame from the process's memory, not from files, and interprets them
// itself. So where the two agree, each has checked the other.
#pragma once

#include <libunwind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unwind/process_code.h"

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

struct LiveFrame {
    std::uint64_t pc = 0, sp = 0;
};

struct LiveWalk {
    std::vector<LiveFrame> frames;  ///< innermost first
    bool complete = false;          ///< the last one is the thread's first
    std::string why;                ///< what ended it, where it is not complete
};

class LiveUnwinder {
public:
    LiveUnwinder();
    LiveUnwinder(const LiveUnwinder&) = delete;
    LiveUnwinder& operator=(const LiveUnwinder&) = delete;
    ~LiveUnwinder();

    /// Walks up from `registers` in the memory of `code`. At most 1024 frames
    /// and 2 million words read, whatever the process wrote there.
    LiveWalk walk(ProcessCode& code, const ThreadRegisters& registers);

private:
    unw_addr_space_t space_;
};

}  // namespace lattop
