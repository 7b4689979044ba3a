// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wakers.h.
#include "lattop/model/wakers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lattop/model/format.h"

namespace lattop {

bool accounts_wakers(const Header& header) {
    return header.limit[LT_LIMIT_WAKERS] != 0;
}

const char* waker_kind(const Waker& waker) {
    switch (waker.kind) {
        case LT_WAKER_TASK: return "task";
        case LT_WAKER_INTERRUPT: return "interrupt";
        case LT_WAKER_HIDDEN: return "hidden";
        default: return "unknown";
    }
}

std::string waker_text(const Waker& waker) {
    switch (waker.kind) {
        case LT_WAKER_TASK: return fmt::format("{} {}", waker.comm, waker.pid);
        case LT_WAKER_INTERRUPT: return "an interrupt";
        case LT_WAKER_HIDDEN: return "a task that is not yours to see";
        default: return "?";
    }
}

std::vector<const Waker*> by_blocked(std::span<const Waker> wakers) {
    std::vector<const Waker*> sorted;
    for (const Waker& waker : wakers)
        sorted.push_back(&waker);
    std::ranges::stable_sort(sorted, std::greater{}, &Waker::blocked_ns);
    return sorted;
}

std::vector<WakerSum> sum_wakers(std::span<const Waker* const> wakers, Waits waits) {
    std::vector<WakerSum> sums;
    std::vector<std::vector<std::uint32_t>> pids;  // of each
    for (const Waker* waker : wakers) {
        auto found = std::ranges::find_if(sums, [&](const WakerSum& sum) {
            return sum.worst->kind == waker->kind && sum.worst->tgid == waker->tgid &&
                   sum.worst->trace == waker->trace &&
                   (waits == Waits::Together || sum.worst->waited_trace == waker->waited_trace);
        });
        if (found == sums.end()) {
            sums.emplace_back().worst = waker;
            found = sums.end() - 1;
            pids.emplace_back();
        }
        if (waker->blocked_ns > found->worst->blocked_ns) found->worst = waker;
        found->blocked_ns += waker->blocked_ns;
        found->sleeps += waker->sleeps;
        found->waited_ns += waker->waited_ns;
        auto& own = pids[static_cast<std::size_t>(found - sums.begin())];
        if (std::ranges::find(own, waker->pid) == own.end()) own.push_back(waker->pid);
        found->tasks = own.size();
    }
    std::ranges::stable_sort(sums, std::greater{}, &WakerSum::blocked_ns);
    return sums;
}

std::string waker_text(const WakerSum& sum) {
    std::string text = waker_text(*sum.worst);
    if (sum.tasks > 1)
        text += fmt::format(" and {} more of its threads", with_commas(sum.tasks - 1));
    return text;
}

}  // namespace lattop
