// SPDX-License-Identifier: GPL-2.0-or-later
//
// See chain.h.
#include "lattop/model/chain.h"

#include <algorithm>
#include <string_view>

#include "lattop/model/frames.h"
#include "lattop/model/model.h"

namespace lattop {
namespace {

/// A waker whose last sleep was less than this part of the wait waited there no
/// less, if that place has it asleep this part of all the time: it napped often.
constexpr std::uint64_t kLeastWaited = 20;
constexpr std::uint64_t kMostly = 2;

/// Where the waker had waited; nothing where that is not in the snapshot.
FoundWait waited_in(const Snapshot& snapshot, const Waker& waker) {
    const TaskId id = id_of(waker);
    for (const Task& task : snapshot.tasks) {
        if (id_of(task) != id) continue;
        for (const Entry& entry : snapshot.entries_of(task))
            if (entry.trace == waker.waited_trace && entry.exec_id == waker.exec_id)
                return {&task, &entry};
    }
    return {};
}

bool mostly_in(const Snapshot& snapshot, const FoundWait& wait) {
    const std::uint64_t time_ns = snapshot.header.time_ns - snapshot.header.since_ns;
    return wait.entry != nullptr && wait.entry->blocked_ns >= time_ns / kMostly;
}

}  // namespace

Chain follow_chain(const Snapshot& snapshot, const Task& task, const Entry& entry) {
    Chain chain;
    FoundWait wait{&task, &entry};
    while (true) {
        std::vector<const Waker*> wakers;
        append_pointers(wakers, snapshot.wakers_of(*wait.entry));
        chain.steps.push_back({wait.task, wait.entry, sum_wakers(wakers, Waits::Apart)});
        const ChainStep& step = chain.steps.back();
        const auto end = [&](ChainEnd how) {
            chain.end = how;
            return chain;
        };
        if (step.wakers.empty()) return end(ChainEnd::Unwoken);
        const WakerSum& by = step.wakers.front();
        if (by.worst->kind == LT_WAKER_INTERRUPT) return end(ChainEnd::Interrupt);
        if (by.worst->kind != LT_WAKER_TASK) return end(ChainEnd::Hidden);
        if (snapshot.trace_at(by.worst->waited_trace) == nullptr) return end(ChainEnd::Ran);
        const FoundWait next = waited_in(snapshot, *by.worst);
        if (by.waited_ns < by.blocked_ns / kLeastWaited && !mostly_in(snapshot, next))
            return end(ChainEnd::Ran);
        const auto been = std::ranges::find_if(chain.steps, [&](const ChainStep& before) {
            return before.entry->trace == by.worst->waited_trace &&
                   before.task->tgid == by.worst->tgid;
        });
        if (been != chain.steps.end()) {
            chain.again = static_cast<std::size_t>(been - chain.steps.begin());
            return end(ChainEnd::Again);
        }
        if (next.task == nullptr) return end(ChainEnd::NotShown);
        if (chain.steps.size() == kMaxChainSteps) return end(ChainEnd::Deep);
        wait = next;
    }
}

FoundWait find_wait(const KnownBy& known, const ChainStart& start, Reasons& reasons) {
    const Snapshot& snapshot = known.snapshot;
    const UserStacks& names = known.stacks;
    const bool any = start.pid == 0 && start.function.empty() && start.waits.filter.empty();
    FoundWait found, idle;
    const auto take = [](FoundWait& best, const Task& task, const Entry& entry) {
        if (best.entry == nullptr || entry.blocked_ns > best.entry->blocked_ns)
            best = {&task, &entry};
    };
    const auto so_named = [&](std::string_view name) {
        return name.find(start.function) != std::string_view::npos;
    };
    for (const Task& task : snapshot.tasks) {
        if (start.pid != 0 && task.pid != start.pid && task.tgid != start.pid) continue;
        if (any && task.kernel_thread()) continue;
        for (const Entry& entry : snapshot.entries_of(task)) {
            if (snapshot.trace_of(entry) == nullptr) continue;
            if (!start.function.empty() && !any_function(snapshot, task, entry, names, so_named))
                continue;
            const Reason& reason = reasons.of(snapshot, task, entry, names);
            if (!is_wanted(start.waits, known, task, &entry, reason)) continue;
            take(reason.idle ? idle : found, task, entry);
        }
    }
    return found.entry == nullptr && !any ? idle : found;
}

}  // namespace lattop
