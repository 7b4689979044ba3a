// SPDX-License-Identifier: GPL-2.0-or-later
//
// What exactly the tasks of a snapshot that sleep wait for. Called by the batch command, by
// ObjectWorker for recordings, and by reports of them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "lattop/model/model.h"

namespace lattop {

/// What a task waits for, by its identity: see wait_object.h.
using WaitObjects = std::unordered_map<TaskId, std::string, HashTaskId>;

/// What a task waits for now; "" where nothing is known.
using FindObject = std::function<std::string(const Task&)>;

/// What tasks of a snapshot wait for, of those that are known to.
using FindObjects = std::function<WaitObjects(std::span<const Task* const>)>;

/// Asks `find` for those of `tasks` that sleep. What it gives is of the sleep that a task was in
/// then.
WaitObjects ask_for_objects(std::span<const Task* const> tasks, const FindObject& find);

/// The same, then asks `look_again` for a snapshot:
/// what was found is of the sleep that `tasks` show where that goes on by then.
WaitObjects find_wait_objects(std::span<const Task* const> tasks, const FindObject& find,
                              const std::function<Snapshot()>& look_again);

/// What was recorded of the tasks of a snapshot: `recorded` gives nullptr where nothing was.
WaitObjects recorded_objects(const Snapshot& snapshot,
                             const std::function<const std::string*(const Task&)>& recorded);

/// By /proc of this machine.
FindObject system_objects();

}  // namespace lattop
