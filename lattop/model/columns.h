// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the tables show: every column once, and the views, each a list of
// columns. The screen's tables, its help, the sort menu, -s and the batch text
// are made from this.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "module/uapi/lattop.h"

namespace lattop {

enum class Column {
    Pid,
    User,
    State,
    Tasks,
    Now,
    Share,
    Waiting,
    Blocked,
    Ongoing,
    Max,
    P50,
    P99,
    Sleeps,
    SleepRate,
    Runq,
    Cgroup,
    Reason,
    TopFrame,
    Command,
    CommandLine,
};

struct ColumnInfo {
    Column id;
    std::string_view name;   ///< as -s takes it
    std::string_view title;  ///< as the header line shows it
    int width;               ///< columns; for TopFrame and Command the least
    bool left;               ///< aligned left; else right
    bool ascending;          ///< natural order when sorted by it
    std::string_view help;
};

const ColumnInfo& column_info(Column column);

/// What a row of a table stands for.
enum class View {
    Tasks,      ///< a task
    Processes,  ///< the tasks of a process
    Stacks,     ///< the sleeps in one trace, of all tasks
    Reasons,    ///< the sleeps with one reason, of all tasks
    Cgroups,    ///< the tasks of a cgroup, not those of the ones below it
};

inline constexpr std::size_t kViews = 5;

struct ViewInfo {
    View id;
    std::string_view name;          ///< "Stacks"
    std::string_view help;          ///< what a row is
    std::span<const Column> shown;  ///< in their order
    std::span<const Column> more;   ///< shown where they are chosen
    /// What goes first where the terminal is narrow: these while names keep
    /// their good widths, then the others.
    std::span<const Column> goes_first;
    std::span<const Column> goes_last;
    lt_traces traces;  ///< what it needs of each task
};

/// Every view, in the order of their keys.
std::span<const ViewInfo> views();
const ViewInfo& view_info(View view);

/// The columns of a view, in the order shown, but those that are to be chosen.
std::span<const Column> columns(View view);

/// With those behind them.
std::vector<Column> all_columns(View view);

/// The column of tasks that -s calls `name`; nothing where there is none.
std::optional<Column> column_named(std::string_view name);

/// `column` where the view has it, else the one that says the same of groups
/// of tasks, else blocked time.
Column column_in(View view, Column column);

/// The module's sort that comes nearest, and whether it is the same order.
struct ModuleSort {
    lt_sort sort = LT_SORT_BLOCKED;
    bool exact = false;
};
ModuleSort module_sort(Column column);

}  // namespace lattop
