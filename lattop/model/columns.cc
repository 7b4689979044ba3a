// SPDX-License-Identifier: GPL-2.0-or-later
//
// See columns.h.
#include "lattop/model/columns.h"

#include <algorithm>
#include <array>

namespace lattop {
namespace {

constexpr auto kColumns = std::to_array<ColumnInfo>({
    {Column::Pid, "pid", "PID", 7, false, true, "the thread's id (what tools call tid)"},
    {Column::User, "user", "USER", 8, true, true, "real user"},
    {Column::State, "state", "S", 1, true, true,
     "R awake, SDI asleep, sd for I/O, T stopped, t traced, X exited"},
    {Column::Tasks, "tasks", "TASKS", 5, false, false, "tasks that the row stands for"},
    {Column::Now, "now", "NOW", 5, false, false, "how many of them are in such a sleep now"},
    {Column::Share, "share", "BLK%", 5, false, false,
     "share of the last interval spent blocked (1% is 10 ms a second)"},
    {Column::Waiting, "waiting", "WAIT", 5, false, false,
     "tasks that waited at a time, on average of the last interval"},
    {Column::Blocked, "blocked", "BLOCKED", 7, false, false,
     "all sleeps since load or reset, the ongoing one included"},
    {Column::Ongoing, "ongoing", "ONGOING", 7, false, false, "the sleep that has not ended yet"},
    {Column::Max, "max", "MAX", 6, false, false, "the longest sleep"},
    {Column::P50, "p50", "P50", 6, false, false,
     "half of the ended sleeps were shorter; true to a factor of 2"},
    {Column::P99, "p99", "P99", 6, false, false,
     "99 of 100 ended sleeps were shorter; true to a factor of 2"},
    {Column::Sleeps, "sleeps", "SLEEPS", 6, false, false, "sleeps begun"},
    {Column::SleepRate, "rate", "SLP/s", 5, false, false, "sleeps begun a second"},
    {Column::Runq, "runq", "RUNQ", 6, false, false,
     "time runnable but waiting for a CPU: not part of blocked time"},
    {Column::Cgroup, "cgroup", "CGROUP", 24, true, true,
     "control group (version 2): a container or a unit by its name, else its path"},
    {Column::Reason, "reason", "REASON", 12, true, true,
     "what it waits for, by reasons.conf; the pane says which line"},
    {Column::TopFrame, "frame", "TOP FRAME", 9, true, true,
     "where it blocks most: the program's own function, else the kernel's"},
    {Column::Command, "command", "COMMAND", 15, true, true, "name of the thread"},
    {Column::CommandLine, "cmdline", "CMDLINE", 24, true, true,
     "command line of its process (chosen with F2)"},
});

constexpr auto kTaskColumns = std::to_array<Column>(
    {Column::Pid, Column::User, Column::State, Column::Share, Column::Blocked, Column::Ongoing,
     Column::Max, Column::P50, Column::P99, Column::Sleeps, Column::SleepRate, Column::Runq,
     Column::Cgroup, Column::Reason, Column::TopFrame, Column::Command});
constexpr auto kProcessColumns = std::to_array<Column>(
    {Column::Pid, Column::User, Column::Tasks, Column::Now, Column::Waiting, Column::Blocked,
     Column::Ongoing, Column::Max, Column::P50, Column::P99, Column::Sleeps, Column::SleepRate,
     Column::Runq, Column::Cgroup, Column::Reason, Column::TopFrame, Column::Command});
constexpr auto kStackColumns =
    std::to_array<Column>({Column::Tasks, Column::Now, Column::Waiting, Column::Blocked,
                           Column::Ongoing, Column::Max, Column::P50, Column::P99, Column::Sleeps,
                           Column::SleepRate, Column::Reason, Column::TopFrame, Column::Command});
constexpr auto kReasonColumns =
    std::to_array<Column>({Column::Reason, Column::Tasks, Column::Now, Column::Waiting,
                           Column::Blocked, Column::Ongoing, Column::Max, Column::P50, Column::P99,
                           Column::Sleeps, Column::SleepRate, Column::TopFrame, Column::Command});

constexpr auto kCgroupColumns = std::to_array<Column>(
    {Column::Cgroup, Column::Tasks, Column::Now, Column::Waiting, Column::Blocked, Column::Ongoing,
     Column::Max, Column::P50, Column::P99, Column::Sleeps, Column::SleepRate, Column::Runq,
     Column::Reason, Column::TopFrame, Column::Command});

/// Of tasks and processes; other rows are of many programs.
constexpr auto kMoreColumns = std::to_array<Column>({Column::CommandLine});
constexpr std::span<const Column> kNoMore;

constexpr auto kGoesFirst =
    std::to_array<Column>({Column::Cgroup, Column::P50, Column::Sleeps, Column::User, Column::P99,
                           Column::Runq, Column::SleepRate});
/// Of the rows whose only name is their cgroup.
constexpr auto kGoesFirstButCgroup = std::to_array<Column>(
    {Column::P50, Column::Sleeps, Column::P99, Column::Runq, Column::SleepRate});
/// A row of reasons has no other name.
constexpr auto kGoesLast = std::to_array<Column>(
    {Column::Now, Column::Max, Column::Ongoing, Column::Waiting, Column::Tasks});
constexpr auto kGoesLastWithReason = std::to_array<Column>(
    {Column::CommandLine, Column::Now, Column::Max, Column::Reason, Column::Ongoing, Column::Share,
     Column::Waiting, Column::State, Column::Tasks});

constexpr std::array<ViewInfo, kViews> kViewInfos{{
    {View::Tasks, "Tasks", "a row is a task (thread)", kTaskColumns, kMoreColumns, kGoesFirst,
     kGoesLastWithReason, LT_TRACES_WORST_AND_ONGOING},
    {View::Processes, "Processes", "a row is a process: its tasks, added up", kProcessColumns,
     kMoreColumns, kGoesFirst, kGoesLastWithReason, LT_TRACES_ALL},
    {View::Stacks, "Stacks", "a row is a call stack: the sleeps there, of all tasks", kStackColumns,
     kNoMore, kGoesFirst, kGoesLastWithReason, LT_TRACES_ALL},
    {View::Reasons, "Reasons", "a row is a reason: the sleeps with it, of all tasks",
     kReasonColumns, kNoMore, kGoesFirst, kGoesLast, LT_TRACES_ALL},
    {View::Cgroups, "Cgroups", "a row is a cgroup: its tasks, without those of cgroups below it",
     kCgroupColumns, kNoMore, kGoesFirstButCgroup, kGoesLastWithReason, LT_TRACES_ALL},
}};

}  // namespace

const ColumnInfo& column_info(Column column) {
    return kColumns.at(static_cast<std::size_t>(column));
}

std::span<const ViewInfo> views() {
    return kViewInfos;
}

const ViewInfo& view_info(View view) {
    return kViewInfos.at(static_cast<std::size_t>(view));
}

std::span<const Column> columns(View view) {
    return view_info(view).shown;
}

std::vector<Column> all_columns(View view) {
    const ViewInfo& info = view_info(view);
    std::vector<Column> all(info.shown.begin(), info.shown.end());
    all.insert(all.end(), info.more.begin(), info.more.end());
    return all;
}

std::optional<Column> column_named(std::string_view name) {
    const auto* found = std::ranges::find_if(
        kTaskColumns, [&](Column column) { return column_info(column).name == name; });
    if (found == kTaskColumns.end()) return std::nullopt;
    return *found;
}

Column column_in(View view, Column column) {
    const std::vector<Column> all = all_columns(view);
    const auto has = [&](Column one) { return std::ranges::find(all, one) != all.end(); };
    if (has(column)) return column;
    if (column == Column::Share && has(Column::Waiting)) return Column::Waiting;
    if (column == Column::Waiting && has(Column::Share)) return Column::Share;
    return Column::Blocked;
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

}  // namespace lattop
