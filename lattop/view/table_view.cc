// SPDX-License-Identifier: GPL-2.0-or-later
//
// See table_view.h.
#include "lattop/view/table_view.h"

#include <algorithm>

namespace lattop {
namespace {

constexpr int kLeastPid = 5;
constexpr int kLeastCommand = 8;
constexpr int kLeastFrame = 9;
constexpr int kGoodFrame = 16;
constexpr int kLeastCgroup = 12;
constexpr int kLeastCommandLine = 12;

int pid_width(std::span<const Row> rows) {
    std::uint32_t largest = 0;
    for (const Row& row : rows)
        largest = std::max({largest, row.task->pid, row.task->tgid});
    return std::max(kLeastPid, static_cast<int>(std::to_string(largest).size()));
}

int command_width(View view, std::span<const Row> rows) {
    if (view != View::Tasks) return column_info(Column::Command).width;  // "worker +11"
    std::size_t longest = 0;
    for (const Row& row : rows)
        longest = std::max(longest, command_text(*row.task).size());
    return std::clamp(static_cast<int>(longest), kLeastCommand, column_info(Column::Command).width);
}

int fixed_width(const std::vector<PlacedColumn>& placed) {
    int width = 0;
    for (const PlacedColumn& one : placed)
        width += one.width + 1;
    return width - 1;
}

void drop(std::vector<PlacedColumn>& placed, Column column) {
    std::erase_if(placed, [&](const PlacedColumn& one) { return one.column == column; });
}

/// Leaves out columns in this order until the rest fits.
void drop_until_it_fits(std::vector<PlacedColumn>& placed, std::span<const Column> columns,
                        int width) {
    for (const Column column : columns) {
        if (fixed_width(placed) <= width) return;
        drop(placed, column);
    }
}

/// nullptr for one that is not shown.
PlacedColumn* place_of(std::vector<PlacedColumn>& placed, Column column) {
    const auto found = std::ranges::find(placed, column, &PlacedColumn::column);
    return found == placed.end() ? nullptr : &*found;
}

/// The columns that take what room there is.
void set_widths(std::vector<PlacedColumn>& placed, int command, int frame, int cgroup,
                int command_line) {
    if (PlacedColumn* place = place_of(placed, Column::Command)) place->width = command;
    if (PlacedColumn* place = place_of(placed, Column::TopFrame)) place->width = frame;
    if (PlacedColumn* place = place_of(placed, Column::Cgroup)) place->width = cgroup;
    if (PlacedColumn* place = place_of(placed, Column::CommandLine)) place->width = command_line;
}

/// Before a command in a tree.
std::string_view branch_text(Row::Branch branch, Charset charset) {
    const bool utf8 = charset == Charset::Utf8;
    switch (branch) {
        case Row::Branch::None: return "";
        case Row::Branch::Folded: return "+ ";
        case Row::Branch::Inner: return utf8 ? "\u251c\u2500 " : "|- ";
        case Row::Branch::Last: return utf8 ? "\u2514\u2500 " : "`- ";
    }
    return "";
}

}  // namespace

std::vector<PlacedColumn> place_columns(View view, std::span<const Column> shown, int width,
                                        std::span<const Row> rows) {
    std::vector<PlacedColumn> placed;
    for (const Column column : shown)
        placed.push_back(
            {column, column == Column::Pid ? pid_width(rows) : column_info(column).width});
    const int command_need = command_width(view, rows);
    const int good_cgroup = column_info(Column::Cgroup).width;
    set_widths(placed, command_need, kGoodFrame, good_cgroup,
               column_info(Column::CommandLine).width);

    drop_until_it_fits(placed, view_info(view).goes_first, width);
    // The others go only where even short names do not fit.
    if (fixed_width(placed) > width) {
        set_widths(placed, kLeastCommand, kLeastFrame, kLeastCgroup, kLeastCommandLine);
        drop_until_it_fits(placed, view_info(view).goes_last, width);
    }

    // Room that is left: the cgroup's up to its width, the command's up to its
    // need, the rest the frame's or, where there is one, the command line's.
    int left = std::max(width - fixed_width(placed), 0);
    if (PlacedColumn* cgroup = place_of(placed, Column::Cgroup)) {
        const int more = std::min(good_cgroup - cgroup->width, left);
        cgroup->width += more;
        left -= more;
    }
    PlacedColumn* command = place_of(placed, Column::Command);
    PlacedColumn* frame = place_of(placed, Column::TopFrame);
    const int to_frame = frame == nullptr ? 0 : std::clamp(kGoodFrame - frame->width, 0, left);
    const int to_command =
        command == nullptr ? 0 : std::clamp(command_need - command->width, 0, left - to_frame);
    if (command != nullptr) command->width += to_command;
    left -= to_command;
    if (PlacedColumn* line = place_of(placed, Column::CommandLine)) {
        const int more = std::min(to_frame, left);
        if (frame != nullptr) frame->width += more;
        line->width += left - more;
    } else if (frame != nullptr) {
        frame->width += left;
    }
    return placed;
}

void TableView::update(const TableContext& context, const RowOptions& options) {
    rows_ = make_rows(context, options);
    if (!selection_) {
        index_ = 0;
        return;
    }
    const auto found = std::ranges::find(rows_, *selection_, &Row::id);
    if (found != rows_.end())
        index_ = static_cast<std::size_t>(found - rows_.begin());
    else if (!rows_.empty())
        select(std::min(index_, rows_.size() - 1));  // it has gone: who is there now
}

void TableView::select(std::size_t index) {
    if (rows_.empty()) return;
    index_ = std::min(index, rows_.size() - 1);
    selection_ = rows_[index_].id;
}

void TableView::pin() {
    select(index_);
}

const Row* TableView::selected() const {
    return index_ < rows_.size() ? &rows_[index_] : nullptr;
}

bool TableView::move(Command command) {
    switch (command) {
        case Command::Up: select(index_ == 0 ? 0 : index_ - 1); return true;
        case Command::Down: select(index_ + 1); return true;
        case Command::PageUp: select(index_ - std::min(index_, page_)); return true;
        case Command::PageDown: select(index_ + page_); return true;
        case Command::Home:
            selection_.reset();
            index_ = 0;
            return true;
        case Command::End: select(rows_.size()); return true;
        default: return false;
    }
}

bool TableView::search(const TableContext& context, std::string_view word, bool behind) {
    if (word.empty()) return true;
    for (std::size_t step = behind ? 1 : 0; step < rows_.size() + (behind ? 1 : 0); ++step) {
        const std::size_t index = (index_ + step) % rows_.size();
        if (!row_contains(context, rows_[index], word)) continue;
        select(index);
        return true;
    }
    return false;
}

std::span<const Row> TableView::in_sight() const {
    const std::size_t n = first_ < rows_.size() ? std::min(page_, rows_.size() - first_) : 0;
    return std::span(rows_).subspan(n == 0 ? 0 : first_, n);
}

bool TableView::shows(Column column) const {
    return std::ranges::count(placed_, column, &PlacedColumn::column) != 0;
}

std::optional<Column> TableView::title_at(int x, int y) const {
    if (y != area_.y || area_.height <= 0) return std::nullopt;
    int right = 0;
    for (const PlacedColumn& one : placed_) {
        right += one.width + 1;
        if (x < right) return one.column;
    }
    return std::nullopt;
}

bool TableView::select_at(int y) {
    const int line = y - area_.y - 1;
    if (line < 0 || line >= area_.height - 1) return false;
    const std::size_t index = first_ + static_cast<std::size_t>(line);
    if (index >= rows_.size()) return false;
    select(index);
    return true;
}

void TableView::draw_row(Canvas& canvas, int y, const TableContext& context, const Row& row,
                         Style style) {
    int x = 0;
    for (const PlacedColumn& one : placed_) {
        Style cell_style = style;
        std::string text;
        if (one.column == Column::TopFrame) {
            const TopFrame top = top_frame(context, row);
            text = fitted_name(top.text, static_cast<std::size_t>(one.width));
            if (style == Style::Normal) cell_style = top.user ? Style::User : Style::Kernel;
        } else if (one.column == Column::Command) {
            const std::string_view branch = branch_text(row.branch, canvas.charset());
            const int room = one.width - text_columns(branch, canvas.charset());
            text = std::string(branch) +
                   command_text(row, static_cast<std::size_t>(std::max(room, 0)));
        } else {
            text = cell_text(context, row, one.column);
            const bool idle = one.column == Column::Reason && row.reason->idle;
            if (idle && style == Style::Normal) cell_style = Style::Dim;
        }
        if (column_info(one.column).left)
            canvas.put(x, y, text, cell_style, one.width);
        else
            canvas.put_right(x, y, text, one.width, cell_style);
        x += one.width + 1;
    }
}

void TableView::draw(Canvas& canvas, Area area, const TableContext& context,
                     const RowOptions& options, std::span<const Column> shown, bool focused) {
    area_ = area;
    if (area.height <= 0) return;
    placed_ = place_columns(options.view, shown, canvas.width(), rows_);
    canvas.clear_row(area.y, Style::Title);
    int x = 0;
    for (const PlacedColumn& one : placed_) {
        const ColumnInfo& info = column_info(one.column);
        const Style style = one.column == options.sort ? Style::SortTitle : Style::Title;
        if (info.left)
            canvas.put(x, area.y, info.title, style, one.width);
        else
            canvas.put_right(x, area.y, info.title, one.width, style);
        x += one.width + 1;
    }

    page_ = static_cast<std::size_t>(std::max(area.height - 1, 1));
    first_ = std::min(first_, index_);
    if (index_ >= first_ + page_) first_ = index_ - page_ + 1;
    first_ = std::min(first_, rows_.size() - std::min(rows_.size(), page_));
    for (std::size_t i = 0; i < page_ && first_ + i < rows_.size(); ++i) {
        const int y = area.y + 1 + static_cast<int>(i);
        const Row& row = rows_[first_ + i];
        Style style = row.id.view == View::Tasks && row.task->exited() ? Style::Dim : Style::Normal;
        if (row_tagged(row, options)) style = Style::Tagged;
        if (first_ + i == index_) {
            style = focused ? Style::Selected : Style::SelectedDim;
            canvas.clear_row(y, style);
        }
        draw_row(canvas, y, context, row, style);
    }
}

}  // namespace lattop
