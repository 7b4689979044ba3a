// SPDX-License-Identifier: GPL-2.0-or-later
//
// See detail_view.h.
#include "lattop/view/detail_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "lattop/model/frames.h"
#include "lattop/model/merged_stacks.h"
#include "lattop/model/wakers.h"

namespace lattop {
namespace {

constexpr std::size_t kShiftColumns = 8;
constexpr int kSummaryLines = 2;
constexpr std::size_t kTasksShown = 20;
constexpr const char* kTitles = "  SHARE         TOTAL SLEEPS   MEAN     MAX REASON       WHERE";
constexpr const char* kIntervalTitles =
    "  SHARE      INTERVAL SLEEPS   MEAN     MAX REASON       WHERE";

/// "D", "D for I/O"
std::string state_text(const Task& task) {
    return std::string(1, task.state) + (task.waits_for_io() ? " for I/O" : "");
}

/// A cgroup by its name, and by its path where that is another.
std::string cgroup_text(const std::string& path, CgroupNames& names) {
    const std::string& name = names.name(path);
    return name == path ? path : fmt::format("{} ({})", name, path);
}

/// "blocked 12.3s in 1,204 sleeps", "in the last 2.00s blocked 1.99s in 3 sleeps".
std::string blocked_text(const TableContext& context, std::uint64_t blocked_ns,
                         std::uint64_t sleeps) {
    const std::string when =
        context.interval
            ? fmt::format("in the last {} ", format_duration(context.model.interval_ns()))
            : "";
    return fmt::format("{}blocked {} in {} sleeps", when, format_duration(blocked_ns),
                       with_commas(sleeps));
}

/// Where the figures at its beginning are not known.
std::string unknown_text(const TableContext& context) {
    return fmt::format("in the last {} blocked for a time not known yet",
                       format_duration(context.model.interval_ns()));
}

std::string group_summary(View view, const Row& row, const TableContext& context) {
    CgroupNames& cgroups = context.cgroups;
    std::string text;
    switch (view) {
        case View::Processes:
            text = fmt::format("Process {} {}", row.task->tgid, command_text(*row.task));
            break;
        case View::Stacks: text = "Stack, " + row.reason->name; break;
        case View::Cgroups: text = "Cgroup " + cgroups.name(row.id.cgroup); break;
        default: text = "Reason " + row.reason->name; break;
    }
    if ((view == View::Stacks || view == View::Reasons) && row.reason->idle)
        text += " (waiting for work)";
    const bool known = !context.interval || row.delta;
    const Sums& sums = context.interval && row.delta ? *row.delta : row.total;
    text += ": " +
            (known ? blocked_text(context, sums.blocked_ns, sums.sleeps) : unknown_text(context));
    text += fmt::format(" of {} task{}, max {}", with_commas(row.tasks), row.tasks == 1 ? "" : "s",
                        format_duration(row.max_ns));
    if (row.asleep != 0) text += fmt::format(", {} of them now", with_commas(row.asleep));
    if (view == View::Cgroups && cgroups.name(row.id.cgroup) != row.id.cgroup)
        text += "; path " + (row.id.cgroup.empty() ? "not known" : row.id.cgroup);
    return text;
}

/// What a task has, or had of the interval; nothing where that is not known.
std::optional<TaskDelta> figures_of(const TableContext& context, const Task& task) {
    if (context.interval) return context.model.delta(task);
    return TaskDelta{task.blocked_ns, task.sleeps, task.runq_ns, task.runs};
}

/// What a task's stack has beside its figures.
void add_sleep(StackSum& stack, const Snapshot& snapshot, const Entry& entry) {
    if (entry.asleep()) stack.asleep.push_back({stack.task, &entry});
    append_pointers(stack.wakers, snapshot.wakers_of(entry));
}

void draw_line(Canvas& canvas, int y, const Line& line, std::size_t shift) {
    int x = 0;
    for (const Span& span : line) {
        // Printable first: cutting bytes could split a character.
        std::string text = printable(span.text, canvas.charset());
        std::size_t at = 0;
        while (shift > 0 && at < text.size()) {
            const char32_t c = next_printable(text, at, canvas.charset());
            shift -= std::min<std::size_t>(shift, static_cast<std::size_t>(columns_of(c)));
        }
        x = canvas.put(x, y, std::string_view(text).substr(at), span.style);
    }
}

}  // namespace

std::string DetailView::folded(const TableContext& context) const {
    if (snapshot_ == nullptr || stacks_.empty()) return "";
    const StackSum& stack = stacks_[open_index_];
    const MergedStack merged =
        merged_stack(*snapshot_, *stack.task, stack.sum, context.stacks, context.reasons);
    return fmt::format("{} {}", merged.folded(), stack.sum.blocked_ns);
}

const Task* DetailView::live_wanted() const {
    const Task* task = task_ != nullptr ? task_ : sleeper_.task;
    if (task == nullptr || task->kind != LT_KIND_TASK || !task->asleep()) return nullptr;
    // Of one task whichever stack is open: it is there when that one is.
    const bool wanted = task_ == nullptr ? wants_live(*snapshot_, *task, *sleeper_.entry)
                                         : std::ranges::any_of(stacks_, [&](const StackSum& stack) {
                                               return wants_live(*snapshot_, *task, stack.sum);
                                           });
    return wanted ? task : nullptr;
}

/// Of those blocked in the open stack the one that is longest; then the same one while that
/// sleep goes on, whoever comes.
void DetailView::choose_sleeper() {
    sleeper_ = {};
    if (stacks_.empty() || stacks_[open_index_].asleep.empty()) return held_.reset();
    const auto& asleep = stacks_[open_index_].asleep;
    const auto sleep_of = [](const BlockedNow& one) {
        return Sleep{id_of(*one.task), one.task->sleeps};
    };
    auto chosen = std::ranges::find_if(
        asleep, [&](const BlockedNow& one) { return held_ && sleep_of(one) == *held_; });
    if (chosen == asleep.end())
        chosen = std::ranges::max_element(
            asleep, {}, [](const BlockedNow& one) { return one.entry->ongoing_ns; });
    sleeper_ = *chosen;
    held_ = sleep_of(*chosen);
}

/// A stack of many tasks has the program of whichever of them leads now: no part of what it is.
EntryId DetailView::id_of_stack(std::size_t index) const {
    EntryId id = id_of(*snapshot_, stacks_[index].sum);
    if (view_ != View::Tasks) id.exec_id = 0;
    return id;
}

void DetailView::take(std::vector<StackSum> stacks) {
    stacks_ = std::move(stacks);
    open_index_ = 0;
    for (std::size_t i = 0; i < stacks_.size(); ++i)
        if (open_ && id_of_stack(i) == *open_) open_index_ = i;
    choose_sleeper();
}

void DetailView::begin_task(const TaskId& task) {
    const RowId id{.task = task};
    if (view_ != View::Tasks || id_ != id) clear();
    view_ = View::Tasks;
    id_ = id;
    row_.reset();
    tasks_.clear();
}

/// Points into the snapshot; nowhere where the task is not in it.
void DetailView::find_task(const Snapshot& snapshot, const TaskId& task) {
    const auto found =
        std::ranges::find(snapshot.tasks, task, [](const Task& one) { return id_of(one); });
    snapshot_ = found == snapshot.tasks.end() ? nullptr : &snapshot;
    task_ = snapshot_ == nullptr ? nullptr : &*found;
}

/// The stacks of the task in whose sleeps the options let through, and what those come to.
void DetailView::take_wanted(const TableContext& context, const RowOptions& options) {
    std::vector<StackSum> stacks;
    blocked_ns_ = 0;
    shown_.reset();
    if (task_ == nullptr) return take(std::move(stacks));
    const KnownBy known{*snapshot_, context.stacks, context.users, context.cgroups};
    const auto entries = snapshot_->entries_of(*task_);
    Shown sums;
    for (const Entry& entry : entries) {
        if (!options.waits.all() &&
            !is_wanted(options.waits, known, *task_, &entry,
                       context.reasons.of(*snapshot_, *task_, entry, context.stacks)))
            continue;
        const auto figures = shown_figures(context, entry);
        StackSum& stack = stacks.emplace_back(StackSum{.task = task_,
                                                       .sum = figures.value_or(entry),
                                                       .known = figures.has_value(),
                                                       .tasks = 1});
        add_sleep(stack, *snapshot_, entry);
        sums.known = sums.known && figures;
        sums.blocked_ns += figures ? figures->blocked_ns : 0;
        sums.sleeps += figures ? figures->sleeps : 0;
        sums.max_ns = std::max(sums.max_ns, entry.max_ns);
        sums.ongoing_ns = std::max(sums.ongoing_ns, entry.ongoing_ns);
        sums.asleep = sums.asleep || entry.asleep();
    }
    const auto whole = figures_of(context, *task_);
    if (stacks.size() != entries.size()) shown_ = sums;
    blocked_ns_ = shown_ ? shown_->blocked_ns : whole ? whole->blocked_ns : 0;
    sort_stacks(stacks);
    take(std::move(stacks));
}

void DetailView::show_task(const TableContext& context, const RowOptions& options,
                           Snapshot snapshot, const TaskId& task) {
    begin_task(task);
    own_ = std::move(snapshot);
    find_task(own_, task);
    take_wanted(context, options);
}

void DetailView::show_task(const TableContext& context, const RowOptions& options,
                           const TaskId& task) {
    begin_task(task);
    find_task(context.model.snapshot(), task);
    take_wanted(context, options);
}

void DetailView::choose_again(const TableContext& context, const RowOptions& options) {
    const bool chosen = !options.waits.all() || shown_;
    if (chosen && task_ != nullptr && snapshot_ == &own_) take_wanted(context, options);
}

void DetailView::forget_figures() {
    sleeper_ = {};
    snapshot_ = nullptr;
    task_ = nullptr;
    shown_.reset();
    row_.reset();
    stacks_.clear();
    tasks_.clear();
}

void DetailView::show_group(const TableContext& context, const RowOptions& options, const RowId& id,
                            const Row* row) {
    if (view_ != options.view || id_ != id) clear();
    view_ = options.view;
    id_ = id;
    forget_figures();
    snapshot_ = row == nullptr ? nullptr : &context.model.snapshot();
    if (row == nullptr) return;
    row_ = *row;
    blocked_ns_ = !context.interval ? row->total.blocked_ns
                  : row->delta      ? row->delta->blocked_ns
                                    : 0;
    tasks_ = tasks_of_row(context, options, id);
    take(stacks_of_row(context, options, id));
}

void DetailView::clear() {
    forget_figures();
    held_.reset();
    id_ = {};
    open_.reset();
    open_index_ = 0;
    scroll_ = 0;
    shift_ = 0;
    follow_ = true;
}

void DetailView::open(std::size_t index) {
    if (stacks_.empty()) return;
    open_index_ = std::min(index, stacks_.size() - 1);
    open_ = id_of_stack(open_index_);
    choose_sleeper();
    follow_ = true;
}

bool DetailView::move(Command command) {
    switch (command) {
        case Command::Up: open(open_index_ == 0 ? 0 : open_index_ - 1); return true;
        case Command::Down: open(open_index_ + 1); return true;
        case Command::Home:
            open(0);
            shift_ = 0;
            return true;
        case Command::End: open(SIZE_MAX); return true;
        case Command::PageUp:
            scroll_ -= std::min(scroll_, page_);
            follow_ = false;
            return true;
        case Command::PageDown:
            scroll_ += page_;
            follow_ = false;
            return true;
        case Command::Left: shift_ -= std::min(shift_, kShiftColumns); return true;
        case Command::Right: shift_ += kShiftColumns; return true;
        default: return false;
    }
}

/// Which tasks a row stands for, most blocked time in it first.
void DetailView::append_tasks(std::vector<Line>& lines) const {
    const std::size_t n = std::min(tasks_.size(), kTasksShown);
    for (std::size_t i = 0; i < n; ++i) {
        const Task& task = *tasks_[i].task;
        lines.push_back({{i == 0 ? "  tasks  " : "         ", Style::Dim},
                         {fmt::format("{:>5}% {:>6} {:>7} {} {}",
                                      format_percent(share_of(tasks_[i].blocked_ns, blocked_ns_)),
                                      format_duration(tasks_[i].blocked_ns), task.pid, task.state,
                                      command_text(task)),
                          Style::Normal}});
    }
    if (tasks_.size() > n)
        lines.push_back(
            {{fmt::format("         and {} more", with_commas(tasks_.size() - n)), Style::Dim}});
}

std::vector<Line> DetailView::lines(const TableContext& context, Charset charset) {
    std::vector<Line> lines;
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
        const StackSum& stack = stacks_[i];
        const bool open = i == open_index_;
        if (open) open_from_ = lines.size();
        const double share = stack.known ? share_of(stack.sum.blocked_ns, blocked_ns_) : 0;
        lines.push_back(stack_line(*snapshot_, stack, share, open, context, charset));
        if (!open) continue;
        append_open_stack(lines, *snapshot_, stack, sleeper_, row_.has_value(), context, charset);
        open_to_ = lines.size();
    }
    append_tasks(lines);
    return lines;
}

/// What it is, and of its figures those of the sleeps that are shown.
std::string DetailView::task_summary(const TableContext& context) const {
    const Task& task = *task_;
    std::string text = fmt::format("{} {}", task.pid, command_text(task));
    if (task.pid != task.tgid) text += fmt::format(" (process {})", task.tgid);
    const std::optional<TaskDelta> figures = figures_of(context, task);
    Shown sums{.max_ns = task.max_ns,
               .ongoing_ns = task.ongoing_ns,
               .asleep = task.asleep(),
               .known = figures.has_value()};
    if (figures) {
        sums.blocked_ns = figures->blocked_ns;
        sums.sleeps = figures->sleeps;
    }
    if (shown_) sums = *shown_;
    text += fmt::format(
        ", {}, {}: {}, max {}", context.users.name(task.uid), state_text(task),
        sums.known ? blocked_text(context, sums.blocked_ns, sums.sleeps) : unknown_text(context),
        format_duration(sums.max_ns));
    if (sums.asleep) text += fmt::format(", ongoing {}", format_duration(sums.ongoing_ns));
    if (figures)
        text += fmt::format("; run queue {} in {} waits", format_duration(figures->runq_ns),
                            with_commas(figures->runs));
    if (!task.cgroup().empty()) text += "; cgroup " + cgroup_text(task.cgroup(), context.cgroups);
    return text;
}

std::string DetailView::title(const TableContext& context) const {
    if (snapshot_ == nullptr) return "the figures of this row are gone: Esc closes";
    return row_ ? group_summary(view_, *row_, context) : task_summary(context);
}

const Task* DetailView::of_process() const {
    if (task_ != nullptr) return task_;
    return row_ && view_ == View::Processes ? row_->task : nullptr;
}

/// As much of the open stack as fits, its first line in any case.
void DetailView::scroll_to_open(std::size_t n_lines) {
    if (follow_) {
        if (open_to_ > scroll_ + page_) scroll_ = open_to_ - page_;
        scroll_ = std::min(scroll_, open_from_);
    }
    scroll_ = std::min(scroll_, n_lines - std::min(n_lines, page_));
}

void DetailView::draw(Canvas& canvas, Area area, const TableContext& context, bool focused) {
    if (area.height <= kSummaryLines) return;
    const Style style = focused ? Style::Selected : Style::SelectedDim;
    canvas.clear_row(area.y, style);
    canvas.put(0, area.y, title(context), style);
    if (snapshot_ == nullptr) return;
    int y = area.y + 1;
    const Task* task = of_process();
    const std::string* line = task == nullptr ? nullptr : context.stacks.command_line(*task);
    if (line != nullptr && !line->empty() && area.height > kSummaryLines + 1)
        canvas.put(0, y++, "  " + *line, Style::Normal);
    canvas.clear_row(y, Style::Title);
    canvas.put(0, y, context.interval ? kIntervalTitles : kTitles, Style::Title);
    ++y;

    page_ = static_cast<std::size_t>(area.y + area.height - y);
    const std::vector<Line> all = lines(context, canvas.charset());
    scroll_to_open(all.size());
    for (std::size_t i = 0; i < page_ && scroll_ + i < all.size(); ++i)
        draw_line(canvas, y + static_cast<int>(i), all[scroll_ + i], shift_);
}

}  // namespace lattop
