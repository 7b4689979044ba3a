// SPDX-License-Identifier: GPL-2.0-or-later
//
// Programs that could not be taught for the moment, as their lesson was refused for a locked
// memory map or a full table, or they were left alone: a program that is wholly asleep misses
// nothing more, so it is tried again without being asked. Ever less often, and ten times in half
// an hour and more; 64 programs at a time, of which that goes that was tried most often. Used by
// Resolver.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "lattop/model/program_id.h"
#include "module/uapi/lattop.h"

namespace lattop {

class SecondTries {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Tried for the first time, or again in vain.
    void failed(const lt_miss& miss, Time now);
    /// It was taught, or is gone.
    void done(const ProgramId& program) { waiting_.erase(program); }

    /// A miss of each program whose time has come.
    std::vector<lt_miss> due(Time now);
    /// When the next one's does.
    [[nodiscard]] std::optional<Time> next() const;

private:
    struct Waiting {
        lt_miss miss;
        Time due;
        unsigned tries = 0;
    };
    std::map<ProgramId, Waiting> waiting_;
};

}  // namespace lattop
