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

    /// Ends a child that was never released, or still runs, by SIGTERM; by
    /// SIGKILL where that does not end it within a second.
    ~ChildCommand();

    [[nodiscard]] pid_t pid() const { return pid_; }

    /// Lets it go. Throws Error where the program cannot be run.
    void release();

    /// Its exit status as a shell gives it (128 and the signal's number for one
    /// that was killed); nothing while it runs. Never waits.
    std::optional<int> status();

    void send(int signal) const;

private:
    bool ends_within(std::chrono::milliseconds time);

    std::vector<std::string> command_;
    pid_t pid_ = -1;
    UniqueFd go_;      // a byte in it lets the child go; closed unused, the child ends
    UniqueFd failed_;  // the child's errno, where execvp failed
    std::optional<int> status_;
};

}  // namespace lattop
