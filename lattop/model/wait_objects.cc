// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wait_objects.h.
#include "lattop/model/wait_objects.h"

#include <chrono>
#include <exception>
#include <memory>

#include "lattop/model/live_stack.h"
#include "unwind/symbolizer.h"

namespace lattop {
namespace {

bool may_wait_for_object(const Task& task) {
    return task.kind == LT_KIND_TASK && task.asleep() && !task.kernel_thread();
}

}  // namespace

WaitObjects ask_for_objects(std::span<const Task* const> tasks, const FindObject& find) {
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
    return objects;
}

WaitObjects find_wait_objects(std::span<const Task* const> tasks, const FindObject& find,
                              const std::function<Snapshot()>& look_again) {
    WaitObjects objects = ask_for_objects(tasks, find);
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

WaitObjects recorded_objects(const Snapshot& snapshot,
                             const std::function<const std::string*(const Task&)>& recorded) {
    WaitObjects objects;
    for (const Task& task : snapshot.tasks)
        if (const std::string* object = recorded(task)) objects.emplace(id_of(task), *object);
    return objects;
}

FindObject system_objects() {
    return [symbolizer = std::make_shared<Symbolizer>()](const Task& task) {
        // A process's maps are read again at most once in a round.
        const auto round = std::chrono::duration_cast<std::chrono::seconds>(
            std::chrono::steady_clock::now().time_since_epoch());
        const NameAddress name = [&](std::uint64_t address) {
            return symbolizer->variable({task.pid, task.tgid, task.start_ns, task.exec_id}, address,
                                        static_cast<std::uint64_t>(round.count()));
        };
        return live_object("/proc", task.tgid, task.pid, name);
    };
}

}  // namespace lattop
