// SPDX-License-Identifier: GPL-2.0-or-later
//
// The side of a walk that walks, without the process: asks for its pages and tables. Called by
// image_server.cc, in a process that is held back, which a hostile unwind table may end.
#pragma once

namespace lattop {

/// One walk, for who asked by `socket` (walk_messages.h). False where nobody is there to be told.
bool serve_walk(int socket);

/// Seconds of CPU time. Walks take milliseconds.
inline constexpr int kWalkSeconds = 5;

}  // namespace lattop
