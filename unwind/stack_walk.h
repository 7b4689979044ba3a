// SPDX-License-Identifier: GPL-2.0-or-later
//
// A walk up a stack by libunwind's remote interface. What libunwind does with a hostile process's
// unwind table is its own affair: it may divide so that this process ends, or take its memory.
// Called by walk_server.cc in a process that is held back, and by local_unwinder() for tests and
// tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unwind/thread_registers.h"
#include "unwind/walked_process.h"

namespace lattop {

struct LiveFrame {
    std::uint64_t pc = 0, sp = 0;

    bool operator==(const LiveFrame&) const = default;
};

/// What ended a walk.
enum class StackEnd : std::uint8_t {
    Complete,       ///< the last frame is the thread's first
    TooManyFrames,  ///< there may be more than kMaxStackFrames
    TooManyReads,   ///< of kMaxStackReads
    BpWanted,       ///< the next frame is found by bp, which is not known
    NoTable,        ///< no unwind table is for the last frame's code
    Failed,         ///< as StackWalk::error says
};

inline constexpr std::size_t kMaxStackFrames = 1024;

/// Words of memory that are read for one walk, whatever the process wrote there.
inline constexpr std::size_t kMaxStackReads = 2'000'000;

struct StackWalk {
    std::vector<LiveFrame> frames;  ///< innermost first
    StackEnd end = StackEnd::Failed;
    std::uint8_t error = 0;  ///< a unw_error_t

    bool operator==(const StackWalk&) const = default;
};

StackWalk walk_stack(WalkedProcess& process, const ThreadRegisters& registers);

}  // namespace lattop
