// SPDX-License-Identifier: GPL-2.0-or-later
//
// The pane below the table: where the tasks of one row block. Their stacks by
// cost, one of them open with its frames and its histogram; behind them, for
// rows that stand for several tasks, which those are. Part of the live screen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lattop/model/groups.h"
#include "lattop/model/rows.h"
#include "lattop/view/canvas.h"
#include "lattop/view/keymap.h"
#include "lattop/view/stack_lines.h"
#include "lattop/view/table_view.h"

namespace lattop {

class DetailView {
public:
    /// A snapshot that may hold the task with its stacks, of which those are shown whose sleeps the
    /// options let through. The open stack stays open, whatever its new place.
    void show_task(const TableContext& context, const RowOptions& options, Snapshot snapshot,
                   const TaskId& task);

    /// The same from the context's snapshot, for figures of the interval: valid until its next one.
    void show_task(const TableContext& context, const RowOptions& options, const TaskId& task);

    /// Of the snapshot that came with the task: other options, or names that they go by.
    void choose_again(const TableContext& context, const RowOptions& options);

    /// A row that stands for several tasks; nullptr where it has gone. All of
    /// it is the context's and valid until its next snapshot.
    void show_group(const TableContext& context, const RowOptions& options, const RowId& id,
                    const Row* row);

    /// Forgets what it shows.
    void clear();

    /// The same but which row and which stack of it: others figures of these come.
    void forget_figures();

    void draw(Canvas& canvas, Area area, const TableContext& context, bool focused);

    /// Chooses a stack or scrolls. False for commands that are none of its.
    bool move(Command command);

    /// The open stack in one line, as folded stacks are written, with its blocked
    /// time in ns; "" for none.
    [[nodiscard]] std::string folded(const TableContext& context) const;

    /// Whose ongoing sleep a look at it now would show more of than was recorded: the task's or,
    /// of several, that of the one blocked longest in the open stack; nullptr for nobody's.
    [[nodiscard]] const Task* live_wanted() const;

    /// The task, or one of the process; nullptr where it shows others.
    [[nodiscard]] const Task* of_process() const;

private:
    void begin_task(const TaskId& task);
    void find_task(const Snapshot& snapshot, const TaskId& task);
    void take_wanted(const TableContext& context, const RowOptions& options);
    void take(std::vector<StackSum> stacks);
    [[nodiscard]] EntryId id_of_stack(std::size_t index) const;
    void open(std::size_t index);
    void choose_sleeper();
    [[nodiscard]] std::string title(const TableContext& context) const;
    [[nodiscard]] std::string task_summary(const TableContext& context) const;
    [[nodiscard]] std::vector<Line> lines(const TableContext& context, Charset charset);
    void append_tasks(std::vector<Line>& lines) const;
    void scroll_to_open(std::size_t n_lines);

    RowId id_{};
    View view_ = View::Tasks;
    Snapshot own_;                        // of one task with all its stacks
    const Snapshot* snapshot_ = nullptr;  // that, or the context's; nullptr: it has gone
    const Task* task_ = nullptr;          // of one task
    std::optional<Row> row_;              // of several
    /// What the sleeps come to that are shown of a task, where those are not all.
    struct Shown {
        std::uint64_t blocked_ns = 0;
        std::uint64_t sleeps = 0;
        std::uint64_t max_ns = 0;
        std::uint64_t ongoing_ns = 0;
        bool asleep = false;
        bool known = true;
    };
    std::optional<Shown> shown_;
    std::vector<StackSum> stacks_;
    BlockedNow sleeper_;  // in the open one
    struct Sleep {
        TaskId task;
        std::uint64_t sleeps = 0;  // of the task: which of its sleeps
        bool operator==(const Sleep&) const = default;
    };
    std::optional<Sleep> held_;  // sleeper_'s, also while a snapshot does not have it
    std::vector<TaskShare> tasks_;
    std::uint64_t blocked_ns_ = 0;  // what shares are of
    std::optional<EntryId> open_;   // nothing: the first one, whichever it is
    std::size_t open_index_ = 0;
    std::size_t scroll_ = 0;
    std::size_t shift_ = 0;                    // columns scrolled to the right
    std::size_t page_ = 1;                     // lines in sight at the last draw
    bool follow_ = true;                       // bring the open stack into sight
    std::size_t open_from_ = 0, open_to_ = 0;  // its lines
};

}  // namespace lattop
