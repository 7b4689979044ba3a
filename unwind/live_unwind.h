// SPDX-License-Identifier: GPL-2.0-or-later
//
// The stack of a thread by libunwind: no ptrace, no stop. Called by `lattop stack` and the live
// screen's pane, which walk in a process that is held back (remote_unwind.h), and by tests as the
// reference for rows.
//
// Nothing here is shared with rows but the maps: libunwind reads .eh_frame_hdr
// and .eh_frame from the process's memory, not from files, and interprets them
// itself. So where the two agree, each has checked the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "unwind/process_code.h"
#include "unwind/reader_clock.h"
#include "unwind/stack_walk.h"
#include "unwind/thread_registers.h"

namespace lattop {

struct LiveWalk {
    std::vector<LiveFrame> frames;  ///< innermost first
    bool complete = false;          ///< the last one is the thread's first
    std::string why;                ///< what ended it, where it is not complete
};

/// Not for two threads at once.
class LiveUnwinder {
public:
    LiveUnwinder() = default;
    LiveUnwinder(const LiveUnwinder&) = delete;
    LiveUnwinder& operator=(const LiveUnwinder&) = delete;
    virtual ~LiveUnwinder() = default;

    /// Walks up from `registers` in the memory of `code`, within the limits of stack_walk.h,
    /// whatever the process wrote there.
    virtual LiveWalk walk(ProcessCode& code, const ThreadRegisters& registers) = 0;

    /// CPU time that a process beside this one has walked for it.
    [[nodiscard]] virtual ReadingTime walking_time() const {
        return [] { return 0; };
    }
};

/// Walks in this process, which a hostile unwind table may end.
std::shared_ptr<LiveUnwinder> local_unwinder();

/// For people.
LiveWalk live_walk(StackWalk walk);

}  // namespace lattop
