// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop run -- COMMAND`: one command, from its first instruction, with all
// that it forks; then where they blocked. Its exit status is the command's.
#pragma once

#include <chrono>
#include <functional>

#include "lattop/child_command.h"
#include "lattop/clock.h"
#include "lattop/model/period.h"
#include "lattop/source/passing_errors.h"
#include "lattop/source/process_tree.h"
#include "lattop/verbs/arguments.h"

namespace lattop {

/// Makes the totals of `header` count from the moment of `begin`.
void count_from(const Header& begin, Header& header);

/// Where there was a reset since `begin` and `before` (keep_tree) were taken, nothing that `looked`
/// counts lies before it.
void forget_if_reset(Header& begin, Task& before, const Header& looked);

/// Leaves of `snapshot` the tasks of the tree. Of the root, `before` is taken
/// away: what it did before the command was its program.
void keep_tree(Snapshot& snapshot, const TreeMembers& tree, const Task& before);

/// Calls `look` every `delay` and at the end, until the command has ended; its
/// exit status. A look that fails is said and is the last one, in passing
/// (PassingErrors with this `patience`) the last of so many in a row: the command does not suffer
/// from its watcher. Signals to lattop alone are passed on.
int watch_to_end(ChildCommand& child, EndSignals& signals, std::chrono::milliseconds delay,
                 Clock& clock, const std::function<void()>& look,
                 std::chrono::milliseconds patience = PassingErrors::kPatience);

/// The verb. Its exit status.
int run_command_verb(Arguments& arguments);

}  // namespace lattop
