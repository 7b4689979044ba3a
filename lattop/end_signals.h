// SPDX-License-Identifier: GPL-2.0-or-later
//
// The signals that ask a command to end, waited for instead of handled. Used by
// record, run and the daemon.
#pragma once

#include <csignal>

#include "lattop/clock.h"

namespace lattop {

class EndSignals {
public:
    /// Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD. To be made before any
    /// thread, so that none gets them, and before any child, so that it can be
    /// waited for. SIGHUP stays ignored where it is (nohup); once blocked, it
    /// would come all the same, as SIGINT does: to a script's background job,
    /// where it is ignored, kill -INT is how recorders are ended.
    EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;
    ~EndSignals();

    /// Waits until `time` at most; the signal that came, 0 for none.
    int wait_until(Clock::Time time);

    /// Whether the terminal sent the signal that came last: then to all that
    /// run in its foreground.
    [[nodiscard]] bool from_terminal() const { return last_.si_code == SI_KERNEL; }

    /// What was blocked before: for children.
    [[nodiscard]] const sigset_t& before() const { return before_; }

private:
    sigset_t signals_{};
    sigset_t before_{};
    siginfo_t last_{};
};

}  // namespace lattop
