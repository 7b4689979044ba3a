// SPDX-License-Identifier: GPL-2.0-or-later
//
// What lies over the table for a moment: the help and the menu of columns to
// sort by. Part of the live screen.
#pragma once

#include <span>

#include "lattop/model/column_choice.h"
#include "lattop/model/rows.h"
#include "lattop/view/canvas.h"
#include "lattop/view/keymap.h"

namespace lattop {

/// Keys and columns, each with what it means; scrolls.
class HelpView {
public:
    void open() { scroll_ = 0; }
    void draw(Canvas& canvas, View view);

    /// False for commands that are not about scrolling.
    bool move(Command command);

private:
    int scroll_ = 0;
    int page_ = 1;
};

/// The columns of a view, one of them chosen.
class SortMenu {
public:
    void open(View view, Column column) {
        view_ = view;
        chosen_ = column;
    }
    void draw(Canvas& canvas, int y) const;
    bool move(Command command);
    [[nodiscard]] Column chosen() const { return chosen_; }

private:
    View view_ = View::Tasks;
    Column chosen_ = Column::Blocked;
};

/// The columns of a view, those that are shown marked; they can be moved.
class ColumnMenu {
public:
    void open(View view) {
        view_ = view;
        index_ = 0;
    }
    void draw(Canvas& canvas, int y, const ColumnChoice& choice) const;

    /// What a key does to the choice; false where it leaves the menu.
    bool handle(Key key, ColumnChoice& choice);

private:
    View view_ = View::Tasks;
    std::size_t index_ = 0;
};

/// The column `step` places beside another one, at the ends the same.
Column column_beside(std::span<const Column> shown, Column column, int step);

/// The keys that are worth knowing, in the last row, as many as have room.
void draw_key_bar(Canvas& canvas, int y);

/// The key whose place in that row, `width` wide, is at column `x`.
std::optional<Key> key_bar_at(int x, int width);

}  // namespace lattop
