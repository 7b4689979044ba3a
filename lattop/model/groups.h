// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows that stand for many tasks: sums over the sleeps of processes, of call
// stacks, of reasons, of cgroups. Called by make_rows(); the pane asks for the stacks
// behind one row.
//
// Cost: one pass over the tasks' stacks, a look-up in a hash or two for each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lattop/model/rows.h"

namespace lattop {

/// What the row of a task's process is known by. Tasks of no process have one
/// of their own making.
TaskId process_of(const Task& task);

/// The rows of a view other than tasks, in no order.
std::vector<Row> group_rows(const TableContext& context, const RowOptions& options);

/// An entry of the model's snapshot with the figures that are shown of it: where these are of
/// the interval, time, sleeps and histogram are; nothing where they are not known.
std::optional<Entry> shown_figures(const TableContext& context, const Entry& entry);

/// A task that is blocked now.
struct BlockedNow {
    const Task* task = nullptr;
    const Entry* entry = nullptr;  ///< the sleep it is in
};

/// The sleeps in one stack, of all tasks of a row.
struct StackSum {
    const Task* task = nullptr;  ///< the one that it cost most
    Entry sum{};                 ///< added up; trace and exec_id are that task's
    bool known = true;           ///< the figures are: see shown_figures()
    std::uint64_t tasks = 0;
    std::vector<const Waker*> wakers{};  ///< of all of them, since load or reset
    std::vector<BlockedNow> asleep{};    ///< who is blocked there now
};

/// Most blocked time first, those behind of which it is not known.
void sort_stacks(std::vector<StackSum>& stacks);

/// The stacks behind a row of such a view, sorted.
std::vector<StackSum> stacks_of_row(const TableContext& context, const RowOptions& options,
                                    const RowId& id);

/// The tasks behind it, most blocked time in it first, with that time.
struct TaskShare {
    const Task* task = nullptr;
    std::uint64_t blocked_ns = 0;
};
std::vector<TaskShare> tasks_of_row(const TableContext& context, const RowOptions& options,
                                    const RowId& id);

}  // namespace lattop
