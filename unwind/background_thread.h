// SPDX-License-Identifier: GPL-2.0-or-later
//
// A thread that works on slow files beside the screen: how it begins and how it
// is ended. Used by DebugFetch and by lattop's WorkerNamer and ResolverWorker.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace lattop {

/// For a thread's beginning: signals are the main thread's.
void block_signals();

/// How long the end of the program waits for a thread that was asked to stop.
inline constexpr std::chrono::milliseconds kEndPatience{200};

/// For the end of the program, with `lock` held and the thread asked to stop:
/// waits a moment for it to set `stopped` and notify `changed`. A thread that a
/// file system or a server keeps is left behind, with all it works on.
void join_or_leave(std::thread& thread, std::unique_lock<std::mutex>& lock,
                   std::condition_variable& changed, const bool& stopped);

}  // namespace lattop
