// SPDX-License-Identifier: GPL-2.0-or-later
//
// The text of a cell: see rows.h.
#include <fmt/format.h>

#include "lattop/model/format.h"
#include "lattop/model/rows.h"

namespace lattop {
namespace {

constexpr std::size_t kLeastName = 4;

std::string pid_text(const Row& row) {
    // Records that stand for exited tasks of a process are named by it.
    const Task& task = *row.task;
    const bool by_process = task.kind == LT_KIND_EXITED || row.id.task.pid == 0;
    const std::uint32_t number = by_process ? task.tgid : task.pid;
    return number == 0 ? "-" : std::to_string(number);
}

/// A name that fits its column, cut as top does it: "systemd+".
std::string short_user(const std::string& name) {
    const auto width = static_cast<std::size_t>(column_info(Column::User).width);
    return name.size() <= width ? name : name.substr(0, width - 1) + "+";
}

std::string duration_or_dash(std::uint64_t ns) {
    return ns == 0 ? "-" : format_duration(ns);
}

/// A figure of the last interval, a second.
std::string per_second(const TableContext& context, const Row& row, Column column) {
    if (!row.delta) return "-";
    const double blocked = context.model.per_second(row.delta->blocked_ns) / 1e9;
    if (column == Column::Share) return format_percent(blocked);
    if (column == Column::Waiting) return format_rate(blocked);
    return format_rate(context.model.per_second(row.delta->sleeps));
}

std::string sum_text(const TableContext& context, const Row& row, Column column) {
    if (context.interval && !row.delta) return "-";
    const Sums& sums = context.interval ? *row.delta : row.total;
    switch (column) {
        case Column::Blocked: return format_duration(sums.blocked_ns);
        case Column::P50: return duration_or_dash(sums.p50_ns);
        case Column::P99: return duration_or_dash(sums.p99_ns);
        case Column::Sleeps: return format_count(sums.sleeps);
        default: return format_duration(sums.runq_ns);
    }
}

}  // namespace

std::string command_text(const Row& row, std::size_t columns) {
    std::string name = command_text(*row.task);
    if (row.tasks <= 1) return name;
    const std::string others = fmt::format(" +{}", row.tasks - 1);
    if (name.size() + others.size() <= columns) return name + others;
    // A count that lost digits would be wrong; below this there is no room for both.
    if (columns < others.size() + kLeastName) return name;
    std::size_t end = columns - others.size();
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80)
        --end;  // not within a character
    return name.substr(0, end) + others;
}

std::string cell_text(const TableContext& context, const Row& row, Column column) {
    const Task& task = *row.task;
    switch (column) {
        case Column::Pid: return pid_text(row);
        case Column::User: return short_user(context.users.name(task.uid));
        case Column::State: return std::string(1, task.state_letter());
        case Column::Tasks: return format_count(row.tasks);
        case Column::Now: return format_count(row.asleep);
        case Column::Share:
        case Column::Waiting:
        case Column::SleepRate: return per_second(context, row, column);
        case Column::Ongoing: return row.asleep != 0 ? format_duration(row.ongoing_ns) : "-";
        case Column::Max: return format_duration(row.max_ns);
        case Column::Blocked:
        case Column::P50:
        case Column::P99:
        case Column::Sleeps:
        case Column::Runq: return sum_text(context, row, column);
        case Column::Cgroup: return context.cgroups.name(task.cgroup());
        case Column::Reason: return row.reason->name;
        case Column::TopFrame: return top_frame(context, row).text;
        case Column::Command: return command_text(row, SIZE_MAX);
        case Column::CommandLine: {
            const std::string* line = context.stacks.command_line(task);
            return line == nullptr ? "" : *line;
        }
    }
    return {};
}

}  // namespace lattop
