// SPDX-License-Identifier: GPL-2.0-or-later
//
// The image reader's side: reads files that it is handed, and walks stacks, until the other side
// hangs up. Called by a process of its own (lattop/image_reader.h), whose limits are what bounds
// it: where it comes to an end, by memory, time or a fault of elfutils or libunwind, the file or
// the stack that it was at is at fault.
#pragma once

namespace lattop {

/// Answers what comes by `socket` (image_messages.h). Returns when there is nobody left to answer.
/// Each request may take kImageSeconds of CPU, a walk kWalkSeconds; then SIGPROF ends the process.
void serve_images(int socket);

/// Seconds of CPU time. A browser's symbols take two.
inline constexpr int kImageSeconds = 20;

}  // namespace lattop
