// SPDX-License-Identifier: GPL-2.0-or-later
//
// Of each task's stacks the longest sleep whose object is known, over many snapshots: what
// report and run tell of a program that has ended, where no sleep is under way any more.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "lattop/model/sleep_objects.h"

namespace lattop {

struct LongestWait {
    std::uint64_t ns = 0;                 ///< as long as it was seen to last
    const std::string* object = nullptr;  ///< any bytes; the text that SleepObjects keeps
};

class LongestWaits {
public:
    /// The sleeps under way in a snapshot of raw figures, with all traces. `objects` stay for as
    /// long as what is found: one sleep may stand in other stacks from snapshot to snapshot, each
    /// of which would have a copy of a text of 16 KiB.
    void add(const Snapshot& snapshot, const SleepObjects& objects);

    /// nullptr where nothing is known. Valid until the next add().
    [[nodiscard]] const LongestWait* find(const Snapshot& snapshot, const Task& task,
                                          const Entry& entry) const;

private:
    using OfTask = std::unordered_map<EntryId, LongestWait, HashEntryId>;
    std::unordered_map<TaskId, OfTask, HashTaskId> waits_;
};

}  // namespace lattop
