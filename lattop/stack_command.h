// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command `lattop stack PID|TID`: where every blocked thread of a process
// stands now, by libunwind, without stopping it and without the module.
#pragma once

#include <cstdint>

namespace lattop {

/// Prints the stacks of the threads of process `pid`, or of the one thread
/// `pid` where that is not a process. Throws Error.
void run_stack(std::uint32_t pid);

}  // namespace lattop
