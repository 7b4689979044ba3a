// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which sleeps are wanted, and a snapshot of those alone. Used by the verbs that
// work on the figures of a whole recording. A table filters its rows instead
// (rows.h), by the same words: a task there is known by its worst stack.
#pragma once

#include <string>

#include "lattop/model/rows.h"

namespace lattop {

/// --filter and --no-idle: what the keys F4 and i are on the screen.
struct WantedWaits {
    std::string filter{};    ///< as RowOptions::filter
    bool hide_idle = false;  ///< without sleeps that are waiting for work

    [[nodiscard]] bool all() const { return filter.empty() && !hide_idle; }
};

/// ", no waits for work, filter futex": for people; "" for all.
std::string wanted_text(const WantedWaits& wanted);

bool is_wanted(const WantedWaits& wanted, const KnownBy& known, Reasons& reasons, const Task& task,
               const Entry& entry);

/// Leaves in a snapshot the entries that are wanted, and the tasks that have any;
/// what a task was blocked and slept, its longest sleep and its ongoing one are then
/// of these alone. Records without entries stay where the filter knows them.
/// `names` and `reasons` are of that snapshot.
void keep_wanted(Snapshot& snapshot, const WantedWaits& wanted, const UserStacks& names,
                 Users& users, Reasons& reasons, CgroupNames& cgroups);

}  // namespace lattop
