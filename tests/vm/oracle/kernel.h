// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel itself counts of a task: the oracle for every task, whoever wrote it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace oracle {

/// A task as lattop names it: pid and start time, here in the clock ticks of /proc/PID/stat, the
/// finest that the kernel shows.
struct TaskId {
    uint32_t pid;
    uint64_t start_ticks;
    auto operator<=>(const TaskId&) const = default;
};

constexpr uint64_t tick_ns = 10'000'000;  // USER_HZ is 100 everywhere on x86

/// All since the task was born. sum_sleep_ns holds the uninterruptible sleeps as well:
/// kernel/sched/stats.c adds those to sum_sleep_runtime and to sum_block_runtime.
struct KernelCounters {
    uint64_t nvcsw = 0;         // voluntary context switches: sleeps, see turned_back
    uint64_t nivcsw = 0;        // preemptions
    bool catches_signals = false;
    uint64_t exec_ns = 0;       // time on a CPU
    uint64_t runq_ns = 0;       // time waiting for one
    uint64_t sum_sleep_ns = 0;  // ended sleeps; only with kernel.sched_schedstats=1
    bool has_sums = false;
    bool fair = true;  // policy SCHED_OTHER, BATCH or IDLE
    bool operator==(const KernelCounters&) const = default;
};

/// The counters of a task, and whose they are; nothing when it is gone or a zombie.
struct KernelTask {
    TaskId id;
    uint32_t tgid;
    KernelCounters counters;
};
std::optional<KernelTask> read_task(uint32_t tgid, uint32_t tid);

/// (tgid, tid) of every task there is.
std::vector<std::pair<uint32_t, uint32_t>> all_tasks();

/// pid and all processes it has started, and they, as far as they live.
std::set<uint32_t> descendants(uint32_t pid);

/// State letter of a process, 0 when it is gone.
char process_state(uint32_t pid);

/// The whole text of a file, nothing when it cannot be read.
std::optional<std::string> read_file(const std::string& path);

}  // namespace oracle
