// SPDX-License-Identifier: GPL-2.0-or-later
//
// The signals that ask a command to end, waited for instead of handled. Used by
// record, run and the daemon, and by verbs over this machine (verbs/gathering.h).
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
    /// One that asks to end and came several times in between is one.
    int wait_until(Clock::Time time);

    /// A signal that has come and asks to end, 0 for none. Never waits;
    /// wait_until() still gives it.
    int pending();

    /// From now on those that ask to end do what they do to other programs, and
    /// are waited for again. In the calling thread; others never get them.
    void let_through();
    void hold();

    /// Whether the terminal sent the signal that came last: then to all that
    /// run in its foreground.
    [[nodiscard]] bool from_terminal() const { return last_.si_code == SI_KERNEL; }

    /// What was blocked before: for children.
    [[nodiscard]] const sigset_t& before() const { return before_; }

private:
    /// What came again of `number`, before anybody looked.
    static void forget(int number);

    sigset_t signals_{};
    sigset_t asking_{};  // the same without SIGCHLD
    sigset_t before_{};
    siginfo_t last_{};
    siginfo_t pending_{};  // si_signo is 0 for none
};

}  // namespace lattop
