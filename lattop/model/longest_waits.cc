// SPDX-License-Identifier: GPL-2.0-or-later
//
// See longest_waits.h.
#include "lattop/model/longest_waits.h"

namespace lattop {

void LongestWaits::add(const Snapshot& snapshot, const SleepObjects& objects) {
    if (objects.empty()) return;
    for (const Task& task : snapshot.tasks) {
        const std::string* object = objects.find(snapshot, task);
        if (object == nullptr) continue;
        const Entry* now = snapshot.ongoing_entry(task);
        if (now == nullptr) continue;
        LongestWait& known = waits_[id_of(task)][id_of(snapshot, *now)];
        if (task.ongoing_ns > known.ns) known = {task.ongoing_ns, object};
    }
}

const LongestWait* LongestWaits::find(const Snapshot& snapshot, const Task& task,
                                      const Entry& entry) const {
    const auto its = waits_.find(id_of(task));
    if (its == waits_.end()) return nullptr;
    const auto found = its->second.find(id_of(snapshot, entry));
    return found == its->second.end() ? nullptr : &found->second;
}

}  // namespace lattop
