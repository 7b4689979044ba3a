// SPDX-License-Identifier: GPL-2.0-or-later
// A command and everything it starts: started, stopped and ended as one. Only ever touches
// processes that descend from the caller.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace oracle {

class Workload {
public:
    /// Starts the command; its daemons become children of this process.
    explicit Workload(const std::vector<std::string>& command);
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    /// Ends what still runs.
    ~Workload();

    /// True while the command itself runs.
    bool running();
    /// Exit status of the command once it has ended, 128 + signal as a shell has it; -1 before.
    [[nodiscard]] int status() const { return status_; }

    /// Stops all its processes (SIGSTOP) and waits until each has stopped.
    void freeze();
    void thaw();

private:
    void signal_all(int number);

    pid_t pid_;
    int status_ = -1;
};

}  // namespace oracle
