// SPDX-License-Identifier: GPL-2.0-or-later
//
// See sleep_objects.h.
#include "lattop/model/sleep_objects.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lattop {

std::optional<SleepId> sleep_of(const Snapshot& snapshot, const Task& task) {
    const std::uint64_t now = snapshot.header.time_ns;
    const bool known = task.kind == LT_KIND_TASK && task.asleep() && task.ongoing_ns != 0 &&
                       task.ongoing_ns <= now;
    if (!known) return std::nullopt;
    return SleepId{id_of(task), now - task.ongoing_ns};
}

bool SleepObjects::add(std::uint64_t time_ns, const SleepId& sleep, std::string text) {
    if (moments_ >= most_) return false;
    std::vector<Moment>& moments = tasks_[sleep.task];
    Moment moment{sleep.begin_ns, time_ns, nullptr};
    if (!moments.empty()) {
        const Moment& last = moments.back();
        if (last.order() > moment.order()) return false;
        if (last.begin_ns == sleep.begin_ns && *last.text == text) return true;
    }
    moment.text = &*texts_.insert(std::move(text)).first;
    moments.push_back(moment);
    ++moments_;
    return true;
}

void SleepObjects::add(const FoundObjects& found) {
    for (const FoundObjects::Object& object : found.objects)
        add(found.time_ns, object.sleep, object.text);
}

const std::string* SleepObjects::find(const SleepId& sleep, std::uint64_t time_ns) const {
    const auto its = tasks_.find(sleep.task);
    if (its == tasks_.end()) return nullptr;
    const std::vector<Moment>& moments = its->second;
    const auto of_sleep = [&](auto moment) {
        return moment != moments.end() && moment->begin_ns == sleep.begin_ns;
    };
    const auto later =
        std::ranges::upper_bound(moments, std::pair(sleep.begin_ns, time_ns), {}, &Moment::order);
    if (later != moments.begin() && of_sleep(std::prev(later))) return std::prev(later)->text;
    return of_sleep(later) ? later->text : nullptr;
}

const std::string* SleepObjects::find(const Snapshot& snapshot, const Task& task) const {
    if (empty()) return nullptr;
    const auto sleep = sleep_of(snapshot, task);
    return sleep ? find(*sleep, snapshot.header.time_ns) : nullptr;
}

}  // namespace lattop
