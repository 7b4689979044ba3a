// SPDX-License-Identifier: GPL-2.0-or-later
#include "compare.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace oracle {
namespace {

// What a skipped reading of the kernel's clock hides: some 10 us as a rule, and at most a tick, as
// kernels without full preemption may get to their schedule() late
int64_t skipped_clock_ns() {
    return 100'000 * slowness();
}
int64_t tick_clock_ns() {
    return 4'000'000 * slowness();
}

// Where the wake-up is another CPU's, a skipped reading hides the interrupt between the two as
// well: a vCPU that the host does not run now takes it milliseconds later. ftrace's stamps of
// sched_wakeup and sched_switch agree with lattop there (6.1-rt, condvar: 31 ms where run_delay is
// 20 ms).
constexpr int64_t interrupt_ns = 5'000'000;

int release_number() {
    utsname name{};
    int major = 0, minor = 0;
    uname(&name);
    if (std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return 0;
    return major * 1000 + minor;
}

/// True when the trace is one of a sleep in a state that is neither interruptible nor
/// uninterruptible: stopped, traced, frozen, parked, waiting for a PREEMPT_RT spinlock. The
/// kernel's sums count the other two states only.
bool is_unsummed(const Snapshot& snapshot, uint32_t trace) {
    static constexpr std::array names{"do_signal_stop",   "ptrace_stop",
                                      "do_freezer_trap",  "__refrigerator",
                                      "__kthread_parkme", "rtlock_slowlock_locked",
                                      "rt_spin_lock",     "rt_read_lock",
                                      "rt_write_lock",    "schedule_rtlock"};
    if (trace == LT_TRACE_OTHER) return false;
    const auto frames = snapshot.kernel_frames(snapshot.trace(trace));
    return std::any_of(frames.begin(), frames.end(), [](std::string_view frame) {
        return std::find(names.begin(), names.end(), frame) != names.end();
    });
}

LattopFigures figures(const Snapshot& snapshot, const lt_task_rec& task) {
    LattopFigures lattop;
    lattop.sleeps = task.sleeps;
    lattop.blocked_ns = task.blocked_ns;
    lattop.ended_ns = task.blocked_ns - task.ongoing_ns;
    lattop.runq_ns = task.runq_ns;
    lattop.asleep = task.flags & LT_T_ASLEEP;
    for (uint32_t i = 0; i < task.n_entries; ++i) {
        const lt_entry_rec& entry = snapshot.entry(task.first_entry + i);
        if (is_unsummed(snapshot, entry.trace))
            lattop.unsummed_ns += entry.blocked_ns - entry.ongoing_ns;
    }
    return lattop;
}

std::map<TaskId, LattopFigures> figures_of_all(const Snapshot& snapshot) {
    std::map<TaskId, LattopFigures> all;
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
        const lt_task_rec& task = snapshot.task(i);
        if (task.kind == LT_KIND_TASK && !(task.flags & LT_T_EXITED))
            all[{task.pid, task.start_ns / tick_ns}] = figures(snapshot, task);
    }
    return all;
}

std::string task_name(uint32_t tgid, uint32_t tid) {
    std::string comm =
        read_file(fmt::format("/proc/{}/task/{}/comm", tgid, tid)).value_or("(gone)");
    if (!comm.empty() && comm.back() == '\n') comm.pop_back();
    return fmt::format("{} {}", tid, comm);
}

int64_t difference(uint64_t now, uint64_t then) {
    return static_cast<int64_t>(now - then);
}

void compare_times(const Sample& base, const Sample& now, bool is_new, Report& report) {
    const auto sleeps =
        static_cast<uint64_t>(difference(now.lattop.sleeps, base.lattop.sleeps)) + 1;
    const auto switches = sleeps + now.before.nivcsw - base.before.nivcsw;

    // Both count a wait for a CPU at its end; but where the task is moved to another CPU meanwhile
    // the kernel counts what it has waited by then. A SCHED_IDLE task waits for seconds so
    const bool waits_are_over = now.lattop.asleep && (base.lattop.asleep || is_new);
    const int64_t runq = difference(now.before.runq_ns, base.before.runq_ns);
    if (waits_are_over)
        compare_run_queue(now.name, difference(now.lattop.runq_ns, base.lattop.runq_ns), runq,
                          switches, now.before.nivcsw - base.before.nivcsw, report);

    // Of a task that slept when schedstats were turned on, or off and on, that sleep is in no sum,
    // or wrongly: only what was born since then has one
    if (is_new && now.before.has_sums && kernel_sums_cover(now.before))
        compare_with_sum(now.name,
                         static_cast<int64_t>(now.lattop.ended_ns - now.lattop.unsummed_ns),
                         static_cast<int64_t>(now.before.sum_sleep_ns), sleeps, report);

    // Nothing but run, wait for a CPU, and sleep: the three add up to the time that went by
    if (waits_are_over) {
        const int64_t wall =
            difference(now.lattop.time_ns, is_new ? now.born_ns : base.lattop.time_ns);
        const int64_t blocked = difference(now.lattop.blocked_ns, base.lattop.blocked_ns);
        const int64_t exec = difference(now.before.exec_ns, base.before.exec_ns);
        const int64_t waited = difference(now.lattop.runq_ns, base.lattop.runq_ns);
        const char* what = "blocked time and run-queue delay (what is left of the wall clock)";
        const Slack slack = is_new ? Slack{birth_slack_ns, birth_slack_ns} : Slack{};
        // The CPU time of the task that a skipped reading hides another's wait behind is too much
        report.time_or_noise(what, now.name, blocked + waited, wall - exec, switches, slack);
    }
}

uint64_t sleeps_without_record(const Snapshot& snapshot) {
    const auto& lost = snapshot.header().lost;
    return lost[LT_LOST_task_limit] + lost[LT_LOST_task_pool] + lost[LT_LOST_task_user];
}

uint64_t lost_since(const Samples& baseline, const Samples& now) {
    uint64_t first = UINT64_MAX, last = 0;
    for (const auto& [id, sample] : baseline)
        first = std::min(first, sample.lattop.lost);
    for (const auto& [id, sample] : now)
        last = std::max(last, sample.lattop.lost);
    return last > first ? last - first : 0;
}

}  // namespace

bool kernel_sums_are_exact() {
    static const bool exact = [] {
        if (release_number() < 6012) return true;
        const auto features = read_file("/sys/kernel/debug/sched/features");
        return features && features->find("NO_DELAY_DEQUEUE") != std::string::npos;
    }();
    return exact;
}

bool kernel_sums_cover(const KernelCounters& counters) {
    static const int release = release_number();
    return counters.fair || release >= 5016;
}

void compare_with_sum(const std::string& who, int64_t ended_ns, int64_t sum_ns, uint64_t sleeps,
                      Report& report) {
    const char* what = "blocked time (kernel's sum)";
    if (kernel_sums_are_exact())
        report.time(what, who, ended_ns, sum_ns, sleeps);
    else
        report.time_at_least(what, who, ended_ns, sum_ns, sleeps);
}

void compare_run_queue(const std::string& who, int64_t ours_ns, int64_t theirs_ns,
                       uint64_t switches, uint64_t preemptions, Report& report, bool since_birth) {
    Slack slack{.less_ns = skipped_clock_ns() * static_cast<int64_t>(preemptions),
                .more_ns = tick_clock_ns() + skipped_clock_ns() * static_cast<int64_t>(switches)};
    if (report.host_noise()) slack.more_ns += interrupt_ns * static_cast<int64_t>(switches);
    if (since_birth && preemptions) slack.less_ns += tick_clock_ns();
    if (!kernel_sums_are_exact())
        report.time_at_most("run-queue delay", who, ours_ns, theirs_ns, switches, slack);
    else
        report.time_or_noise("run-queue delay", who, ours_ns, theirs_ns, switches, slack);
}

Slack off_cpu_slack(uint64_t preemptions) {
    if (preemptions == 0) return {};
    return {.less_ns = 0,
            .more_ns = tick_clock_ns() + skipped_clock_ns() * static_cast<int64_t>(preemptions)};
}

Samples take_samples(LattopFile& file, int attempts) {
    Samples samples;
    std::set<TaskId> quiet;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::map<TaskId, KernelTask> before;
        for (const auto& [tgid, tid] : all_tasks())
            if (const auto task = read_task(tgid, tid); task && !quiet.contains(task->id))
                before.emplace(task->id, *task);
        if (before.empty()) break;
        const Snapshot snapshot = file.read();
        const auto lattop = figures_of_all(snapshot);
        for (const auto& [id, task] : before) {
            const auto behind = read_task(task.tgid, id.pid);
            if (!behind || behind->id != id) {
                samples.erase(id);
                continue;
            }
            Sample sample{.name = task_name(task.tgid, id.pid),
                          .before = task.counters,
                          .behind = behind->counters,
                          .lattop = {},
                          .born_after_load = id.start_ticks * tick_ns > snapshot.header().since_ns,
                          .born_ns = id.start_ticks * tick_ns};
            if (const auto found = lattop.find(id); found != lattop.end())
                sample.lattop = found->second;
            sample.lattop.time_ns = snapshot.header().time_ns;
            sample.lattop.lost = sleeps_without_record(snapshot);
            if (sample.quiet()) quiet.insert(id);
            samples.insert_or_assign(id, std::move(sample));
        }
    }
    return samples;
}

// A task that is about to sleep with a signal pending stays runnable; where another task runs
// first, __schedule counts a voluntary switch that was no sleep. Nothing tells how many of them
// there were; seen: 1 of 1,953
int64_t turned_back(const Sample& sample, int64_t sleeps) {
    return sample.behind.catches_signals ? 1 + sleeps / 1000 : 0;
}

Compared compare(const Samples& baseline, const Samples& now, Report& report) {
    Compared compared;
    const uint64_t lost = lost_since(baseline, now);
    uint64_t lacking = 0;
    for (const auto& [id, sample] : now) {
        const auto old = baseline.find(id);
        if (old == baseline.end() && !sample.born_after_load) continue;
        const Sample base = old == baseline.end() ? Sample{} : old->second;
        const int64_t sleeps = difference(sample.lattop.sleeps, base.lattop.sleeps);
        const int64_t least = difference(sample.before.nvcsw, base.behind.nvcsw);
        const int64_t most = difference(sample.behind.nvcsw, base.before.nvcsw);
        if (lost && old == baseline.end() && sleeps < least) {
            lacking += static_cast<uint64_t>(least - sleeps);
            ++compared.lacking;
            continue;
        }
        if (sleeps < least - turned_back(sample, least) || sleeps > most)
            report.fail("{}: {} sleeps, {} to {} by the kernel's count", sample.name, sleeps, least,
                        most);
        compared.sleeps += static_cast<uint64_t>(std::max<int64_t>(sleeps, 0));
        if (!sample.quiet() || !base.quiet()) {
            ++compared.within_bounds;
            continue;
        }
        ++compared.exactly;
        compare_times(base, sample, old == baseline.end(), report);
    }
    if (lacking > lost)
        report.fail("{} tasks lack {} sleeps, {} were counted as without a record",
                    compared.lacking, lacking, lost);
    return compared;
}

}  // namespace oracle
