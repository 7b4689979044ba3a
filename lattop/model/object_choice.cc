// SPDX-License-Identifier: GPL-2.0-or-later
//
// See object_choice.h.
#include "lattop/model/object_choice.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "lattop/model/sleep_objects.h"

namespace lattop {
namespace {

struct Candidate {
    const Task* task = nullptr;
    SleepId sleep;
    std::uint64_t asked_ns = 0;  // when; 0: not yet

    /// Not asked yet before asked, then what has waited longest.
    [[nodiscard]] auto order() const { return std::tuple(asked_ns, sleep.begin_ns); }
};

}  // namespace

std::vector<const Task*> ObjectChoice::choose(const Snapshot& snapshot,
                                              const std::function<bool(const Task&)>& avoided) {
    const std::uint64_t now = snapshot.header.time_ns;
    std::vector<Candidate> candidates;
    std::unordered_map<TaskId, Asked, HashTaskId> asleep;
    for (const Task& task : snapshot.tasks) {
        const auto sleep = sleep_of(snapshot, task);
        if (!sleep || task.kernel_thread() || (avoided && avoided(task))) continue;
        const auto asked = asked_.find(sleep->task);
        const bool known = asked != asked_.end() && asked->second.begin_ns == sleep->begin_ns;
        if (known) asleep.insert(*asked);
        if (!known || now - asked->second.time_ns >= again_after_ns_)
            candidates.push_back({&task, *sleep, known ? asked->second.time_ns : 0});
    }
    asked_ = std::move(asleep);
    const std::size_t n = std::min(candidates.size(), most_);
    std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(n), {},
                              &Candidate::order);
    std::vector<const Task*> chosen;
    for (const Candidate& one : std::span(candidates).first(n)) {
        asked_[one.sleep.task] = {one.sleep.begin_ns, now};
        chosen.push_back(one.task);
    }
    return chosen;
}

}  // namespace lattop
