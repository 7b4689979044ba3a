// SPDX-License-Identifier: GPL-2.0-or-later
//
// How many files this process may have open. The usual soft limit of 1,024 is
// for programs that use select(2); learning and naming hold a file for each
// program and library of the machine. Called by main at the start, by
// ChildCommand between fork(2) and exec, and where limits of a resolver are made.
#pragma once

#include <cstddef>

namespace lattop {

/// Raises the soft limit to the hard one. To be called once, before there are threads.
void allow_more_files();

/// What it was before: for a command started here, which may use select(2).
/// Async-signal-safe.
void restore_file_limit();

/// How many this process may have open now.
std::size_t most_open_files();

}  // namespace lattop
