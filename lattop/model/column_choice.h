// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which columns each view shows, and in which order: chosen with F2, kept in a
// file of the user's. A view that was never changed has all of its columns but those
// that are to be chosen, and so has what a newer lattop adds to it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/model/columns.h"

namespace lattop {

class ColumnChoice {
public:
    /// Throws Error, naming the line of `name` that is not understood.
    static ColumnChoice parse(std::string_view text, std::string_view name);

    /// As parse() takes it.
    [[nodiscard]] std::string text() const;

    /// The columns shown.
    [[nodiscard]] std::vector<Column> shown(View view) const;

    /// All columns of the view: those shown in their order, then the others.
    [[nodiscard]] std::vector<Column> all(View view) const;

    /// Shows a column, or hides it; the last one stays.
    void toggle(View view, Column column);

    /// Moves a column that is shown, one place left (below 0) or right.
    void move(View view, Column column, int step);

    bool operator==(const ColumnChoice&) const = default;

private:
    std::vector<Column>& chosen(View view);

    // As views(); nothing: as lattop has them.
    std::array<std::optional<std::vector<Column>>, kViews> chosen_;
};

/// $XDG_CONFIG_HOME/lattop/columns.conf; "" where there is no home.
std::string column_choice_path();

/// What stands in the file at `path`; lattop's own choice where there is none.
ColumnChoice load_column_choice(const std::string& path);

/// Throws Error where it cannot be written.
void save_column_choice(const ColumnChoice& choice, const std::string& path);

}  // namespace lattop
