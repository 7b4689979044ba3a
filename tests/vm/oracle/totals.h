// SPDX-License-Identifier: GPL-2.0-or-later
// The sum over everything against the kernel: what holds however small lattop's tables are, as what
// found no place stands under [other]. Works as long as no task that ended took its counters away.
#pragma once

#include <cstdint>
#include <map>

#include "kernel.h"
#include "report.h"
#include "snapshot.h"

namespace oracle {

/// All tasks' kernel counters around a snapshot, and all of lattop's records in it.
struct Totals {
    std::map<TaskId, KernelCounters> before, behind;
    uint64_t lattop_sleeps = 0;
    uint64_t lattop_blocked_ns = 0;
    uint64_t lattop_runq_ns = 0;
    uint64_t time_ns = 0;
};
/// The calmest of several: the one in which the kernel's counts moved least.
Totals take_totals(LattopFile& file);

/// What the differences of two Totals may be: the kernel's counts move while they are read.
struct TotalBounds {
    int64_t least_sleeps = 0, most_sleeps = 0;
    int64_t blocked_ns = 0, runq_ns = 0;
    uint64_t switches = 0, preemptions = 0;
    uint64_t born = 0, ended = 0;
};
TotalBounds bounds_between(const Totals& baseline, const Totals& now);

/// Compares lattop's growth from baseline to now with the kernel's; false when a task has ended
/// between, which proves nothing either way.
bool compare_totals(const Totals& baseline, const Totals& now, Report& report);

}  // namespace oracle
