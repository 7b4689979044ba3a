// SPDX-License-Identifier: GPL-2.0-or-later
//
// See wakers.h.
#include "lattop/model/wakers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lattop/model/format.h"
#include "unwind/hash.h"

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

void append_pointers(std::vector<const Waker*>& to, std::span<const Waker> wakers) {
    for (const Waker& waker : wakers)
        to.push_back(&waker);
}

std::vector<const Waker*> by_blocked(std::span<const Waker> wakers) {
    std::vector<const Waker*> sorted;
    append_pointers(sorted, wakers);
    std::ranges::stable_sort(sorted, std::greater{}, &Waker::blocked_ns);
    return sorted;
}

std::size_t HashWakerId::operator()(const WakerId& id) const {
    std::size_t hash = 0;
    for (const std::uint64_t part :
         {std::uint64_t{id.kind}, std::uint64_t{id.pid}, std::uint64_t{id.tgid}, id.start_ns,
          std::uint64_t{id.exec_id}, std::uint64_t{id.trace}, std::uint64_t{id.waited_trace}})
        hash = (hash ^ part) * kHashMultiplier;
    return hash ^ hash >> 32;
}

WakerId waker_id(const Waker& waker) {
    return {waker.kind,    waker.pid,   waker.tgid,        waker.start_ns,
            waker.exec_id, waker.trace, waker.waited_trace};
}

namespace {

/// One sum for all wakers of which `key_of` is the same.
template <typename Sums, typename KeyOf>
std::vector<WakerSum> sum_by(Sums index_of_key, std::span<const Waker* const> wakers,
                             KeyOf key_of) {
    std::vector<WakerSum> sums;
    std::vector<std::unordered_set<std::uint32_t>> pids;  // of each sum
    std::uint64_t all_ns = 0;
    for (const Waker* waker : wakers) {
        const auto [found, added] = index_of_key.try_emplace(key_of(*waker), sums.size());
        if (added) {
            sums.emplace_back().worst = waker;
            pids.emplace_back();
        }
        WakerSum& sum = sums[found->second];
        if (waker->blocked_ns > sum.worst->blocked_ns) sum.worst = waker;
        sum.blocked_ns += waker->blocked_ns;
        sum.sleeps += waker->sleeps;
        sum.waited_ns += waker->waited_ns;
        pids[found->second].insert(waker->pid);
        all_ns += waker->blocked_ns;
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i].tasks = pids[i].size();
        sums[i].share = share_of(sums[i].blocked_ns, all_ns);
    }
    std::ranges::stable_sort(sums, std::greater{}, &WakerSum::blocked_ns);
    return sums;
}

}  // namespace

std::vector<WakerSum> sum_wakers(std::span<const Waker* const> wakers, Waits waits) {
    return sum_by(std::unordered_map<WakerId, std::size_t, HashWakerId>(), wakers,
                  [waits](const Waker& waker) {
                      WakerId place{.kind = waker.kind, .tgid = waker.tgid, .trace = waker.trace};
                      if (waits == Waits::Apart) place.waited_trace = waker.waited_trace;
                      return place;
                  });
}

std::vector<WakerSum> sum_wakers_by_name(std::span<const Waker* const> wakers) {
    return sum_by(
        std::map<std::pair<std::uint32_t, std::string_view>, std::size_t>(), wakers,
        [](const Waker& waker) { return std::pair(waker.kind, std::string_view(waker.comm)); });
}

std::string waker_text(const WakerSum& sum) {
    std::string text = waker_text(*sum.worst);
    if (sum.tasks > 1)
        text += fmt::format(" and {} more of its threads", with_commas(sum.tasks - 1));
    return text;
}

}  // namespace lattop
