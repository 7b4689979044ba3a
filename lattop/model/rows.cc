// SPDX-License-Identifier: GPL-2.0-or-later
//
// See rows.h.
#include "lattop/model/rows.h"

#include <algorithm>
#include <array>
#include <compare>

#include "lattop/model/format.h"

namespace lattop {
namespace {

constexpr auto kColumns = std::to_array<ColumnInfo>({
    {Column::Pid, "pid", "PID", 7, false, true, "the thread's id (what tools call tid)"},
    {Column::User, "user", "USER", 8, true, true, "real user"},
    {Column::State, "state", "S", 1, true, true,
     "R awake, S D I asleep, T stopped, t traced, P parked, X exited"},
    {Column::Share, "share", "BLK%", 5, false, false,
     "share of the last interval spent blocked (1% is 10 ms a second)"},
    {Column::Blocked, "blocked", "BLOCKED", 7, false, false,
     "all sleeps since load or reset, the ongoing one included"},
    {Column::Ongoing, "ongoing", "ONGOING", 7, false, false, "the sleep that has not ended yet"},
    {Column::Max, "max", "MAX", 6, false, false, "the longest sleep"},
    {Column::Sleeps, "sleeps", "SLEEPS", 6, false, false, "sleeps begun"},
    {Column::SleepRate, "rate", "SLP/s", 5, false, false, "sleeps begun a second"},
    {Column::Runq, "runq", "RUNQ", 6, false, false,
     "time runnable but waiting for a CPU: not part of blocked time"},
    {Column::TopFrame, "frame", "TOP FRAME", 9, true, true,
     "where it blocks most: the program's own function, else the kernel's"},
    {Column::Command, "command", "COMMAND", 15, true, true, "name of the thread"},
});

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view word) {
    const auto same = [](char a, char b) { return lower(a) == lower(b); };
    return word.empty() ||
           std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

std::string pid_text(const Task& task) {
    // Records that stand for exited tasks of a process are named by it.
    const std::uint32_t number = task.kind == LT_KIND_EXITED ? task.tgid : task.pid;
    return number == 0 ? "-" : std::to_string(number);
}

/// A name that fits its column, cut as top does it: "systemd+".
std::string short_user(const std::string& name) {
    const auto width = static_cast<std::size_t>(column_info(Column::User).width);
    return name.size() <= width ? name : name.substr(0, width - 1) + "+";
}

std::uint64_t delta_blocked(const Row& row) {
    return row.delta ? row.delta->blocked_ns : 0;
}
std::uint64_t delta_sleeps(const Row& row) {
    return row.delta ? row.delta->sleeps : 0;
}

/// Sort keys that are texts are made once a row, not once a comparison.
struct Keyed {
    Row row;
    std::string text;
};

bool sorts_by_text(Column column) {
    return column == Column::User || column == Column::TopFrame || column == Column::Command;
}

std::uint64_t figure(const Row& row, Column column) {
    const Task& task = *row.task;
    switch (column) {
        case Column::Pid: return task.pid;
        case Column::State: return static_cast<unsigned char>(task.state);
        case Column::Share: return delta_blocked(row);
        case Column::Blocked: return task.blocked_ns;
        case Column::Ongoing: return task.ongoing_ns;
        case Column::Max: return task.max_ns;
        case Column::Sleeps: return task.sleeps;
        case Column::SleepRate: return delta_sleeps(row);
        case Column::Runq: return task.runq_ns;
        default: return 0;
    }
}

std::strong_ordering reversed(std::strong_ordering order) {
    if (std::is_lt(order)) return std::strong_ordering::greater;
    if (std::is_gt(order)) return std::strong_ordering::less;
    return order;
}

std::strong_ordering compare(const Keyed& a, const Keyed& b, Column column) {
    if (sorts_by_text(column)) {
        // What has no text comes last.
        if (a.text.empty() != b.text.empty()) return a.text.empty() <=> b.text.empty();
        return a.text <=> b.text;
    }
    const auto order = figure(a.row, column) <=> figure(b.row, column);
    return column_info(column).ascending ? order : reversed(order);
}

/// Equal figures: most blocked first, then by pid, so that rows do not swap.
std::strong_ordering tie_break(const Task& a, const Task& b) {
    if (const auto order = b.blocked_ns <=> a.blocked_ns; std::is_neq(order)) return order;
    if (const auto order = a.pid <=> b.pid; std::is_neq(order)) return order;
    return a.start_ns <=> b.start_ns;
}

void sort_rows(const TableContext& context, std::vector<Row>& rows, const RowOptions& options) {
    std::vector<Keyed> keyed;
    keyed.reserve(rows.size());
    for (Row& row : rows) {
        std::string text;
        if (sorts_by_text(options.sort)) text = cell_text(context, row, options.sort);
        keyed.push_back({row, std::move(text)});
    }
    std::ranges::sort(keyed, [&](const Keyed& a, const Keyed& b) {
        auto order = compare(a, b, options.sort);
        if (options.invert) order = reversed(order);
        if (std::is_eq(order)) order = tie_break(*a.row.task, *b.row.task);
        return std::is_lt(order);
    });
    std::ranges::transform(keyed, rows.begin(), &Keyed::row);
}

bool filter_matches(const TableContext& context, const Row& row, std::string_view filter) {
    for (;;) {
        const std::size_t bar = filter.find('|');
        if (row_contains(context, row, filter.substr(0, bar))) return true;
        if (bar == std::string_view::npos) return false;
        filter.remove_prefix(bar + 1);
    }
}

bool shown(const TableContext& context, const Row& row, const RowOptions& options) {
    const Task& task = *row.task;
    if (options.hide_kernel_threads && task.kernel_thread()) return false;
    if (options.hide_exited &&
        (task.exited() || task.kind == LT_KIND_EXITED || task.kind == LT_KIND_EXITED_ALL))
        return false;
    if (options.hide_idle && delta_sleeps(row) == 0) return false;
    return options.filter.empty() || filter_matches(context, row, options.filter);
}

}  // namespace

std::span<const ColumnInfo> columns() {
    return kColumns;
}

const ColumnInfo& column_info(Column column) {
    return kColumns.at(static_cast<std::size_t>(column));
}

std::optional<Column> column_named(std::string_view name) {
    const auto found = std::ranges::find(kColumns, name, &ColumnInfo::name);
    if (found == kColumns.end()) return std::nullopt;
    return found->id;
}

ModuleSort module_sort(Column column) {
    switch (column) {
        case Column::Blocked: return {LT_SORT_BLOCKED, true};
        case Column::Ongoing: return {LT_SORT_ONGOING, true};
        case Column::Max: return {LT_SORT_MAX, true};
        case Column::Sleeps: return {LT_SORT_SLEEPS, true};
        case Column::Runq: return {LT_SORT_RUNQ, true};
        case Column::Pid: return {LT_SORT_PID, true};
        default: return {LT_SORT_BLOCKED, false};
    }
}

std::string cell_text(const TableContext& context, const Row& row, Column column) {
    const Task& task = *row.task;
    switch (column) {
        case Column::Pid: return pid_text(task);
        case Column::User: return short_user(context.users.name(task.uid));
        case Column::State: return std::string(1, task.state);
        case Column::Share:
            if (!row.delta) return "-";
            return format_percent(context.model.per_second(row.delta->blocked_ns) / 1e9);
        case Column::Blocked: return format_duration(task.blocked_ns);
        case Column::Ongoing: return task.asleep() ? format_duration(task.ongoing_ns) : "-";
        case Column::Max: return format_duration(task.max_ns);
        case Column::Sleeps: return format_count(task.sleeps);
        case Column::SleepRate:
            if (!row.delta) return "-";
            return format_rate(context.model.per_second(row.delta->sleeps));
        case Column::Runq: return format_duration(task.runq_ns);
        case Column::TopFrame:
            return top_frame(context.model.snapshot(), task, context.stacks).text;
        case Column::Command: return command_text(task);
    }
    return {};
}

bool row_contains(const TableContext& context, const Row& row, std::string_view word) {
    return contains(row.task->comm, word) || contains(pid_text(*row.task), word) ||
           contains(context.users.name(row.task->uid), word) ||
           contains(cell_text(context, row, Column::TopFrame), word);
}

std::vector<Row> make_rows(const TableContext& context, const RowOptions& options) {
    std::vector<Row> rows;
    rows.reserve(context.model.snapshot().tasks.size());
    for (const Task& task : context.model.snapshot().tasks) {
        const Row row{&task, context.model.delta(task)};
        if (shown(context, row, options)) rows.push_back(row);
    }
    sort_rows(context, rows, options);
    return rows;
}

}  // namespace lattop
