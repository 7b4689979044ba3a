// SPDX-License-Identifier: GPL-2.0-or-later
//
// Of which sleepers of a snapshot it is asked what they wait for. A machine may have 10,000
// threads asleep, and to ask one costs 30 us and more of CPU; so it is asked of 64 a
// snapshot: those whose sleep was not asked about yet, the longest first, then those that were
// asked longest ago, each 10 s at the earliest, since who holds a mutex may change meanwhile.
// A server whose thousands of threads sleep for good is through after some snapshots, and what
// is new goes first from then on. Where somebody asked for it, all of them are asked about each
// time. Used by ObjectWorker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "lattop/model/model.h"

namespace lattop {

class ObjectChoice {
public:
    static constexpr std::size_t kMost = 64;  ///< of a snapshot
    static constexpr std::uint64_t kAgainAfterNs = 10'000'000'000;

    explicit ObjectChoice(std::size_t most = kMost, std::uint64_t again_after_ns = kAgainAfterNs)
        : most_(most), again_after_ns_(again_after_ns) {}

    /// Of every snapshot all.
    static ObjectChoice all() { return ObjectChoice(SIZE_MAX, 0); }

    /// Those to be asked now, but for those that `avoided` says. They point into the snapshot.
    std::vector<const Task*> choose(const Snapshot& snapshot,
                                    const std::function<bool(const Task&)>& avoided = {});

private:
    struct Asked {
        std::uint64_t begin_ns = 0;  // of the sleep
        std::uint64_t time_ns = 0;
    };

    std::size_t most_;
    std::uint64_t again_after_ns_;
    std::unordered_map<TaskId, Asked, HashTaskId> asked_;  // of those asleep in the last snapshot
};

}  // namespace lattop
