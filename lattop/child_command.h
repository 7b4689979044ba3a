// SPDX-License-Identifier: GPL-2.0-or-later
//
// A command that lattop starts and watches: it waits before its first
// instruction until everything is ready. Used by record and run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lattop/end_signals.h"
#include "unwind/unique_fd.h"

namespace lattop {

class ChildCommand {
public:
    /// Forks. `signals`: what the child unblocks again. Throws Error.
    ChildCommand(std::vector<std::string> command, const EndSignals& signals);
    ChildCommand(const ChildCommand&) = delete;
    ChildCommand& operator=(const ChildCommand&) = delete;

    /// Ends a child that was never released. A command that still runs gets SIGTERM, if it was
    /// not asked to end before, and is left to itself.
    ~ChildCommand();

    [[nodiscard]] pid_t pid() const { return pid_; }

    /// Lets it go. Throws Error where the program cannot be run.
    void release();

    /// Its exit status as a shell gives it (128 and the signal's number for one
    /// that was killed); nothing while it runs. Never waits.
    std::optional<int> status();

    /// Passes on what `signals` gave last, which asks to end; not ^C, which the terminal sent to
    /// the command as well.
    void pass_on(int signal, const EndSignals& signals) const;

    /// Asks a command that still runs to end, by SIGTERM, and waits for that as long as it takes,
    /// which is said after `patience`. Of the signals that come meanwhile the first is passed on;
    /// the second ends the wait, which is said: the command goes on.
    void end(EndSignals& signals, std::chrono::milliseconds patience = kGrace);

private:
    static constexpr std::chrono::milliseconds kGrace{1000};

    void send(int signal) const;
    bool ends_within(std::chrono::milliseconds time);

    std::vector<std::string> command_;
    pid_t pid_ = -1;
    UniqueFd go_;      // until it is released; a byte in it does that, closed unused it ends
    UniqueFd failed_;  // the child's errno, where execvp failed
    std::optional<int> status_;
    bool asked_ = false;  // to end
};

}  // namespace lattop
