// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the live table shows and how, as far as its user expects to find it again:
// kept in a file of his when it ends, read by the live command when it begins.
// Options of the command line go before it and are not kept, nor is what is a question of the
// moment: a filter, tags, only active tasks.
#pragma once

#include <string>
#include <string_view>

#include "lattop/model/columns.h"
#include "lattop/model/rows.h"

namespace lattop {

struct ScreenChoice {
    View view = View::Tasks;
    Column sort = Column::Blocked;  ///< one of the view's
    bool invert = false;
    bool hide_kernel_threads = false;
    bool hide_idle = false;
    bool hide_exited = false;
    bool tree = false;      ///< in the view of processes
    bool interval = false;  ///< figures are of that

    /// Throws Error, naming the line of `name` that is not understood.
    static ScreenChoice parse(std::string_view text, std::string_view name);

    /// As parse() takes it.
    [[nodiscard]] std::string text() const;

    bool operator==(const ScreenChoice&) const = default;
};

ScreenChoice choice_of(const RowOptions& rows);

/// Makes `rows` begin as was chosen, where the command line does not say
/// otherwise: it can ask for an order (`sort_given`), and to hide something.
void begin_with(const ScreenChoice& choice, bool sort_given, RowOptions& rows);

/// What to keep where `kept` was kept before: what differs between the beginning and the end.
ScreenChoice to_keep(ScreenChoice kept, const ScreenChoice& begun, const ScreenChoice& ended);

/// $XDG_CONFIG_HOME/lattop/screen.conf; "" where there is no home.
std::string screen_choice_path();

/// What stands in the file at `path`; lattop's own choice where there is none.
ScreenChoice load_screen_choice(const std::string& path);

/// Throws Error where it cannot be written.
void save_screen_choice(const ScreenChoice& choice, const std::string& path);

}  // namespace lattop
