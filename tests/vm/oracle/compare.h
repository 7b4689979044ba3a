// SPDX-License-Identifier: GPL-2.0-or-later
// All tasks of the machine against the kernel's own counters.
//
// Reading is a race: a task moves between the reading of /proc/lattop and of /proc/PID. So the
// kernel's counters are read before and behind each snapshot, and a task is *quiet* in a sample
// when none of them moved between: then all figures speak of the same moment and must agree
// exactly (times: within the tolerance, as kernel and lattop read their clocks a few instructions
// apart). Samples are repeated for the tasks that were not quiet; those that never are get the
// weaker rule before <= lattop <= behind.
//
// What a task did before the module was loaded is not in lattop: tasks older than that are
// compared by the difference to a baseline, younger ones from birth. Where records were missing in
// the pool, a task born meanwhile may lack its first sleeps, which stand under [other]: all such
// together lack no more than were counted.
#pragma once

#include <map>
#include <string>

#include "kernel.h"
#include "report.h"
#include "snapshot.h"

namespace oracle {

// A process is born when it is copied, but made runnable somewhat later
inline constexpr int64_t birth_slack_ns = 20'000'000;

/// What lattop says of a task; all 0 when it has no record as it never slept.
struct LattopFigures {
    uint64_t sleeps = 0;
    uint64_t blocked_ns = 0;
    uint64_t ended_ns = 0;     // blocked_ns without the ongoing sleep
    uint64_t unsummed_ns = 0;  // part of ended_ns in sleeps that the kernel's sums leave out
    uint64_t runq_ns = 0;
    uint64_t time_ns = 0;  // of the snapshot
    uint64_t lost = 0;     // by then, sleeps of all tasks that were under [other] for want of a record
    bool asleep = false;
};

/// One task in one moment.
struct Sample {
    std::string name;
    KernelCounters before, behind;
    LattopFigures lattop;
    bool born_after_load = false;
    uint64_t born_ns = 0;

    [[nodiscard]] bool quiet() const { return before == behind; }
};
using Samples = std::map<TaskId, Sample>;

/// Every task there is, each from a moment in which it was quiet, if it was in one of `attempts`.
Samples take_samples(LattopFile& file, int attempts);

struct Compared {
    uint64_t exactly = 0;
    uint64_t within_bounds = 0;
    uint64_t sleeps = 0;
    uint64_t lacking = 0;  // tasks without their first sleeps
};

/// Compares all tasks of `now`, those older than the module by the difference to `baseline`;
/// deviations go into the report.
Compared compare(const Samples& baseline, const Samples& now, Report& report);

/// True where the kernel's own times are complete. With delayed dequeue (6.12 and later, feature
/// DELAY_DEQUEUE) a task may be asleep and still on the run queue. That part of the sleep is in no
/// sum_sleep_runtime, which is a lower bound there; and 7.2 counts it as run-queue delay (a whole
/// sleep of 500 ms, seen), which makes run_delay an upper bound.
bool kernel_sums_are_exact();

/// Compares ended sleeps with sum_sleep_runtime, as far as the latter can be trusted.
void compare_with_sum(const std::string& who, int64_t ended_ns, int64_t sum_ns, uint64_t sleeps,
                      Report& report);

/// Compares run-queue delays. The kernel skips reading its clock in a schedule() right behind a
/// wake-up (rq_clock_skip_update), so the time from the wake-up to that schedule() is missing in
/// its run_delay, and is too much in that of the task preempted there; ftrace's stamps show the
/// same. It is long where one interrupt wakes many. since_birth: of all its life, to a tick where it
/// was preempted: by then threads that are born together have got in each other's way a lot.
void compare_run_queue(const std::string& who, int64_t ours_ns, int64_t theirs_ns,
                       uint64_t switches, uint64_t preemptions, Report& report,
                       bool since_birth = false);

/// What that adds to the time off the CPU, which is wall clock less CPU time: the CPU time of a
/// task preempted there is too much by the same.
Slack off_cpu_slack(uint64_t preemptions);

/// True where the sums count tasks of this kind: the real-time classes have them since 5.16.
bool kernel_sums_cover(const KernelCounters& counters);

}  // namespace oracle
