// SPDX-License-Identifier: GPL-2.0-or-later
//
// Huge pages, which this process does not take: of 4 MB that it holds khugepaged makes 6 where it
// finds 2 MiB in a row of which some is used, and 4 again when some of that is freed. Called by
// main at the start, and by ChildCommand between fork(2) and exec, which both leave it as it is.
#pragma once

namespace lattop {

/// PR_SET_THP_DISABLE of prctl(2). To be called once, before there are threads.
void take_no_huge_pages();

/// What it was before: for a command started here. Async-signal-safe.
void restore_huge_pages();

}  // namespace lattop
