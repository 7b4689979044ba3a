// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wakers.h.
#include "lattop/model/wakers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

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

}  // namespace lattop
