// SPDX-License-Identifier: GPL-2.0-or-later
#include "totals.h"

#include <algorithm>

#include "compare.h"

namespace oracle {
namespace {

std::map<TaskId, KernelCounters> all_counters() {
    std::map<TaskId, KernelCounters> all;
    for (const auto& [tgid, tid] : all_tasks())
        if (const auto task = read_task(tgid, tid)) all.emplace(task->id, task->counters);
    return all;
}

uint64_t sleeps_of(const std::map<TaskId, KernelCounters>& all) {
    uint64_t sum = 0;
    for (const auto& [id, counters] : all)
        sum += counters.nvcsw;
    return sum;
}

Totals take_once(LattopFile& file) {
    Totals totals;
    totals.before = all_counters();
    const Snapshot snapshot = file.read();
    totals.behind = all_counters();
    totals.time_ns = snapshot.header().time_ns;
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
        totals.lattop_sleeps += snapshot.task(i).sleeps;
        totals.lattop_blocked_ns += snapshot.task(i).blocked_ns;
        totals.lattop_runq_ns += snapshot.task(i).runq_ns;
    }
    return totals;
}

}  // namespace

Totals take_totals(LattopFile& file) {
    Totals calmest;
    uint64_t least = UINT64_MAX;
    for (int attempt = 0; attempt < 6; ++attempt) {
        Totals totals = take_once(file);
        const uint64_t moved = sleeps_of(totals.behind) - sleeps_of(totals.before);
        if (moved >= least) continue;
        least = moved;
        calmest = std::move(totals);
    }
    return calmest;
}

TotalBounds bounds_between(const Totals& baseline, const Totals& now) {
    TotalBounds bounds;
    for (const auto& [id, counters] : now.behind) {
        const auto old = baseline.before.find(id);
        const auto old_behind = baseline.behind.find(id);
        const auto mine = now.before.find(id);
        const KernelCounters none;
        const KernelCounters& base = old == baseline.before.end() ? none : old->second;
        const KernelCounters& base_behind =
            old_behind == baseline.behind.end() ? none : old_behind->second;
        const uint64_t sure = mine == now.before.end() ? 0 : mine->second.nvcsw;
        bounds.least_sleeps += static_cast<int64_t>(sure - base_behind.nvcsw);
        bounds.most_sleeps += static_cast<int64_t>(counters.nvcsw - base.nvcsw);
        bounds.switches += counters.nvcsw + counters.nivcsw - base.nvcsw - base.nivcsw + 1;
        bounds.preemptions += counters.nivcsw - base.nivcsw;
        const bool is_new = old == baseline.before.end();
        bounds.born += is_new;
        const uint64_t from = is_new ? id.start_ticks * tick_ns : baseline.time_ns;
        const auto runq = static_cast<int64_t>(counters.runq_ns - base.runq_ns);
        bounds.runq_ns += runq;
        bounds.blocked_ns += static_cast<int64_t>(now.time_ns - from) - runq -
                             static_cast<int64_t>(counters.exec_ns - base.exec_ns);
    }
    for (const auto& [id, counters] : baseline.before)
        bounds.ended += !now.behind.contains(id);
    return bounds;
}

bool compare_totals(const Totals& baseline, const Totals& now, Report& report) {
    const TotalBounds bounds = bounds_between(baseline, now);
    if (bounds.ended) return false;
    const auto sleeps = static_cast<int64_t>(now.lattop_sleeps - baseline.lattop_sleeps);
    fmt::print("{} tasks, {} of them new: {} sleeps, {} to {} by the kernel's count\n",
               now.behind.size(), bounds.born, sleeps, bounds.least_sleeps, bounds.most_sleeps);
    if (sleeps < bounds.least_sleeps || sleeps > bounds.most_sleeps)
        report.fail("{} sleeps in all, {} to {} by the kernel's count", sleeps, bounds.least_sleeps,
                    bounds.most_sleeps);
    // Bounds that are wide prove nothing. On a debug kernel the reading of all tasks takes a
    // second, and its own threads go on
    if (bounds.most_sleeps - bounds.least_sleeps > std::max<int64_t>(20, bounds.least_sleeps / 10))
        report.fail("the machine is not calm enough: {} to {} sleeps", bounds.least_sleeps,
                    bounds.most_sleeps);
    const int64_t slack = birth_slack_ns * static_cast<int64_t>(bounds.born);
    report.time("blocked time of all", "all tasks",
                static_cast<int64_t>(now.lattop_blocked_ns - baseline.lattop_blocked_ns),
                bounds.blocked_ns, bounds.switches, {slack, slack});
    const auto runq = static_cast<int64_t>(now.lattop_runq_ns - baseline.lattop_runq_ns);
    compare_run_queue("all tasks", runq, bounds.runq_ns, bounds.switches, bounds.preemptions,
                      report);
    // What is allowed for each of many short waits is more than they are: the half is never noise
    if (kernel_sums_are_exact() && runq < bounds.runq_ns / 2)
        report.fail("run-queue delay of all: {} ns of {} by the kernel's", runq, bounds.runq_ns);
    return true;
}

}  // namespace oracle
