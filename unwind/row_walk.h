// SPDX-License-Identifier: GPL-2.0-or-later
//
// A walk up a stack by rows that are built on the way: what the module does
// with the rows it was taught, done here to find out which ones it needs.
// Called by the resolver for each miss, and by tests.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "unwind/process_code.h"

namespace lattop {

/// How a walk ended.
enum class WalkEnd {
    Complete,  ///< at the thread's first frame
    Cannot,    ///< at code that cannot be unwound
    NoCode,    ///< at an address that is in no executable mapping
    Unsound,   ///< the stack led nowhere: it changed meanwhile, or is no stack
    TooDeep,   ///< after as many frames as were asked for
    Stopped,   ///< nobody waits for it any more
    Count
};

/// For people.
const char* walk_end_text(WalkEnd end);

inline constexpr std::size_t kMaxWalkFrames = 1024;

struct WalkedFrame {
    lt_uframe frame;
    PlacedRow placed;
};

struct Walk {
    std::vector<WalkedFrame> frames;  ///< innermost first; the last one with its row
    WalkEnd end = WalkEnd::NoCode;
    std::uint64_t stop_pc = 0;  ///< where NoCode was met
};

/// Walks from `frame` up. Memory read earlier is forgotten first. At most
/// `max_frames` steps, each of a few reads: a stack that was made to go in
/// circles costs no more. `stop`: looked at before each of them; may be null.
Walk walk_rows(ProcessCode& code, lt_uframe frame, std::size_t max_frames = kMaxWalkFrames,
               const std::atomic<bool>* stop = nullptr);

}  // namespace lattop
