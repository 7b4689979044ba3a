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

WaitObjects known_objects(const Snapshot& snapshot,
                          const std::function<const std::string*(const Task&)>& known) {
    WaitObjects objects;
    for (const Task& task : snapshot.tasks)
        if (const std::string* object = known(task)) objects.emplace(id_of(task), *object);
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
