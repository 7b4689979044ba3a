// SPDX-License-Identifier: GPL-2.0-or-later
//
// See select.h.
#include "lattop/source/select.h"

#include <algorithm>

namespace lattop {
namespace {

bool matches(const Task& task, const Query& query) {
    if ((query.flags & LT_Q_NO_KTHREADS) != 0 && task.kernel_thread()) return false;
    if ((query.flags & LT_Q_NO_EXITED) != 0 &&
        (task.exited() || task.kind == LT_KIND_EXITED || task.kind == LT_KIND_EXITED_ALL))
        return false;
    if ((query.flags & LT_Q_ASLEEP) != 0 && !task.asleep()) return false;
    if (task.blocked_ns < query.min_blocked_ns) return false;
    return query.pids.empty() || std::ranges::any_of(query.pids, [&](std::uint32_t pid) {
               return task.pid == pid || task.tgid == pid;
           });
}

std::uint64_t sort_figure(const Task& task, lt_sort sort) {
    switch (sort) {
        case LT_SORT_ONGOING: return task.ongoing_ns;
        case LT_SORT_MAX: return task.max_ns;
        case LT_SORT_SLEEPS: return task.sleeps;
        case LT_SORT_RUNQ: return task.runq_ns;
        default: return task.blocked_ns;
    }
}

bool before(const Task& a, const Task& b, lt_sort sort) {
    if (sort == LT_SORT_PID) return a.pid < b.pid;
    return sort_figure(a, sort) > sort_figure(b, sort);
}

/// Of a task's entries, the worst of which comes first.
void keep_traces(Snapshot& snapshot, Task& task, lt_traces traces) {
    const std::uint32_t n = task.n_entries;
    if (traces == LT_TRACES_NONE) task.n_entries = 0;
    if (traces == LT_TRACES_WORST) task.n_entries = std::min(n, 1U);
    if (traces != LT_TRACES_WORST_AND_ONGOING || n < 2) return;
    const auto entries = std::span(snapshot.entries).subspan(task.first_entry, n);
    const auto ongoing = std::ranges::find_if(entries, &Entry::asleep);
    const bool another = ongoing != entries.end() && ongoing != entries.begin();
    task.n_entries = another ? 2 : 1;
    if (another) std::iter_swap(entries.begin() + 1, ongoing);
}

}  // namespace

void apply_query(Snapshot& snapshot, const Query& query) {
    auto& tasks = snapshot.tasks;
    std::erase_if(tasks, [&](const Task& task) { return !matches(task, query); });
    snapshot.header.tasks_matched = static_cast<std::uint32_t>(tasks.size());
    std::ranges::stable_sort(
        tasks, [&](const Task& a, const Task& b) { return before(a, b, query.sort); });
    const std::size_t limit = query.limit == 0 ? std::size_t{LT_TEXT_TASKS} : query.limit;
    if (tasks.size() > limit) tasks.resize(limit);
    for (Task& task : tasks)
        keep_traces(snapshot, task, query.traces);
}

}  // namespace lattop
