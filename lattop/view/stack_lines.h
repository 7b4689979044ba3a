// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the pane writes of a stack: the line of its figures and, below that of the open one, its
// reason, frames, wakers and histogram. Called by DetailView, which keeps which one is open.
#pragma once

#include <string>
#include <vector>

#include "lattop/model/groups.h"
#include "lattop/view/canvas.h"

namespace lattop {

/// A line of several styles.
struct Span {
    std::string text;
    Style style = Style::Normal;
};
using Line = std::vector<Span>;

/// "> 98.2% #####   12.3s  1204 10.2ms  1.23s* futex   worker"; `share` of the pane's time.
Line stack_line(const Snapshot& snapshot, const StackSum& stack, double share, bool open,
                const TableContext& context, Charset charset);

/// What an open stack shows below its line. `sleeper`: who is looked at as it is now, of
/// `several` or alone; without a task for nobody.
void append_open_stack(std::vector<Line>& lines, const Snapshot& snapshot, const StackSum& stack,
                       const BlockedNow& sleeper, bool several, const TableContext& context,
                       Charset charset);

/// Whether a look at the task now tells more about an entry than was recorded:
/// what exactly it waits for, and frames where some are missing.
bool wants_live(const Snapshot& snapshot, const Task& task, const Entry& entry);

/// Lines of a histogram: the shortest to the longest sleeps that there were,
/// each with its count and a bar of `bar_columns` at most.
std::vector<std::string> histogram_lines(const Histogram& hist, std::size_t bar_columns,
                                         Charset charset);

}  // namespace lattop
