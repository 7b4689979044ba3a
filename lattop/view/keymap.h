// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which key does what: one table that the screen obeys and the help shows.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lattop/model/rows.h"
#include "lattop/term/terminal.h"

namespace lattop {

enum class Command {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Open,
    Close,
    ShowView,
    NextView,
    PreviousView,
    Help,
    Search,
    SearchNext,
    Filter,
    SortMenu,
    SortLeft,
    SortRight,
    SortBy,
    Invert,
    ToggleKernelThreads,
    ToggleExited,
    ToggleActive,
    ToggleIdle,
    ToggleInterval,
    ToggleTree,
    Fold,
    Unfold,
    Follow,
    Tag,
    TagProcess,
    UntagAll,
    ToggleTagged,
    CopyStack,
    Columns,
    Pause,
    Delay,
    Refresh,
    Reset,
    StepBack,
    StepOn,
    JumpBack,
    JumpOn,
    Quit,
};

struct Binding {
    Key key;
    Command command;
    Column column = Column::Blocked;  ///< of SortBy
    View view = View::Tasks;          ///< of ShowView
};

/// A line of the help: the keys as people call them, and what they do.
struct HelpLine {
    std::string_view keys;
    std::string_view text;
};

/// What a key does in table and pane; nothing for keys without meaning.
std::optional<Binding> binding_of(Key key);

std::span<const HelpLine> key_help();

/// The bar at the bottom: "F1" "Help", … and the key that each stands for.
struct BarItem {
    std::string_view keys;
    std::string_view text;
    Key key;
};
std::span<const BarItem> key_bar();

}  // namespace lattop
