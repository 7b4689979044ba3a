// SPDX-License-Identifier: GPL-2.0-or-later
//
// A table of one view: its rows, which of them is selected, which are in sight.
// The same for every view: what differs is in columns.h. Part of the live
// screen.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lattop/model/rows.h"
#include "lattop/view/canvas.h"
#include "lattop/view/keymap.h"

namespace lattop {

/// Rows of a canvas that a view draws on.
struct Area {
    int y = 0;
    int height = 0;
};

/// A column that is shown, and how wide.
struct PlacedColumn {
    Column column;
    int width;
};

/// Which of the columns `shown` fit in `width`: those that tell least go first.
/// Pids and commands get the room that the rows need.
std::vector<PlacedColumn> place_columns(View view, std::span<const Column> shown, int width,
                                        std::span<const Row> rows);

class TableView {
public:
    /// Takes the rows of a new snapshot or of new options. The selection stays
    /// with its row; while nothing was selected, with the first row.
    void update(const TableContext& context, const RowOptions& options);

    /// Titles, and rows below them.
    void draw(Canvas& canvas, Area area, const TableContext& context, const RowOptions& options,
              std::span<const Column> shown, bool focused);

    /// As drawn last: the column whose title is at `x`, and whether there is a
    /// row at line `y` of the canvas, which is selected then.
    [[nodiscard]] std::optional<Column> title_at(int x, int y) const;
    bool select_at(int y);

    /// Moves the selection. False for commands that are none of the table's.
    bool move(Command command);

    /// Selects the next row that holds `word`, from the selected one on, with
    /// it or behind it. False where there is none.
    bool search(const TableContext& context, std::string_view word, bool behind);

    /// The selected row, nullptr when none is shown. Valid until update().
    [[nodiscard]] const Row* selected() const;

    /// Holds on to the selected row, also when it is the first one.
    void pin();

    /// Selects that row at the next update().
    void pin(RowId id) { selection_ = std::move(id); }

    [[nodiscard]] std::span<const Row> rows() const { return rows_; }

    /// As drawn last: the rows in sight, and whether a column is.
    [[nodiscard]] std::span<const Row> in_sight() const;
    [[nodiscard]] bool shows(Column column) const;

private:
    void select(std::size_t index);
    void draw_row(Canvas& canvas, int y, const TableContext& context, const Row& row, Style style);

    std::vector<Row> rows_;
    std::size_t index_ = 0;           // of the selected row
    std::optional<RowId> selection_;  // nothing: the first row, whichever it is
    std::size_t first_ = 0;           // row at the top
    std::size_t page_ = 1;            // rows in sight at the last draw
    Area area_;                       // of the last draw
    std::vector<PlacedColumn> placed_;
};

}  // namespace lattop
