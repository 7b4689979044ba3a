// SPDX-License-Identifier: GPL-2.0-or-later
//
// The rows of a table: which there are, in which order, and each cell's text.
// A row is a task or, made by groups.h, stands for many; the same row serves
// every view. Shared by the live table, the batch text and JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lattop/model/cgroup_names.h"
#include "lattop/model/columns.h"
#include "lattop/model/frames.h"
#include "lattop/model/model.h"
#include "lattop/model/user_stacks.h"
#include "lattop/model/users.h"
#include "lattop/reasons/reasons.h"

namespace lattop {

/// What a row stands for: the same in every snapshot.
struct RowId {
    View view = View::Tasks;  ///< of a task also where a tree shows it
    TaskId task{};            ///< of tasks; tgid alone of processes
    std::uint64_t trace = 0;  ///< of stacks; 0 is [other]
    std::string reason{};     ///< of reasons
    bool idle = false;
    std::string cgroup{};  ///< of cgroups: its path

    bool operator==(const RowId&) const = default;
};

/// Figures of a row, since load or reset or of the last interval.
struct Sums {
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t runq_ns = 0;
    std::uint64_t p50_ns = 0;  ///< see percentile_bound()
    std::uint64_t p99_ns = 0;
};

struct Row {
    RowId id;
    const Task* task = nullptr;      ///< the task; of several the one blocked longest
    const Entry* entry = nullptr;    ///< the stack that cost most; nullptr for none
    const Task* slept = nullptr;     ///< whose entry that is
    const Reason* reason = nullptr;  ///< of that stack; never nullptr
    std::uint64_t tasks = 1;
    std::uint64_t asleep = 0;      ///< how many of them are in such a sleep now
    std::uint64_t ongoing_ns = 0;  ///< the longest
    std::uint64_t max_ns = 0;
    enum class Branch { None, Folded, Inner, Last };
    Branch branch = Branch::None;  ///< in a tree: a process without, or a task of the one above
    Sums total;
    std::optional<Sums> delta;  ///< nothing where not all figures before are known
};

using TaskSet = std::unordered_set<TaskId, HashTaskId>;

/// What the cells are made from; all of it outlives the rows.
struct TableContext {
    const Model& model;
    const UserStacks& stacks;
    Users& users;
    Reasons& reasons;
    CgroupNames& cgroups;
    bool interval = false;  ///< totals are of the last interval, not since load
};

/// Which sleeps are shown: --filter and --no-idle, the keys F4 and i.
struct WantedWaits {
    /// What they are known by: one of its '|'-separated words. Those of a stack also by any
    /// function that is in it.
    std::string filter{};
    bool hide_idle = false;  ///< without sleeps that are waiting for work

    [[nodiscard]] bool all() const { return filter.empty() && !hide_idle; }
};

struct RowOptions {
    View view = View::Tasks;
    Column sort = Column::Blocked;
    bool invert = false;
    bool interval = false;
    bool hide_kernel_threads = false;
    bool hide_exited = false;
    bool only_active = false;  ///< without tasks that began no sleep in the interval
    bool tree = false;         ///< processes: with their tasks below
    std::uint32_t limit = 0;   ///< of tasks so many rows, the first ones; 0 for all
    bool only_tagged = false;
    TaskSet tagged{};  ///< tasks, and processes with all theirs
    TaskSet folded{};  ///< processes whose tasks the tree does not show
    WantedWaits waits{};
};

/// The traces that the rows need of each task: of an interval all, for any may have been its worst.
lt_traces traces_needed(const RowOptions& options);

/// Whether rows are chosen or ordered by the command lines of their tasks.
bool command_lines_needed(const RowOptions& options);

/// Asks for those of all tasks of a snapshot.
void want_command_lines(const Snapshot& snapshot, UserStacks& stacks);

/// The rows to show, in order. They point into the model's snapshot.
std::vector<Row> make_rows(const TableContext& context, const RowOptions& options);

/// Whether a row is of something tagged: a task, its process, or the process.
bool row_tagged(const Row& row, const RowOptions& options);

/// Whether the options let a task's sleeps through, the filter aside.
bool task_shown(const Model& model, const Task& task, const RowOptions& options);

/// Where what tasks and their sleeps are known by is looked up.
struct KnownBy {
    const Snapshot& snapshot;
    const UserStacks& stacks;
    Users& users;
    CgroupNames& cgroups;
};

KnownBy known_by(const TableContext& context);

/// Whether the sleeps of a task in one stack, which have that reason, are let
/// through; without an entry those of a record that has none, or never slept.
bool is_wanted(const WantedWaits& wanted, const KnownBy& known, const Task& task,
               const Entry* entry, const Reason& reason);

/// Its p50 and p99, by the histogram of its sleeps and the longest of them.
void set_percentiles(Sums& sums, const Histogram& hist, std::uint64_t max_ns);

/// A cell's text, not cut, not safe to print yet.
std::string cell_text(const TableContext& context, const Row& row, Column column);

/// The command of a row in so many columns. Several tasks are named by one:
/// "worker +11"; where that does not fit, the name is cut, not the count.
std::string command_text(const Row& row, std::size_t columns);

/// Whether pid, user, cgroup, command, command line, top frame or reason of the row hold `word`;
/// letters of ASCII match whatever their case.
bool row_contains(const TableContext& context, const Row& row, std::string_view word);

/// The top frame of a row's stack.
TopFrame top_frame(const TableContext& context, const Row& row);

}  // namespace lattop
