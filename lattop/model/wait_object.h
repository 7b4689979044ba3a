// SPDX-License-Identifier: GPL-2.0-or-later
//
// What exactly a sleeping thread waits for, where the arguments of its system
// call tell: the file, the two ends of the socket, the futex and which thread
// holds the mutex in it, the child. Called by live_stack.h, which sees to it
// that the thread did not run meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lattop {

/// What the sleeper's program calls an address of its own: "queue_lock+0x8"; "" where
/// it has no name for it.
using NameAddress = std::function<std::string(std::uint64_t)>;

/// `call`: the text of /proc/PID/task/TID/syscall, below `proc`. One line, any
/// bytes: "fd 5: /var/log/shop", "mutex queue_lock, held by 445 worker (S)", or 0x4c50e0
/// for what `name` has no name for; "" where nothing is known. Reads a few files of /proc and, of a
/// futex or a poll, what its address points to: as slow as the process's memory is to be had.
std::string wait_object(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                        const std::string& call, const NameAddress& name = {});

}  // namespace lattop
