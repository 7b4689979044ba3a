// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command `lattop`: the live screen in a terminal. Called by main.
#pragma once

#include <string>

#include "lattop/batch.h"
#include "lattop/options.h"
#include "lattop/term/terminal.h"

namespace lattop {

/// Runs until a key or a signal asks to end. What the screen showed then is kept;
/// why it could not be, else "", is for the user when his terminal is his again.
/// Throws Error where the source fails.
std::string run_live(const Options& options, World world, Terminal& terminal);

}  // namespace lattop
