// SPDX-License-Identifier: GPL-2.0-or-later
//
// See model.h.
#include "lattop/model/model.h"

#include <algorithm>
#include <span>

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

/// Whether two queries let the same tasks through, but for their order and how many of them:
/// whether one let all through is seen in its answer.
bool same_selection(Query a, const Query& b) {
    a.sort = b.sort;
    a.traces = b.traces;
    a.limit = b.limit;
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

std::size_t HashEntryId::operator()(const EntryId& id) const {
    return std::hash<std::uint64_t>{}((id.trace_id * kHashMultiplier ^ id.exec_id) +
                                      (id.other ? 1 : 0));
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
        std::ranges::sort(figures.entries, {}, &EntryFigures::id);
    }
    before_whole_ = snapshot_.tasks.size() >= snapshot_.header.tasks_matched;
}

void Model::compare_entries(const Task& task, TaskFigures& before) {
    Moved moved;
    std::size_t index = task.first_entry;
    for (const Entry& entry : snapshot_.entries_of(task)) {
        auto& delta = entry_deltas_[index++];
        const EntryDelta now = figures_of(entry);
        const EntryId id = id_of(snapshot_, entry);
        const auto found = std::ranges::lower_bound(before.entries, id, {}, &EntryFigures::id);
        if (found == before.entries.end() || found->id != id) {
            if (before.all_entries) delta = now;
            continue;
        }
        delta = difference(now, found->figures);
        found->still_there = true;
        if (now.blocked_ns >= found->figures.blocked_ns) continue;
        moved.add(found->figures, now);
        delta->blocked_ns = delta->sleeps = 0;
    }
    if (before.all_entries && task.n_entries == task.traces_total)
        for (const EntryFigures& was : before.entries)
            if (!was.still_there) moved.add(was.figures, {});
    take_moved(task, moved);
}

/// Its new entry is the one that grew most; no more than the task did.
void Model::take_moved(const Task& task, const Moved& moved) {
    const auto deltas = std::span(entry_deltas_).subspan(task.first_entry, task.n_entries);
    const auto taker = std::ranges::max_element(
        deltas, {}, [](const auto& delta) { return delta ? delta->blocked_ns : 0; });
    if (taker == deltas.end() || !*taker) return;
    const auto& of_task = delta(task);
    EntryDelta& its = **taker;
    its.blocked_ns =
        std::min(its.blocked_ns - std::min(its.blocked_ns, moved.blocked_ns), of_task->blocked_ns);
    its.sleeps = std::min(its.sleeps - std::min(its.sleeps, moved.sleeps), of_task->sleeps);
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
            compare_entries(task, found->second);
        } else if (before_whole_) {
            task_deltas_[i] = figures_of(task);
            TaskFigures nothing{.all_entries = true};
            compare_entries(task, nothing);
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
