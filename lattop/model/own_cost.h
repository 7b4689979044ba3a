// SPDX-License-Identifier: GPL-2.0-or-later
//
// What lattop itself costs: the module's hooks, the CPU time of this process and
// of its image readers, and of that what teaching the module took. Measured by the commands at each
// refresh, shown in the header of the live screen and of the batch text.
#pragma once

#include <cstdint>
#include <string>

#include "lattop/clock.h"
#include "lattop/model/learning.h"
#include "lattop/source/snapshot.h"

namespace lattop {

/// Shares of one CPU in the last interval; 1 is 100%.
struct OwnCost {
    LearningState learning;
    double hooks = 0;         ///< of the module's hooks, on all CPUs
    double cpu = 0;           ///< of this process and its image readers
    double learning_cpu = 0;  ///< of it
};

class CostMeter {
public:
    CostMeter(const Clock& clock, const Learning& learning)
        : clock_(clock), learning_(learning), at_(clock.now()), cpu_ns_(clock.cpu_ns()) {}

    /// Since the last call; since construction at the first one, where the
    /// hooks' part is since load or reset. @p header: of the newest snapshot.
    OwnCost measure(const Header& header);

private:
    const Clock& clock_;
    const Learning& learning_;
    Clock::Time at_;
    std::uint64_t cpu_ns_;
    std::uint64_t learning_ns_ = 0;
    std::uint64_t hooks_ns_ = 0;
    std::uint64_t hooks_at_ns_ = 0;
};

/// One line: "1.2% CPU (hooks 0.4%, learning 0.1%); 1,234 rows from 17
/// misses"; the first figure is all of it, hooks included;
/// "" where learning is of no interest.
std::string own_cost_text(const OwnCost& cost);

}  // namespace lattop
