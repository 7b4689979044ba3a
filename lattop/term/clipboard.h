// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a program asks its terminal to put text into the clipboard. Called by
// CursesTerminal.
#pragma once

#include <string>
#include <string_view>

namespace lattop {

/// xterm's OSC 52 (its "ctlseqs" document), which kitty, alacritty, foot, tmux and
/// others know too; a terminal that does not, or may not, ignores it or
/// shows some of it. Any bytes.
std::string clipboard_sequence(std::string_view text);

}  // namespace lattop
