// SPDX-License-Identifier: GPL-2.0-or-later
//
// See background_thread.h.
#include "unwind/background_thread.h"

#include <pthread.h>

#include <csignal>

namespace lattop {

void block_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void join_or_leave(std::thread& thread, std::unique_lock<std::mutex>& lock,
                   std::condition_variable& changed, const bool& stopped) {
    const bool ended = changed.wait_for(lock, kEndPatience, [&] { return stopped; });
    lock.unlock();
    if (ended)
        thread.join();
    else
        thread.detach();
}

}  // namespace lattop
