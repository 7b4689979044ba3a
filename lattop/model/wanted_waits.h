// SPDX-License-Identifier: GPL-2.0-or-later
//
// A snapshot of the sleeps that are wanted alone (rows.h: is_wanted). Used by the verbs that
// work on the figures of a whole recording. A table filters its rows instead
// (rows.h), by the same words: a task there is known by its worst stack.
#pragma once

#include <string>

#include "lattop/model/rows.h"

namespace lattop {

/// ", no waits for work, filter futex": for people; "" for all.
std::string wanted_text(const WantedWaits& wanted);

/// Leaves in a snapshot the entries that are wanted, and the tasks that have any;
/// what a task was blocked and slept, its longest sleep and its ongoing one are then
/// of these alone. Records without entries stay where the filter knows them.
/// `names` and `reasons` are of that snapshot.
void keep_wanted(Snapshot& snapshot, const WantedWaits& wanted, const UserStacks& names,
                 Users& users, Reasons& reasons, CgroupNames& cgroups);

}  // namespace lattop
