// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop run -- COMMAND`: one command, from its first instruction, with all
// that it forks; then where they blocked. Its exit status is the command's.
#pragma once

#include "lattop/model/period.h"
#include "lattop/source/process_tree.h"
#include "lattop/verbs/arguments.h"

namespace lattop {

/// Leaves of `snapshot` the tasks of the tree. Of the root, `before` is taken
/// away: what it did before the command was its program.
void keep_tree(Snapshot& snapshot, const TreeMembers& tree, const Task& before);

/// The verb. Its exit status.
int run_command_verb(Arguments::List arguments);

}  // namespace lattop
