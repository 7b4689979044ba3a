// SPDX-License-Identifier: GPL-2.0-or-later
//
// See end_signals.h.
#include "lattop/end_signals.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

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
    asking_ = signals_;
    ::sigdelset(&asking_, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

EndSignals::~EndSignals() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int EndSignals::pending() {
    static constexpr timespec kNow{};
    while (pending_.si_signo == 0 && ::sigtimedwait(&asking_, &pending_, &kNow) < 0) {
        pending_ = {};
        if (errno != EINTR) break;
    }
    return pending_.si_signo;
}

void EndSignals::let_through() {
    ::pthread_sigmask(SIG_UNBLOCK, &asking_, nullptr);
}

void EndSignals::hold() {
    ::pthread_sigmask(SIG_BLOCK, &asking_, nullptr);
}

void EndSignals::forget(int number) {
    static constexpr timespec kNow{};
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, number);
    ::sigtimedwait(&one, nullptr, &kNow);  // not queued: there is one at most
}

int EndSignals::wait_until(Clock::Time time) {
    if (pending_.si_signo != 0) {
        last_ = std::exchange(pending_, {});
        forget(last_.si_signo);
        return last_.si_signo;
    }
    for (;;) {
        const auto left =
            std::max(time - std::chrono::steady_clock::now(), Clock::Time::duration{});
        const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
        const timespec timeout{static_cast<std::time_t>(ns / 1'000'000'000),
                               static_cast<long>(ns % 1'000'000'000)};
        const int number = ::sigtimedwait(&signals_, &last_, &timeout);
        if (number > 0) {
            if (::sigismember(&asking_, number) == 1) forget(number);
            return number;
        }
        if (errno != EINTR) return 0;
    }
}

}  // namespace lattop
