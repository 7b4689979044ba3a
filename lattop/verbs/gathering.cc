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
StopNaming Gathering::stop_naming() {
    StopNaming by_signal = stop_naming_by(signals_, [this] { return !under_way_; });
    return [this, behind = stop_naming_at(names_until_, std::move(by_signal))](
               std::size_t missing) mutable {
        return (under_way_ && std::chrono::steady_clock::now() >= until_) || behind(missing);
    };
}

void Gathering::begin(Clock::Time until) {
    under_way_ = true;
    until_ = until;
    signals_.hold();
}

void Gathering::wait() {
    int signal = SIGCHLD;
    while (signal == SIGCHLD)
        signal = signals_.wait_until(until_);
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
