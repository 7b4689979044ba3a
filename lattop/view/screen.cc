// SPDX-License-Identifier: GPL-2.0-or-later
//
// See screen.h.
#include "lattop/view/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "lattop/model/groups.h"

namespace lattop {
namespace {

/// Tasks asked for in an order of the module's, unless --limit says otherwise: 16384 with their
/// worst trace are 10 MB a refresh. With all traces it is what the module has: 24 MB with its
/// default limit of 65536 entries.
constexpr std::uint32_t kLiveLimit = 16384;

/// Below this height the pane takes the table's place.
constexpr int kSplitHeight = 20;
constexpr int kLeastTable = 6;

/// A record without a pid of its own cannot be asked for by pid: it is among
/// the first by pid.
constexpr std::uint32_t kDetailLimit = 256;

}  // namespace

Screen::Screen(const ScreenSetup& setup, UserStacks& stacks, Users& users, CgroupNames& cgroups,
               Reasons& reasons)
    : stacks_(stacks),
      users_(users),
      cgroups_(cgroups),
      reasons_(reasons),
      options_(setup.rows),
      delay_(setup.delay),
      limited_(setup.limit != 0),
      limit_(limited_ ? setup.limit : kLiveLimit),
      pids_(setup.pids) {
    options_.limit = setup.limit;
}

/// Whether the first tasks of the table are the first by the module's order: else they are chosen
/// here, of all. Other views add up those that cost most.
bool Screen::module_chooses() const {
    if (options_.view != View::Tasks) return true;
    return module_sort(options_.sort).exact && !options_.invert && !options_.interval &&
           options_.waits.all() && !options_.only_active && !options_.only_tagged;
}

Query Screen::query() const {
    Query query;
    query.sort = module_sort(options_.sort).sort;
    query.traces = traces_needed(options_);
    query.limit = module_chooses() ? limit_ : std::uint32_t{LT_MAX_LIMIT};
    query.pids = pids_;
    // So many are asked for: what is hidden takes no place among them
    if (limited_ && options_.hide_kernel_threads) query.flags |= LT_Q_NO_KTHREADS;
    if (limited_ && options_.hide_exited) query.flags |= LT_Q_NO_EXITED;
    return query;
}

std::optional<Query> Screen::detail_query() const {
    if (!detail_row_ || detail_row_->view != View::Tasks || options_.interval) return std::nullopt;
    const TaskId& task = detail_row_->task;
    Query query;
    query.traces = LT_TRACES_ALL;
    query.sort = LT_SORT_PID;
    // A leader is anywhere among its threads, of which there may be very many
    const bool leader = task.pid == task.tgid && task.pid != 0;
    query.limit = leader ? std::uint32_t{LT_MAX_LIMIT} : kDetailLimit;
    if (task.pid != 0)
        query.pids = {task.pid};
    else if (task.tgid != 0)
        query.pids = {task.tgid};
    return query;
}

/// The pane of a row that stands for several tasks is made from what is here, and so are
/// figures of the interval.
void Screen::fill_detail() {
    if (!detail_row_) return;
    if (detail_row_->view == View::Tasks) {
        if (options_.interval)
            detail_.show_task(context(), options_, detail_row_->task);
        else
            detail_.choose_again(context(), options_);
        return;
    }
    const auto rows = table().rows();
    const auto found = std::ranges::find(rows, *detail_row_, &Row::id);
    detail_.show_group(context(), options_, *detail_row_, found == rows.end() ? nullptr : &*found);
}

void Screen::rebuild() {
    table().update(context(), options_);
    fill_detail();
}

void Screen::update(Snapshot snapshot, const Query& query) {
    model_.update(std::move(snapshot), query);
    rebuild();
}

void Screen::update_detail(Snapshot snapshot) {
    if (detail_row_ && detail_row_->view == View::Tasks && !options_.interval)
        detail_.show_task(context(), options_, std::move(snapshot), detail_row_->task);
}

std::vector<const Task*> Screen::command_lines_wanted() {
    std::vector<const Task*> tasks;
    if (command_lines_needed(options_)) {
        for (const Task& task : model_.snapshot().tasks)
            tasks.push_back(&task);
    } else if (table().shows(Column::CommandLine)) {
        for (const Row& row : table().in_sight())
            tasks.push_back(row.task);
    }
    if (const Task* task = detail_row_ ? detail_.of_process() : nullptr) tasks.push_back(task);
    return tasks;
}

void Screen::names_changed() {
    // Only what rows are chosen or ordered by may move them.
    const bool by_name = options_.sort == Column::TopFrame || options_.sort == Column::Reason ||
                         options_.sort == Column::CommandLine || options_.sort == Column::User;
    if (!options_.waits.all() || by_name || options_.view == View::Reasons) rebuild();
}

Wish Screen::open_detail() {
    const Row* selected = table().selected();
    if (selected == nullptr) return {};
    table().pin();
    if (detail_row_ != selected->id) detail_.clear();
    detail_row_ = selected->id;
    fill_detail();
    Wish wish;
    wish.detail = true;
    return wish;
}

void Screen::close_detail() {
    detail_row_.reset();
    detail_focused_ = false;
    detail_.clear();
}

void Screen::draw_body(Canvas& canvas, int y) {
    const Area body{y, canvas.height() - 1 - y};
    const bool split = canvas.height() >= kSplitHeight;
    const int table_height = !detail_row_ ? body.height
                             : split      ? std::max(body.height / 3, kLeastTable)
                                          : 0;
    table().draw(canvas, {body.y, table_height}, context(), options_, columns_.shown(options_.view),
                 !detail_focused_);
    if (detail_row_)
        detail_.draw(canvas, {body.y + table_height, body.height - table_height}, context(),
                     detail_focused_ || !split);
}

void Screen::draw_bottom(Canvas& canvas) {
    const int y = canvas.height() - 1;
    if (mode_ != Mode::Table && !in_menu())
        prompt_.draw(canvas, y);
    else
        draw_key_bar(canvas, y);
    if (message_.empty()) return;
    const int line = mode_ == Mode::Table || in_menu() ? y : y - 1;
    canvas.clear_row(line, Style::Alarm);
    canvas.put(0, line, message_, Style::Alarm);
}

void Screen::draw(Canvas& canvas, const std::string& clock) {
    if (canvas.width() < kLeastSize.width || canvas.height() < kLeastSize.height) {
        canvas.put(0, 0, fmt::format("terminal too small: {}x{}", canvas.width(), canvas.height()));
        canvas.put(0, 1, fmt::format("lattop needs {}x{}", kLeastSize.width, kLeastSize.height));
        return;
    }
    if (model_.empty()) return;
    if (mode_ == Mode::Help) {
        help_.draw(canvas, options_.view);
        return;
    }
    // In a tree tasks stand below the rows of the view.
    const auto rows = std::ranges::count_if(
        table().rows(), [&](const Row& row) { return row.id.view == options_.view; });
    const HeaderState state{clock,    delay_, paused_, static_cast<std::size_t>(rows),
                            options_, cost_};
    const int header = header_height(model_, state, canvas.height());
    drawn_ = canvas.size();
    header_lines_ = header;
    draw_header(canvas, model_, state);
    draw_body(canvas, header);
    if (mode_ == Mode::SortMenu) menu_.draw(canvas, header);
    if (mode_ == Mode::ColumnMenu) column_menu_.draw(canvas, header, columns_);
    draw_bottom(canvas);
}

}  // namespace lattop
