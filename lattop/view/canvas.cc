// SPDX-License-Identifier: GPL-2.0-or-later
//
// See canvas.h.
#include "lattop/view/canvas.h"

#include <algorithm>

namespace lattop {

Canvas::Canvas(Size size, Charset charset)
    : size_{std::max(size.width, 0), std::max(size.height, 0)},
      charset_(charset),
      cells_(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height)) {}

Cell& Canvas::cell(int x, int y) {
    return cells_.at(static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) +
                     static_cast<std::size_t>(x));
}

const Cell& Canvas::at(int x, int y) const {
    return const_cast<Canvas*>(this)->cell(x, y);
}

/// Puts one character at x and steps behind it; false where it does not fit.
bool Canvas::put_character(int& x, int y, char32_t c, Style style, int end) {
    const int columns = columns_of(c);
    if (x + columns > end) return false;
    cell(x, y) = {c, style};
    if (columns == 2) cell(x + 1, y) = {0, style};
    x += columns;
    return true;
}

int Canvas::put(int x, int y, std::string_view text, Style style, int columns) {
    if (y < 0 || y >= size_.height || x < 0) return x;
    const int end = columns < 0 ? size_.width : std::min(size_.width, x + columns);
    for (std::size_t at = 0; at < text.size();)
        if (!put_character(x, y, next_printable(text, at, charset_), style, end)) break;
    return x;
}

void Canvas::put_right(int x, int y, std::string_view text, int columns, Style style) {
    const int blank = std::max(columns - text_columns(text, charset_), 0);
    put(x + blank, y, text, style, columns - blank);
}

void Canvas::style_row(int y, Style style, int x) {
    if (y < 0 || y >= size_.height) return;
    for (; x < size_.width; ++x)
        cell(x, y).style = style;
}

void Canvas::clear_row(int y, Style style) {
    if (y < 0 || y >= size_.height) return;
    for (int x = 0; x < size_.width; ++x)
        cell(x, y) = {U' ', style};
}

std::string Canvas::text() const {
    std::string result;
    for (int y = 0; y < size_.height; ++y) {
        std::string row;
        for (int x = 0; x < size_.width; ++x)
            if (const char32_t c = at(x, y).character; c != 0) append_utf8(row, c);
        row.erase(row.find_last_not_of(' ') + 1);
        result += row + "\n";
    }
    return result;
}

std::string Canvas::styles() const {
    static constexpr std::string_view kLetters = ".dsTOSstUKAnl";
    std::string result;
    for (int y = 0; y < size_.height; ++y) {
        for (int x = 0; x < size_.width; ++x)
            result += kLetters.at(static_cast<std::size_t>(at(x, y).style));
        result += "\n";
    }
    return result;
}

int text_columns(std::string_view text, Charset charset) {
    int columns = 0;
    for (std::size_t at = 0; at < text.size();)
        columns += columns_of(next_printable(text, at, charset));
    return columns;
}

}  // namespace lattop
