// SPDX-License-Identifier: GPL-2.0-or-later
//
// See groups.h.
//
// A sleep belongs to one row by its task's process or cgroup, its trace or its reason. A
// first pass adds up rows; what a process blocked in most is its most costly
// trace over all its tasks, so the sums of (row, trace) pairs are kept beside.
// Time on the run queue belongs to no sleep: a second pass adds it to processes
// and cgroups, and counts their tasks, so that one that never slept is there as well.
#include "lattop/model/groups.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "lattop/model/naming.h"
#include "lattop/model/percentile.h"
#include "lattop/model/wakers.h"
#include "unwind/hash.h"

namespace lattop {
namespace {

/// One task's sleeps in one trace. A record without stacks has an entry of
/// its own making, so that totals are whole; of processes a task is a member
/// though it never slept.
struct Member {
    const Task& task;
    const Entry* entry;
    const Reason& reason;
};

/// In a view whose rows are of all that a task did.
RowId id_of_whole(View view, const Task& task) {
    if (view == View::Cgroups) return {.view = view, .cgroup = task.cgroup()};
    return {.view = view, .task = process_of(task)};
}

RowId id_in(const Snapshot& snapshot, View view, const Member& member) {
    RowId id{.view = view};
    switch (view) {
        case View::Processes:
        case View::Cgroups: return id_of_whole(view, member.task);
        case View::Stacks: {
            const Trace* trace =
                member.entry == nullptr ? nullptr : snapshot.trace_of(*member.entry);
            id.trace = trace == nullptr ? 0 : trace->id;
            break;
        }
        default:
            id.reason = member.reason.name;
            id.idle = member.reason.idle;
            break;
    }
    return id;
}

struct HashRowId {
    std::size_t operator()(const RowId& id) const {
        const std::size_t hash = HashTaskId{}(id.task) * kHashMultiplier + id.trace;
        return hash * kHashMultiplier + std::hash<std::string>{}(id.reason) +
               std::hash<std::string>{}(id.cgroup) + (id.idle ? 1U : 0U);
    }
};

/// Rows of such a view are of all that a task did, not of some of its sleeps: its
/// time on the run queue is theirs, and it counts though it never slept.
bool of_whole_tasks(View view) {
    return view == View::Processes || view == View::Cgroups;
}

/// Calls `use` for every member of one task that the options let through.
template <typename Use>
void for_each_member_of(const TableContext& context, const RowOptions& options, const Task& task,
                        const Use& use) {
    const Snapshot& snapshot = context.model.snapshot();
    const auto entries = snapshot.entries_of(task);
    const auto use_wanted = [&](const Entry* entry, const Reason& reason) {
        if (is_wanted(options.waits, known_by(context), task, entry, reason))
            use(Member{task, entry, reason});
    };
    if (entries.empty() && (task.blocked_ns != 0 || of_whole_tasks(options.view)))
        use_wanted(nullptr, context.reasons.of_worst(snapshot, task, context.stacks));
    for (const Entry& entry : entries)
        use_wanted(&entry, context.reasons.of(snapshot, task, entry, context.stacks));
}

template <typename Use>
void for_each_member(const TableContext& context, const RowOptions& options, const Use& use) {
    for (const Task& task : context.model.snapshot().tasks)
        if (task_shown(context.model, task, options))
            for_each_member_of(context, options, task, use);
}

/// The sleeps of a member: its entry, or what the record says of all.
Entry sleeps_of(const Member& member) {
    if (member.entry != nullptr) return *member.entry;
    Entry all;
    all.exec_id = member.task.exec_id;
    all.flags = member.task.asleep() ? LT_E_ONGOING : 0;
    all.blocked_ns = member.task.blocked_ns;
    all.ongoing_ns = member.task.ongoing_ns;
    all.max_ns = member.task.max_ns;
    all.sleeps = member.task.sleeps;
    return all;
}

/// Of them what is shown. A record of exited tasks grows without a sleep: nothing of it is of
/// the interval, and that is known. One without stacks knows what it grew by.
std::optional<Entry> shown_sleeps_of(const TableContext& context, const Member& member) {
    if (!context.interval) return sleeps_of(member);
    const bool exited = stands_for_exited(member.task);
    if (member.entry != nullptr && !exited) return shown_figures(context, *member.entry);
    Entry shown = sleeps_of(member);
    shown.blocked_ns = shown.sleeps = 0;
    shown.hist = {};
    if (exited) return shown;
    const auto& delta = context.model.delta(member.task);
    if (!delta) return std::nullopt;
    shown.blocked_ns = delta->blocked_ns;
    shown.sleeps = delta->sleeps;
    return shown;
}

/// A row in the making.
struct Group {
    Row row;
    Histogram hist{};
    Histogram delta_hist{};
    const Task* last = nullptr;  // the task counted last: its sleeps come in a row
    std::uint64_t of_last = 0;   // its blocked time in this row
    std::uint64_t of_most = 0;   // that of row.task
    bool last_asleep = false;
    bool unknown = false;  // a figure at the start of the interval is not known
    std::unordered_map<TraceIndex, NamingWeight> traces;
    NamingWeight of_trace;  // of the heaviest one so far
};

void begin_task(Group& group, const Member& member, View view) {
    if (group.last == &member.task) return;
    group.last = &member.task;
    group.of_last = 0;
    group.last_asleep = false;
    if (!of_whole_tasks(view)) group.row.tasks += 1;
}

/// Counts a task in its row, and its time on the run queue.
void count_task(Group& group, const Task& task, const Model& model) {
    group.row.tasks += 1;
    group.row.total.runq_ns += task.runq_ns;
    if (stands_for_exited(task)) return;
    const auto& delta = model.delta(task);
    if (!delta) {
        group.unknown = true;
        return;
    }
    if (!group.row.delta) group.row.delta.emplace();
    group.row.delta->runq_ns += delta->runq_ns;
}

/// The task and the stack that the row is named by: those that cost most.
void name_row(const TableContext& context, const RowOptions& options, Group& group,
              const Member& member, const Entry& sleeps) {
    const View view = options.view;
    Row& row = group.row;
    group.of_last += sleeps.blocked_ns;
    // A process is named by its leader where that is here.
    const bool leader = view == View::Processes && member.task.pid == member.task.tgid;
    const bool has_leader =
        view == View::Processes && row.task != nullptr && row.task->pid == row.task->tgid;
    if (row.task == nullptr || leader || (!has_leader && group.of_last > group.of_most)) {
        row.task = &member.task;
        group.of_most = group.of_last;
    }
    if (member.entry == nullptr) {
        if (row.reason == nullptr) row.reason = &member.reason;
        return;
    }
    NamingWeight& of_trace = group.traces[member.entry->trace];
    of_trace.add(context, options, *member.entry);
    if (row.entry != nullptr && of_trace <= group.of_trace) return;
    group.of_trace = of_trace;
    row.entry = member.entry;
    row.slept = &member.task;
    row.reason = &member.reason;
}

void add_figures(Group& group, const Member& member, const Entry& sleeps, const Model& model) {
    Row& row = group.row;
    row.total.blocked_ns += sleeps.blocked_ns;
    row.total.sleeps += sleeps.sleeps;
    row.ongoing_ns = std::max(row.ongoing_ns, sleeps.ongoing_ns);
    row.max_ns = std::max(row.max_ns, sleeps.max_ns);
    if (sleeps.asleep() && !group.last_asleep) {
        group.last_asleep = true;
        row.asleep += 1;
    }
    add_histogram(group.hist, sleeps.hist);
    if (stands_for_exited(member.task)) return;
    const auto add = [&](const auto& delta) {
        if (!delta) {
            group.unknown = true;
            return;
        }
        if (!row.delta) row.delta.emplace();
        row.delta->blocked_ns += delta->blocked_ns;
        row.delta->sleeps += delta->sleeps;
    };
    if (member.entry == nullptr) {
        add(model.delta(member.task));
        return;
    }
    const auto& delta = model.delta(*member.entry);
    add(delta);
    if (delta) add_histogram(group.delta_hist, delta->hist);
}

/// Whether its process or cgroup counts a task: one whose sleeps are all hidden as waiting
/// for work ran all the same.
bool counted(const TableContext& context, const RowOptions& options, const Task& task) {
    if (!task_shown(context.model, task, options)) return false;
    static const Reason none;
    bool any = is_wanted(options.waits, known_by(context), task, nullptr, none);
    if (!any) for_each_member_of(context, options, task, [&](const Member&) { any = true; });
    return any;
}

void finish(Group& group) {
    Row& row = group.row;
    set_percentiles(row.total, group.hist, row.max_ns);
    if (group.unknown) row.delta.reset();
    if (row.delta) set_percentiles(*row.delta, group.delta_hist, row.max_ns);
}

}  // namespace

TaskId process_of(const Task& task) {
    return {task.tgid == 0 ? task.kind : std::uint32_t{LT_KIND_TASK}, 0, task.tgid, 0};
}

std::vector<Row> group_rows(const TableContext& context, const RowOptions& options) {
    const Model& model = context.model;
    std::unordered_map<RowId, std::size_t, HashRowId> index;
    std::vector<Group> groups;
    for_each_member(context, options, [&](const Member& member) {
        const RowId id = id_in(model.snapshot(), options.view, member);
        const auto [found, added] = index.try_emplace(id, groups.size());
        if (added) {
            groups.emplace_back();
            groups.back().row.id = id;
            groups.back().row.tasks = 0;
        }
        Group& group = groups[found->second];
        const Entry sleeps = sleeps_of(member);
        begin_task(group, member, options.view);
        name_row(context, options, group, member, sleeps);
        add_figures(group, member, sleeps, model);
    });
    if (of_whole_tasks(options.view))
        for (const Task& task : model.snapshot().tasks) {
            const auto found = index.find(id_of_whole(options.view, task));
            if (found != index.end() && counted(context, options, task))
                count_task(groups[found->second], task, model);
        }
    std::vector<Row> rows;
    rows.reserve(groups.size());
    for (Group& group : groups) {
        finish(group);
        rows.push_back(std::move(group.row));
    }
    return rows;
}

std::optional<Entry> shown_figures(const TableContext& context, const Entry& entry) {
    if (!context.interval) return entry;
    const auto& delta = context.model.delta(entry);
    if (!delta) return std::nullopt;
    Entry shown = entry;
    shown.blocked_ns = delta->blocked_ns;
    shown.sleeps = delta->sleeps;
    shown.hist = delta->hist;
    return shown;
}

void sort_stacks(std::vector<StackSum>& stacks) {
    std::ranges::stable_sort(stacks, [](const StackSum& a, const StackSum& b) {
        if (a.known != b.known) return a.known;
        if (a.sum.blocked_ns != b.sum.blocked_ns) return a.sum.blocked_ns > b.sum.blocked_ns;
        return a.sum.trace < b.sum.trace;
    });
}

std::vector<StackSum> stacks_of_row(const TableContext& context, const RowOptions& options,
                                    const RowId& id) {
    const Snapshot& snapshot = context.model.snapshot();
    struct Building {
        StackSum stack;
        const Task* last = nullptr;
        std::uint64_t of_most = 0;
    };
    std::unordered_map<TraceIndex, Building> traces;
    for_each_member(context, options, [&](const Member& member) {
        if (id_in(snapshot, options.view, member) != id) return;
        if (member.entry == nullptr && member.task.blocked_ns == 0) return;  // none
        const std::optional<Entry> shown = shown_sleeps_of(context, member);
        const Entry sleeps = shown.value_or(sleeps_of(member));
        Building& building = traces[sleeps.trace];
        if (!shown) building.stack.known = false;
        Entry& sum = building.stack.sum;
        if (building.stack.task == nullptr || sleeps.blocked_ns > building.of_most) {
            building.of_most = sleeps.blocked_ns;
            building.stack.task = &member.task;
            sum.trace = sleeps.trace;
            sum.exec_id = sleeps.exec_id;
        }
        if (building.last != &member.task) ++building.stack.tasks;
        building.last = &member.task;
        sum.flags |= sleeps.flags;
        sum.blocked_ns += sleeps.blocked_ns;
        sum.sleeps += sleeps.sleeps;
        sum.ongoing_ns = std::max(sum.ongoing_ns, sleeps.ongoing_ns);
        sum.max_ns = std::max(sum.max_ns, sleeps.max_ns);
        add_histogram(sum.hist, sleeps.hist);
        if (member.entry == nullptr) return;
        if (member.entry->asleep()) building.stack.asleep.push_back({&member.task, member.entry});
        append_pointers(building.stack.wakers, snapshot.wakers_of(*member.entry));
    });
    std::vector<StackSum> stacks;
    for (auto& [trace, building] : traces)
        stacks.push_back(std::move(building.stack));
    sort_stacks(stacks);
    return stacks;
}

std::vector<TaskShare> tasks_of_row(const TableContext& context, const RowOptions& options,
                                    const RowId& id) {
    std::vector<TaskShare> tasks;
    for_each_member(context, options, [&](const Member& member) {
        if (id_in(context.model.snapshot(), options.view, member) != id) return;
        if (tasks.empty() || tasks.back().task != &member.task) tasks.push_back({&member.task, 0});
        if (const auto shown = shown_sleeps_of(context, member))
            tasks.back().blocked_ns += shown->blocked_ns;
    });
    std::ranges::stable_sort(tasks, std::ranges::greater{}, &TaskShare::blocked_ns);
    return tasks;
}

}  // namespace lattop
