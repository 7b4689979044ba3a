// SPDX-License-Identifier: GPL-2.0-or-later
//
// See longest_waits.h.
#include "lattop/model/longest_waits.h"

#include <algorithm>

namespace lattop {

void LongestWaits::add(const Snapshot& snapshot, const SleepObjects& objects) {
    if (objects.empty()) return;
    for (const Task& task : snapshot.tasks) {
        const std::string* object = objects.find(snapshot, task);
        if (object == nullptr) continue;
        const Entry* now = snapshot.ongoing_entry(task);
        if (now == nullptr) continue;
        const EntryId stack = id_of(snapshot, *now);
        std::vector<LongestWait>& waits = waits_[id_of(task)];
        auto known = std::ranges::find(waits, stack, &LongestWait::stack);
        if (known == waits.end()) known = waits.insert(known, {stack, 0, ""});
        if (task.ongoing_ns > known->ns) *known = {stack, task.ongoing_ns, *object};
    }
}

const LongestWait* LongestWaits::find(const Snapshot& snapshot, const Task& task,
                                      const Entry& entry) const {
    const auto its = waits_.find(id_of(task));
    if (its == waits_.end()) return nullptr;
    const auto found = std::ranges::find(its->second, id_of(snapshot, entry), &LongestWait::stack);
    return found == its->second.end() ? nullptr : &*found;
}

}  // namespace lattop
