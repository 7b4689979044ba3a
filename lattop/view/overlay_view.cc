// SPDX-License-Identifier: GPL-2.0-or-later
//
// See overlay_view.h.
#include "lattop/view/overlay_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lattop/version.h"

namespace lattop {
namespace {

struct TextLine {
    std::string text;
    Style style = Style::Normal;
};

std::vector<TextLine> help_lines(View view) {
    std::vector<TextLine> lines;
    lines.push_back(
        {fmt::format("lattop {}: where tasks block, and for how long", kVersion), Style::Strong});
    lines.push_back({""});
    for (const HelpLine& line : key_help())
        lines.push_back({fmt::format("  {:<14} {}", line.keys, line.text)});
    lines.push_back({""});
    const ViewInfo& info = view_info(view);
    lines.push_back({fmt::format("{}: {}", info.name, info.help), Style::Strong});
    for (const Column column : all_columns(view))
        lines.push_back(
            {fmt::format("  {:<14} {}", column_info(column).title, column_info(column).help)});
    lines.push_back({""});
    lines.push_back(
        {"REASON and TOP FRAME are of the stack that cost the row most, and so are the"});
    lines.push_back(
        {"percentiles of a task; those of other rows are of all its sleeps. BLK%, WAIT"});
    lines.push_back({"and SLP/s are of the last interval. lattop(8) says more."});
    return lines;
}

}  // namespace

void HelpView::draw(Canvas& canvas, View view) {
    const std::vector<TextLine> lines = help_lines(view);
    page_ = std::max(canvas.height() - 1, 1);
    scroll_ = std::clamp(scroll_, 0, std::max(static_cast<int>(lines.size()) - page_, 0));
    for (int y = 0; y < page_; ++y) {
        canvas.clear_row(y);
        const auto index = static_cast<std::size_t>(scroll_ + y);
        if (index < lines.size()) canvas.put(0, y, lines[index].text, lines[index].style);
    }
    canvas.clear_row(canvas.height() - 1, Style::KeyLabel);
    canvas.put(0, canvas.height() - 1, "Up Down PgUp PgDn scroll, any other key goes back",
               Style::KeyLabel);
}

bool HelpView::move(Command command) {
    switch (command) {
        case Command::Up: scroll_ -= 1; return true;
        case Command::Down: scroll_ += 1; return true;
        case Command::PageUp: scroll_ -= page_; return true;
        case Command::PageDown: scroll_ += page_; return true;
        case Command::Home: scroll_ = 0; return true;
        case Command::End: scroll_ = INT16_MAX; return true;
        default: return false;
    }
}

Column column_beside(std::span<const Column> shown, Column column, int step) {
    const auto at = static_cast<int>(std::ranges::find(shown, column) - shown.begin());
    const int last = static_cast<int>(shown.size()) - 1;
    return shown[static_cast<std::size_t>(std::clamp(at + step, 0, last))];
}

void SortMenu::draw(Canvas& canvas, int y) const {
    static constexpr int kWidth = 24;
    const auto put = [&](int row, const std::string& text, Style style) {
        canvas.put(0, row, fmt::format(" {:<{}}", text, kWidth - 1), style, kWidth);
    };
    // On low terminals the menu scrolls with the choice.
    const int room = std::max(canvas.height() - y - 2, 1);
    const auto shown = all_columns(view_);
    const auto chosen = static_cast<int>(std::ranges::find(shown, chosen_) - shown.begin());
    const int first = std::max(chosen - room + 1, 0);
    put(y, "Sort by", Style::Title);
    for (int i = 0; i < room && first + i < static_cast<int>(shown.size()); ++i) {
        const ColumnInfo& info = column_info(shown[static_cast<std::size_t>(first + i)]);
        put(y + 1 + i, std::string(info.title),
            info.id == chosen_ ? Style::Selected : Style::KeyLabel);
    }
}

bool SortMenu::move(Command command) {
    switch (command) {
        case Command::Up: chosen_ = column_beside(all_columns(view_), chosen_, -1); return true;
        case Command::Down: chosen_ = column_beside(all_columns(view_), chosen_, 1); return true;
        case Command::Home: chosen_ = all_columns(view_).front(); return true;
        case Command::End: chosen_ = all_columns(view_).back(); return true;
        default: return false;
    }
}

void ColumnMenu::draw(Canvas& canvas, int y, const ColumnChoice& choice) const {
    static constexpr int kWidth = 84;
    const int width = std::min(kWidth, canvas.width());
    const auto put = [&](int row, const std::string& text, Style style) {
        canvas.put(0, row, fmt::format(" {:<{}}", text, kWidth - 1), style, width);
    };
    const std::vector<Column> all = choice.all(view_);
    const std::size_t n_shown = choice.shown(view_).size();
    const int room = std::max(canvas.height() - y - 3, 1);
    const int first = std::max(static_cast<int>(index_) - room + 1, 0);
    put(y, fmt::format("Columns of {}", view_info(view_).name), Style::Title);
    int row = y + 1;
    for (int i = first; i < static_cast<int>(all.size()) && i - first < room; ++i, ++row) {
        const auto at = static_cast<std::size_t>(i);
        const ColumnInfo& info = column_info(all[at]);
        put(row, fmt::format("[{}] {:<9} {}", at < n_shown ? 'x' : ' ', info.title, info.help),
            at == index_ ? Style::Selected : Style::KeyLabel);
    }
    put(row, "Space shows or hides, Left Right move, Enter keeps them", Style::Title);
}

bool ColumnMenu::handle(Key key, ColumnChoice& choice) {
    const std::vector<Column> all = choice.all(view_);
    const Column column = all.at(index_);
    const auto follow = [&] {
        const std::vector<Column> now = choice.all(view_);
        index_ = static_cast<std::size_t>(std::ranges::find(now, column) - now.begin());
    };
    if (key == Key{KeyCode::Character, U' '}) {
        choice.toggle(view_, column);
        follow();
        return true;
    }
    switch (key.code) {
        case KeyCode::Up: index_ -= index_ == 0 ? 0 : 1; return true;
        case KeyCode::Down: index_ = std::min(index_ + 1, all.size() - 1); return true;
        case KeyCode::Home: index_ = 0; return true;
        case KeyCode::End: index_ = all.size() - 1; return true;
        case KeyCode::Left:
        case KeyCode::F7:
            choice.move(view_, column, -1);
            follow();
            return true;
        case KeyCode::Right:
        case KeyCode::F8:
            choice.move(view_, column, 1);
            follow();
            return true;
        default: return false;
    }
}

namespace {

/// Calls `each` with every item that has room in `width`, and where it begins and ends.
template <typename Each>
void place_key_bar(int width, const Each& each) {
    int left = 0;
    for (const BarItem& item : key_bar()) {
        const int right = left + static_cast<int>(item.keys.size() + item.text.size());
        if (right >= width) break;
        each(item, left, right);
        left = right + 1;
    }
}

}  // namespace

std::optional<Key> key_bar_at(int x, int width) {
    std::optional<Key> key;
    place_key_bar(width, [&](const BarItem& item, int left, int right) {
        if (x >= left && x < right) key = item.key;
    });
    return key;
}

void draw_key_bar(Canvas& canvas, int y) {
    canvas.clear_row(y);
    place_key_bar(canvas.width(), [&](const BarItem& item, int left, int /*right*/) {
        const int x = canvas.put(left, y, item.keys, Style::KeyName);
        canvas.put(x, y, item.text, Style::KeyLabel);
    });
}

}  // namespace lattop
