// SPDX-License-Identifier: GPL-2.0-or-later
// lattop-oracle watch: runs a workload beside itself, checks the invariants at snapshots taken
// meanwhile, then stops the workload and compares every task that is alive with the kernel.
#pragma once

#include <string>
#include <vector>

#include "report.h"

namespace oracle {

struct WatchOptions {
    double seconds = 5;     // how long the workload runs before it is stopped
    double interval = 0.5;  // between snapshots
    bool totals = false;    // compare the sum over all tasks, not each
    uint64_t least_tasks = 20;
    uint64_t least_sleeps = 1000;
    Tolerance tolerance;
    std::vector<std::string> command;
};

/// Exit status: 0 when everything agreed.
int watch(const WatchOptions& options);

/// Checks one snapshot of the machine as it is.
int check_now();

}  // namespace oracle
