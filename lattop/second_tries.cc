// SPDX-License-Identifier: GPL-2.0-or-later
//
// See second_tries.h.
#include "lattop/second_tries.h"

#include <algorithm>

namespace lattop {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxWaiting = 64;
constexpr unsigned kMaxTries = 10;
constexpr std::chrono::seconds kFirstWait = 4s;
constexpr std::chrono::seconds kLongestWait = 10min;

}  // namespace

void SecondTries::failed(const lt_miss& miss, Time now) {
    const ProgramId program{miss.tgid, miss.exec_id};
    if (waiting_.contains(program)) return;
    if (waiting_.size() >= kMaxWaiting)
        waiting_.erase(std::ranges::max_element(
            waiting_, {}, [](const auto& known) { return known.second.tries; }));
    waiting_.emplace(program, Waiting{miss, now + kFirstWait});
}

std::vector<lt_miss> SecondTries::due(Time now) {
    std::vector<lt_miss> misses;
    for (auto& [program, its] : waiting_) {
        if (now < its.due) continue;
        misses.push_back(its.miss);
        its.due = now + std::min(kFirstWait * (2U << its.tries), kLongestWait);
        // Given up it stays, so that it does not begin from the start.
        if (++its.tries == kMaxTries) its.due = Time::max();
    }
    return misses;
}

std::optional<SecondTries::Time> SecondTries::next() const {
    const auto soonest =
        std::ranges::min_element(waiting_, {}, [](const auto& known) { return known.second.due; });
    if (soonest == waiting_.end() || soonest->second.due == Time::max()) return std::nullopt;
    return soonest->second.due;
}

}  // namespace lattop
