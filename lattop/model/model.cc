// SPDX-License-Identifier: GPL-2.0-or-later
//
// See model.h.
#include "lattop/model/model.h"

#include <algorithm>

#include "unwind/hash.h"

namespace lattop {
namespace {

constexpr double kNsPerSecond = 1e9;

/// What a figure grew by. One that went down was reset: it starts again at 0.
std::uint64_t grown(std::uint64_t now, std::uint64_t before) {
    return now >= before ? now - before : now;
}

TaskDelta figures_of(const Task& task) {
    return {task.blocked_ns, task.sleeps, task.runq_ns, task.runs};
}

EntryDelta figures_of(const Entry& entry) {
    return {entry.blocked_ns, entry.sleeps, entry.hist};
}

TaskDelta difference(const TaskDelta& now, const TaskDelta& before) {
    return {grown(now.blocked_ns, before.blocked_ns), grown(now.sleeps, before.sleeps),
            grown(now.runq_ns, before.runq_ns), grown(now.runs, before.runs)};
}

EntryDelta difference(const EntryDelta& now, const EntryDelta& before) {
    EntryDelta result{
        grown(now.blocked_ns, before.blocked_ns), grown(now.sleeps, before.sleeps), {}};
    for (std::size_t i = 0; i < now.hist.size(); ++i)
        result.hist[i] = grown(now.hist[i], before.hist[i]);
    return result;
}

/// Whether two queries let the same tasks through, their order aside.
bool same_selection(Query a, const Query& b) {
    a.sort = b.sort;
    a.traces = b.traces;
    return a == b;
}

}  // namespace

bool stands_for_exited(const Task& task) {
    return task.kind == LT_KIND_EXITED || task.kind == LT_KIND_EXITED_ALL;
}

TaskId id_of(const Task& task) {
    return {task.kind, task.pid, task.tgid, task.start_ns};
}

std::size_t HashTaskId::operator()(const TaskId& id) const {
    const std::uint64_t pids = (std::uint64_t{id.pid} << 32) | id.tgid;
    return std::hash<std::uint64_t>{}(pids * kHashMultiplier ^ id.start_ns ^ id.kind);
}

TaskId id_of(const Waker& waker) {
    return {LT_KIND_TASK, waker.pid, waker.tgid, waker.start_ns};
}

EntryId id_of(const Snapshot& snapshot, const Entry& entry) {
    const Trace* trace = snapshot.trace_of(entry);
    return trace == nullptr ? EntryId{0, entry.exec_id, true}
                            : EntryId{trace->id, entry.exec_id, false};
}

/// Keeps the figures of the snapshot that is about to be replaced.
void Model::remember() {
    before_.clear();
    before_.reserve(snapshot_.tasks.size());
    for (const Task& task : snapshot_.tasks) {
        TaskFigures& figures = before_[id_of(task)];
        figures.figures = figures_of(task);
        figures.all_entries = task.n_entries == task.traces_total;
        for (const Entry& entry : snapshot_.entries_of(task))
            figures.entries.push_back({id_of(snapshot_, entry), figures_of(entry)});
    }
    before_whole_ = snapshot_.tasks.size() >= snapshot_.header.tasks_matched;
}

void Model::compare_entries(const Task& task, const TaskFigures* before) {
    const TaskFigures nothing{{}, {}, true};
    if (before == nullptr) before = &nothing;
    std::size_t index = task.first_entry;
    for (const Entry& entry : snapshot_.entries_of(task)) {
        const auto found =
            std::ranges::find(before->entries, id_of(snapshot_, entry), &EntryFigures::id);
        if (found != before->entries.end())
            entry_deltas_[index] = difference(figures_of(entry), found->figures);
        else if (before->all_entries)
            entry_deltas_[index] = figures_of(entry);
        ++index;
    }
}

/// The module walks a sleeper again when it has learned its code: then the ongoing sleep stands in
/// another entry from its beginning on, and the one that it stood in has gone, or has less. What
/// lay before the interval did not happen in it.
void Model::follow_moved_sleep(const Task& task, const TaskFigures& before,
                               const TaskDelta& of_task) {
    const auto entries = snapshot_.entries_of(task);
    const bool all = before.all_entries && task.n_entries == task.traces_total;
    std::uint64_t moved_ns = 0;
    std::uint64_t moved_sleeps = 0;
    for (const EntryFigures& was : before.entries) {
        const auto now = std::ranges::find(
            entries, was.id, [&](const Entry& entry) { return id_of(snapshot_, entry); });
        if (now == entries.end() && !all) continue;
        const EntryDelta left = now == entries.end() ? EntryDelta{} : figures_of(*now);
        if (left.blocked_ns >= was.figures.blocked_ns) continue;
        moved_ns += was.figures.blocked_ns - left.blocked_ns;
        moved_sleeps += was.figures.sleeps - std::min(was.figures.sleeps, left.sleeps);
        if (now != entries.end())
            entry_deltas_[static_cast<std::size_t>(&*now - snapshot_.entries.data())] =
                EntryDelta{};
    }
    EntryDelta* taker = nullptr;
    for (std::size_t i = task.first_entry; i < task.first_entry + entries.size(); ++i) {
        auto& delta = entry_deltas_[i];
        if (!delta) continue;
        if (taker == nullptr || delta->blocked_ns > taker->blocked_ns) taker = &*delta;
    }
    if (taker == nullptr) return;
    taker->blocked_ns -= std::min(taker->blocked_ns, moved_ns);
    taker->sleeps -= std::min(taker->sleeps, moved_sleeps);
    taker->blocked_ns = std::min(taker->blocked_ns, of_task.blocked_ns);
    taker->sleeps = std::min(taker->sleeps, of_task.sleeps);
}

void Model::compare_tasks() {
    task_deltas_.assign(snapshot_.tasks.size(), std::nullopt);
    entry_deltas_.assign(snapshot_.entries.size(), std::nullopt);
    for (std::size_t i = 0; i < snapshot_.tasks.size(); ++i) {
        const Task& task = snapshot_.tasks[i];
        if (stands_for_exited(task)) continue;
        const auto found = before_.find(id_of(task));
        if (found != before_.end()) {
            task_deltas_[i] = difference(figures_of(task), found->second.figures);
            compare_entries(task, &found->second);
            follow_moved_sleep(task, found->second, *task_deltas_[i]);
        } else if (before_whole_) {
            task_deltas_[i] = figures_of(task);
            compare_entries(task, nullptr);
        }
    }
}

void Model::update(Snapshot snapshot, const Query& query) {
    const Header& next = snapshot.header;
    const bool cleared = !has_snapshot_ || next.since_ns != snapshot_.header.since_ns ||
                         next.time_ns < snapshot_.header.time_ns;
    if (cleared) {
        before_.clear();
        before_whole_ = true;
    } else {
        remember();
        before_whole_ = before_whole_ && same_selection(query_, query);
    }
    const std::uint64_t from = cleared ? next.since_ns : snapshot_.header.time_ns;
    interval_ns_ = next.time_ns > from ? next.time_ns - from : 0;
    since_load_ = cleared;
    snapshot_ = std::move(snapshot);
    query_ = query;
    has_snapshot_ = true;
    compare_tasks();
}

const std::optional<TaskDelta>& Model::delta(const Task& task) const {
    return task_deltas_.at(static_cast<std::size_t>(&task - snapshot_.tasks.data()));
}

const std::optional<EntryDelta>& Model::delta(const Entry& entry) const {
    return entry_deltas_.at(static_cast<std::size_t>(&entry - snapshot_.entries.data()));
}

double Model::per_second(std::uint64_t figure) const {
    if (interval_ns_ == 0) return 0;
    return static_cast<double>(figure) * kNsPerSecond / static_cast<double>(interval_ns_);
}

}  // namespace lattop
