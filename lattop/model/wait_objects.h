// SPDX-License-Identifier: GPL-2.0-or-later
//
// What exactly the tasks of a snapshot that sleep wait for. Called by ObjectWorker, by the batch
// command, and by reports of recordings.
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

/// What is known of the tasks of a snapshot: `known` gives nullptr where nothing is.
WaitObjects known_objects(const Snapshot& snapshot,
                          const std::function<const std::string*(const Task&)>& known);

/// By /proc of this machine.
FindObject system_objects();

}  // namespace lattop
