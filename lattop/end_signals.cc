// SPDX-License-Identifier: GPL-2.0-or-later
//
// See end_signals.h.
#include "lattop/end_signals.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

namespace lattop {
namespace {

bool ignored(int number) {
    struct sigaction action {};
    return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

EndSignals::EndSignals() {
    // Inherited as ignored, it would make the kernel throw children's statuses away.
    ::signal(SIGCHLD, SIG_DFL);
    ::sigemptyset(&signals_);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM})
        ::sigaddset(&signals_, number);
    if (!ignored(SIGHUP)) ::sigaddset(&signals_, SIGHUP);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

EndSignals::~EndSignals() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int EndSignals::wait_until(Clock::Time time) {
    for (;;) {
        const auto left =
            std::max(time - std::chrono::steady_clock::now(), Clock::Time::duration{});
        const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
        const timespec timeout{static_cast<std::time_t>(ns / 1'000'000'000),
                               static_cast<long>(ns % 1'000'000'000)};
        const int number = ::sigtimedwait(&signals_, &last_, &timeout);
        if (number > 0) return number;
        if (errno != EINTR) return 0;
    }
}

}  // namespace lattop
