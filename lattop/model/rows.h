// SPDX-License-Identifier: GPL-2.0-or-later
//
// The table of tasks: what columns there are, which tasks are shown, in which
// order, and each cell's text. Shared by the live table and the batch text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/model/frames.h"
#include "lattop/model/model.h"
#include "lattop/model/user_stacks.h"
#include "lattop/model/users.h"
#include "lattop/reasons/reasons.h"

namespace lattop {

enum class Column {
    Pid,
    User,
    State,
    Share,
    Blocked,
    Ongoing,
    Max,
    Sleeps,
    SleepRate,
    Runq,
    TopFrame,
    Command,
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

/// Every column, in the order shown.
std::span<const ColumnInfo> columns();
const ColumnInfo& column_info(Column column);

/// The column that -s calls `name`; nothing where there is none.
std::optional<Column> column_named(std::string_view name);

/// The module's sort that comes nearest, and whether it is the same order.
struct ModuleSort {
    lt_sort sort = LT_SORT_BLOCKED;
    bool exact = false;
};
ModuleSort module_sort(Column column);

struct Row {
    const Task* task = nullptr;
    std::optional<TaskDelta> delta;
};

/// What the cells are made from; all of it outlives the rows.
struct TableContext {
    const Model& model;
    const UserStacks& stacks;
    Users& users;
    Reasons& reasons;
};

struct RowOptions {
    Column sort = Column::Blocked;
    bool invert = false;
    bool hide_kernel_threads = false;
    bool hide_exited = false;
    bool hide_idle = false;  ///< tasks that did not begin a sleep in the interval
    std::string filter{};    ///< shown are rows with one of its '|'-separated words
};

/// The rows to show, in order. They point into the model's snapshot.
std::vector<Row> make_rows(const TableContext& context, const RowOptions& options);

/// A cell's text, not cut, not safe to print yet.
std::string cell_text(const TableContext& context, const Row& row, Column column);

/// Whether pid, user, command or top frame of the row hold `word`; letters of
/// ASCII match whatever their case.
bool row_contains(const TableContext& context, const Row& row, std::string_view word);

}  // namespace lattop
