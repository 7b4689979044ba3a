// SPDX-License-Identifier: GPL-2.0-or-later
//
// The commands that are words: `lattop record`, `lattop stack PID` and so on.
// Called by main before it takes the command line for the live table's.
#pragma once

#include <optional>

namespace lattop {

/// Runs the command that the first argument names; its exit status. Nothing
/// where it names none. Throws UsageError, and what the command throws.
std::optional<int> run_command(int argc, const char* const* argv);

}  // namespace lattop
