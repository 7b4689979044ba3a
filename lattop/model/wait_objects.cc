// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wait_objects.h.
#include "lattop/model/wait_objects.h"

#include <exception>

#include "lattop/model/live_stack.h"

namespace lattop {
namespace {

bool may_wait_for_object(const Task& task) {
    return task.kind == LT_KIND_TASK && task.asleep() && !task.kernel_thread();
}

}  // namespace

WaitObjects find_wait_objects(std::span<const Task* const> tasks, const FindObject& find,
                              const std::function<Snapshot()>& look_again) {
    WaitObjects objects;
    for (const Task* task : tasks) {
        if (!may_wait_for_object(*task)) continue;
        try {
            std::string object = find(*task);
            if (!object.empty()) objects.emplace(id_of(*task), std::move(object));
        } catch (const std::exception&) {
            // /proc changes while it is read: that costs this task's alone
        }
    }
    if (objects.empty()) return objects;
    const Snapshot after = look_again();
    std::unordered_map<TaskId, std::uint64_t, HashTaskId> sleeps;  // of those still asleep
    for (const Task& task : after.tasks)
        if (task.asleep()) sleeps.emplace(id_of(task), task.sleeps);
    for (const Task* task : tasks) {
        const auto now = sleeps.find(id_of(*task));
        if (now == sleeps.end() || now->second != task->sleeps) objects.erase(id_of(*task));
    }
    return objects;
}

FindObject system_objects() {
    return [](const Task& task) { return live_object("/proc", task.tgid, task.pid); };
}

}  // namespace lattop
