// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a screen looks like, as cells: views draw on it, a terminal shows it, a
// test compares its text. Whatever text is put, only printable characters reach
// a cell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/model/format.h"

namespace lattop {

/// What a cell means; the terminal decides how that looks.
enum class Style : unsigned char {
    Normal,
    Dim,          ///< beside the point
    Strong,       ///< a figure worth a look
    Title,        ///< column titles
    SortTitle,    ///< the title of the column sorted by
    Selected,     ///< the selected row
    SelectedDim,  ///< the same, while the keys go elsewhere
    Tagged,       ///< a row that is tagged
    User,         ///< user frames
    Kernel,       ///< kernel frames
    Alarm,        ///< something was lost, or failed
    KeyName,      ///< of the key bar
    KeyLabel,
};

struct Cell {
    char32_t character = U' ';  ///< 0: the right half of a wide one
    Style style = Style::Normal;

    bool operator==(const Cell&) const = default;
};

struct Size {
    int width = 0;
    int height = 0;

    bool operator==(const Size&) const = default;
};

class Canvas {
public:
    Canvas(Size size, Charset charset);

    [[nodiscard]] Size size() const { return size_; }
    [[nodiscard]] int width() const { return size_.width; }
    [[nodiscard]] int height() const { return size_.height; }
    [[nodiscard]] Charset charset() const { return charset_; }
    [[nodiscard]] const Cell& at(int x, int y) const;

    /// Puts text at (x, y), cut at `columns` (all that are left if negative)
    /// and at the right edge. The answer is the column behind it. Outside the
    /// canvas nothing happens.
    int put(int x, int y, std::string_view text, Style style = Style::Normal, int columns = -1);

    /// The same, aligned right in `columns`; text too long loses its end.
    void put_right(int x, int y, std::string_view text, int columns, Style style = Style::Normal);

    /// Gives every cell of a row a style, from column `x` on.
    void style_row(int y, Style style, int x = 0);

    /// Makes a row blank, in `style`.
    void clear_row(int y, Style style = Style::Normal);

    /// Rows as UTF-8, without blanks at their ends.
    [[nodiscard]] std::string text() const;

    /// One letter a cell for its style, as many rows as text(); for tests.
    [[nodiscard]] std::string styles() const;

private:
    Cell& cell(int x, int y);
    bool put_character(int& x, int y, char32_t c, Style style, int end);

    Size size_;
    Charset charset_;
    std::vector<Cell> cells_;
};

/// Columns that text takes on a canvas.
int text_columns(std::string_view text, Charset charset);

}  // namespace lattop
