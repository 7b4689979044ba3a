// SPDX-License-Identifier: GPL-2.0-or-later
//
// See gathering.h.
#include "lattop/verbs/gathering.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "lattop/live_world.h"
#include "lattop/output.h"

namespace lattop {
namespace {

/// Who asked for an end gets it, also where a file system does not answer.
constexpr std::chrono::seconds kNamesAfterSignal{5};

}  // namespace

StopNaming Gathering::stop_naming() {
    StopNaming by_signal = stop_naming_by(signals_, [this] { return !under_way_; });
    return [this, by_signal = std::move(by_signal)](std::size_t missing) {
        if (!names_until_) return by_signal(missing);
        if (std::chrono::steady_clock::now() < *names_until_) return false;
        if (!std::exchange(said_, true)) complain(names_given_up_text(missing));
        return true;
    };
}

void Gathering::begin() {
    under_way_ = true;
    signals_.hold();
}

void Gathering::wait_until(Clock::Time until) {
    int signal = SIGCHLD;
    while (signal == SIGCHLD)
        signal = signals_.wait_until(until);
    ended_ = signal != 0;
    under_way_ = false;
}

void Gathering::finish() {
    signals_.hold();
    if (!ended_) return;
    names_until_ = std::chrono::steady_clock::now() + kNamesAfterSignal;
    complain("gathers no longer: what was seen till now is written; the next signal ends at once");
    signals_.let_through();
}

}  // namespace lattop
