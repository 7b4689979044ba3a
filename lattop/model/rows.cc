// SPDX-License-Identifier: GPL-2.0-or-later
//
// See rows.h. Rows are made, chosen and put in order here; their texts are
// made in cells.cc.
#include "lattop/model/rows.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <span>
#include <unordered_map>

#include "lattop/model/groups.h"
#include "lattop/model/naming.h"
#include "lattop/model/percentile.h"

namespace lattop {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Called for each frame of each stack, of 30 bytes or so: the first letter alone rules most
/// places out.
bool contains(std::string_view text, std::string_view word) {
    if (word.empty()) return true;
    const auto same = [](char a, char b) { return lower(a) == lower(b); };
    const char first = lower(word.front());
    for (; text.size() >= word.size(); text.remove_prefix(1))
        if (lower(text.front()) == first &&
            std::equal(word.begin(), word.end(), text.begin(), same))
            return true;
    return false;
}

/// Of digits alone: part of a pid, for whoever types it.
bool is_number(std::string_view word) {
    return word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool sorts_by_text(Column column) {
    return column == Column::User || column == Column::Cgroup || column == Column::Reason ||
           column == Column::TopFrame || column == Column::Command || column == Column::CommandLine;
}

bool stands_for_process(const Row& row) {
    return row.id.task.kind == LT_KIND_TASK && row.id.task.pid == 0;
}

bool tagged(const Task& task, const RowOptions& options) {
    return options.tagged.contains(id_of(task)) || options.tagged.contains(process_of(task));
}

std::uint64_t figure(const Row& row, Column column, bool interval) {
    const Sums nothing;
    const Sums& delta = row.delta ? *row.delta : nothing;
    const Sums& sums = interval ? delta : row.total;
    switch (column) {
        case Column::Pid: return stands_for_process(row) ? row.id.task.tgid : row.task->pid;
        case Column::State: return static_cast<unsigned char>(row.task->state_letter());
        case Column::Tasks: return row.tasks;
        case Column::Now: return row.asleep;
        case Column::Share:
        case Column::Waiting: return delta.blocked_ns;
        case Column::Blocked: return sums.blocked_ns;
        case Column::Ongoing: return row.ongoing_ns;
        case Column::Max: return row.max_ns;
        case Column::P50: return sums.p50_ns;
        case Column::P99: return sums.p99_ns;
        case Column::Sleeps: return sums.sleeps;
        case Column::SleepRate: return delta.sleeps;
        case Column::Runq: return sums.runq_ns;
        default: return 0;
    }
}

/// Sort keys, made once a row and not once a comparison.
struct Keyed {
    std::size_t index = 0;
    std::uint64_t figure = 0;
    std::string text;
};

std::strong_ordering reversed(std::strong_ordering order) {
    return 0 <=> order;
}

std::strong_ordering compare(const Keyed& a, const Keyed& b, Column column) {
    if (sorts_by_text(column)) {
        // What has no text comes last.
        if (a.text.empty() != b.text.empty()) return a.text.empty() <=> b.text.empty();
        return a.text <=> b.text;
    }
    const auto order = a.figure <=> b.figure;
    return column_info(column).ascending ? order : reversed(order);
}

/// Equal figures: most blocked first, then by pid and stack, so that rows do
/// not swap.
std::strong_ordering tie_break(const Row& a, const Row& b) {
    if (const auto order = b.total.blocked_ns <=> a.total.blocked_ns; std::is_neq(order))
        return order;
    if (const auto order = a.task->pid <=> b.task->pid; std::is_neq(order)) return order;
    if (const auto order = a.id.trace <=> b.id.trace; std::is_neq(order)) return order;
    if (const auto order = a.id.reason <=> b.id.reason; std::is_neq(order)) return order;
    if (const auto order = a.id.cgroup <=> b.id.cgroup; std::is_neq(order)) return order;
    return a.task->start_ns <=> b.task->start_ns;
}

std::vector<Row> sorted(const TableContext& context, std::vector<Row> rows,
                        const RowOptions& options) {
    std::vector<Keyed> keyed(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        keyed[i].index = i;
        keyed[i].figure = figure(rows[i], options.sort, options.interval);
        if (sorts_by_text(options.sort)) keyed[i].text = cell_text(context, rows[i], options.sort);
    }
    std::ranges::sort(keyed, [&](const Keyed& a, const Keyed& b) {
        auto order = compare(a, b, options.sort);
        if (options.invert) order = reversed(order);
        if (std::is_eq(order)) order = tie_break(rows[a.index], rows[b.index]);
        return std::is_lt(order);
    });
    std::vector<Row> result;
    result.reserve(rows.size());
    for (const Keyed& key : keyed)
        result.push_back(std::move(rows[key.index]));
    return result;
}

Sums task_sums(std::uint64_t blocked, std::uint64_t sleeps, std::uint64_t runq) {
    return {.blocked_ns = blocked, .sleeps = sleeps, .runq_ns = runq};
}

/// Names a row by one of its task's stacks.
void name_by(const TableContext& context, Row& row, const Entry& entry) {
    row.entry = &entry;
    row.slept = row.task;
    row.reason = &context.reasons.of(context.model.snapshot(), *row.task, entry, context.stacks);
    set_percentiles(row.total, entry.hist, entry.max_ns);
    if (const auto& delta = context.model.delta(entry); delta && row.delta)
        set_percentiles(*row.delta, delta->hist, entry.max_ns);
}

/// The one of them that weighs most; none of none.
const Entry* heaviest(const TableContext& context, const RowOptions& options,
                      std::span<const Entry* const> entries) {
    const Entry* found = nullptr;
    NamingWeight most;
    for (const Entry* entry : entries) {
        NamingWeight weight;
        weight.add(context, options, *entry);
        if (found != nullptr && weight <= most) continue;
        found = entry;
        most = weight;
    }
    return found;
}

/// The row of a task, with all its sleeps; not named yet.
Row task_row(const TableContext& context, const Task& task) {
    Row row;
    row.id.task = id_of(task);
    row.task = &task;
    row.reason = &context.reasons.of_worst(context.model.snapshot(), task, context.stacks);
    row.asleep = task.asleep() ? 1 : 0;
    row.ongoing_ns = task.ongoing_ns;
    row.max_ns = task.max_ns;
    row.total = task_sums(task.blocked_ns, task.sleeps, task.runq_ns);
    if (const auto& delta = context.model.delta(task))
        row.delta = task_sums(delta->blocked_ns, delta->sleeps, delta->runq_ns);
    return row;
}

/// Its figures become those of these of its sleeps.
void count_only(const TableContext& context, Row& row, std::span<const Entry* const> entries) {
    row.asleep = row.ongoing_ns = row.max_ns = 0;
    row.total.blocked_ns = row.total.sleeps = 0;
    if (row.delta) row.delta->blocked_ns = row.delta->sleeps = 0;
    for (const Entry* entry : entries) {
        if (entry->asleep()) row.asleep = 1;
        row.ongoing_ns = std::max(row.ongoing_ns, entry->ongoing_ns);
        row.max_ns = std::max(row.max_ns, entry->max_ns);
        row.total.blocked_ns += entry->blocked_ns;
        row.total.sleeps += entry->sleeps;
        const auto& delta = context.model.delta(*entry);
        if (!delta) row.delta.reset();
        if (!row.delta) continue;
        row.delta->blocked_ns += delta->blocked_ns;
        row.delta->sleeps += delta->sleeps;
    }
}

/// What a task has of the sleeps that are wanted; nothing where it has none. A record without
/// stacks is wanted whole, or not.
std::optional<Row> wanted_row(const TableContext& context, const RowOptions& options,
                              const Task& task) {
    const Snapshot& snapshot = context.model.snapshot();
    const KnownBy known = known_by(context);
    const auto wanted = [&](const Entry* entry, const Reason& reason) {
        return is_wanted(options.waits, known, task, entry, reason);
    };
    Row row = task_row(context, task);
    const auto entries = snapshot.entries_of(task);
    if (entries.empty() && !wanted(nullptr, *row.reason)) return std::nullopt;
    std::vector<const Entry*> kept;
    for (const Entry& entry : entries)
        if (options.waits.all() ||
            wanted(&entry, context.reasons.of(snapshot, task, entry, context.stacks)))
            kept.push_back(&entry);
    if (kept.empty() && !entries.empty()) return std::nullopt;
    if (kept.size() != entries.size()) count_only(context, row, kept);
    if (const Entry* entry = heaviest(context, options, kept)) name_by(context, row, *entry);
    return row;
}

std::vector<Row> task_rows(const TableContext& context, const RowOptions& options) {
    std::vector<Row> rows;
    rows.reserve(context.model.snapshot().tasks.size());
    for (const Task& task : context.model.snapshot().tasks) {
        if (!task_shown(context.model, task, options)) continue;
        if (std::optional<Row> row = wanted_row(context, options, task))
            rows.push_back(std::move(*row));
    }
    return rows;
}

/// The digits of a pid are in many a container's id, which is in its path.
bool in_cgroup(const KnownBy& known, const Task& task, std::string_view word) {
    return contains(known.cgroups.name(task.cgroup()), word) ||
           (!is_number(word) && contains(task.cgroup(), word));
}

/// They are in the names of many a function, too: do_syscall_64 is in every stack.
bool in_stack(const KnownBy& known, const Task& task, const Entry& entry, std::string_view word) {
    if (is_number(word)) return false;
    return any_function(known.snapshot, task, entry, known.stacks, [&](std::string_view name) {
        return contains(name, word) && contains(without_parameters(std::string(name)), word);
    });
}

/// Where it is known. The digits of a pid are in many a port and address.
bool in_command_line(const KnownBy& known, const Task& task, std::string_view word) {
    const std::string* line = is_number(word) ? nullptr : known.stacks.command_line(task);
    return line != nullptr && contains(*line, word);
}

/// Whether a task, or its sleeps with that reason, is known by a word.
bool known_as(const KnownBy& known, const Task& task, const Reason& reason, std::string_view word) {
    return contains(command_text(task), word) || in_command_line(known, task, word) ||
           contains(std::to_string(task.pid), word) || contains(std::to_string(task.tgid), word) ||
           contains(known.users.name(task.uid), word) || contains(reason.name, word) ||
           in_cgroup(known, task, word);
}

/// Whether they are known by one of the filter's words; by an empty one all are.
bool filter_matches(const KnownBy& known, const Task& task, const Entry* entry,
                    const Reason& reason, std::string_view filter) {
    for (;;) {
        const std::size_t bar = filter.find('|');
        const std::string_view word = filter.substr(0, bar);
        if (word.empty() || known_as(known, task, reason, word)) return true;
        if (entry != nullptr && in_stack(known, task, *entry, word)) return true;
        if (bar == std::string_view::npos) return false;
        filter.remove_prefix(bar + 1);
    }
}

/// The rows of processes, each with the rows of its tasks behind it.
std::vector<Row> with_tasks(const TableContext& context, std::vector<Row> processes,
                            const RowOptions& options) {
    std::unordered_map<TaskId, std::vector<Row>, HashTaskId> tasks;
    for (Row& row : sorted(context, task_rows(context, options), options))
        tasks[process_of(*row.task)].push_back(std::move(row));
    std::vector<Row> tree;
    for (Row& process : processes) {
        std::vector<Row>& below = tasks[process.id.task];
        const bool one = process.tasks < 2 || below.empty();
        const bool folded = !one && options.folded.contains(process.id.task);
        if (folded) process.branch = Row::Branch::Folded;
        tree.push_back(std::move(process));
        if (one || folded) continue;
        for (Row& row : below) {
            row.branch = Row::Branch::Inner;
            tree.push_back(std::move(row));
        }
        tree.back().branch = Row::Branch::Last;
    }
    return tree;
}

}  // namespace

void set_percentiles(Sums& sums, const Histogram& hist, std::uint64_t max_ns) {
    sums.p50_ns = percentile_bound(hist, 0.50, max_ns);
    sums.p99_ns = percentile_bound(hist, 0.99, max_ns);
}

bool command_lines_needed(const RowOptions& options) {
    return !options.waits.filter.empty() || options.sort == Column::CommandLine;
}

void want_command_lines(const Snapshot& snapshot, UserStacks& stacks) {
    std::vector<const Task*> tasks;
    for (const Task& task : snapshot.tasks)
        tasks.push_back(&task);
    stacks.want_command_lines(tasks);
}

bool row_tagged(const Row& row, const RowOptions& options) {
    if (row.id.view == View::Tasks) return tagged(*row.task, options);
    return row.id.view == View::Processes && options.tagged.contains(row.id.task);
}

lt_traces traces_needed(const RowOptions& options) {
    const bool all = !options.waits.all() || options.interval;
    return all ? LT_TRACES_ALL : view_info(options.view).traces;
}

bool task_shown(const Model& model, const Task& task, const RowOptions& options) {
    if (options.hide_kernel_threads && task.kernel_thread()) return false;
    if (options.only_tagged && !tagged(task, options)) return false;
    if (options.hide_exited &&
        (task.exited() || task.kind == LT_KIND_EXITED || task.kind == LT_KIND_EXITED_ALL))
        return false;
    if (!options.only_active) return true;
    const auto& delta = model.delta(task);
    return delta && delta->sleeps != 0;
}

KnownBy known_by(const TableContext& context) {
    return {context.model.snapshot(), context.stacks, context.users, context.cgroups};
}

bool is_wanted(const WantedWaits& wanted, const KnownBy& known, const Task& task,
               const Entry* entry, const Reason& reason) {
    return !(wanted.hide_idle && reason.idle) &&
           filter_matches(known, task, entry, reason, wanted.filter);
}

bool row_contains(const TableContext& context, const Row& row, std::string_view word) {
    return known_as(known_by(context), *row.task, *row.reason, word) ||
           contains(top_frame(context, row).text, word);
}

TopFrame top_frame(const TableContext& context, const Row& row) {
    if (row.entry == nullptr) return {};
    return top_frame(context.model.snapshot(), *row.slept, *row.entry, context.stacks);
}

std::vector<Row> make_rows(const TableContext& context, const RowOptions& options) {
    std::vector<Row> rows = sorted(
        context,
        options.view == View::Tasks ? task_rows(context, options) : group_rows(context, options),
        options);
    if (options.view == View::Tasks && options.limit != 0 && rows.size() > options.limit)
        rows.erase(rows.begin() + options.limit, rows.end());
    if (!options.tree || options.view != View::Processes) return rows;
    return with_tasks(context, std::move(rows), options);
}

}  // namespace lattop
