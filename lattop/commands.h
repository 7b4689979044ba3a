// SPDX-License-Identifier: GPL-2.0-or-later
//
// The commands that are words: `lattop daemon`, `lattop stack PID`. Called by
// main before it takes the command line for the live table's.
#pragma once

namespace lattop {

/// Runs the command that the first argument names; false where it names none.
/// Throws UsageError, and what the command throws.
bool run_command(int argc, const char* const* argv);

}  // namespace lattop
