// SPDX-License-Identifier: GPL-2.0-or-later
//
// See own_cost.h.
#include "lattop/model/own_cost.h"

#include <fmt/format.h>

#include <utility>

#include "lattop/model/format.h"

namespace lattop {
namespace {

/// The sum of a thread is read a moment apart from the clock: never below 0.
double share(std::uint64_t before_ns, std::uint64_t now_ns, double interval_ns) {
    if (now_ns <= before_ns || interval_ns <= 0) return 0;
    return static_cast<double>(now_ns - before_ns) / interval_ns;
}

}  // namespace

OwnCost CostMeter::measure(const Header& header) {
    const Clock::Time now = clock_.now();
    const std::uint64_t cpu_ns = clock_.cpu_ns();
    const double interval_ns = std::chrono::duration<double, std::nano>(now - at_).count();
    OwnCost cost;
    cost.learning = learning_.state();
    cost.cpu = share(cpu_ns_, cpu_ns, interval_ns);
    cost.learning_cpu = share(learning_ns_, cost.learning.cpu_ns, interval_ns);
    if (hooks_at_ns_ < header.since_ns) {  // the first time, or it was reset
        hooks_at_ns_ = header.since_ns;
        hooks_ns_ = 0;
    }
    cost.hooks = share(hooks_ns_, header.hooks_ns,
                       static_cast<double>(header.time_ns) - static_cast<double>(hooks_at_ns_));
    at_ = now;
    cpu_ns_ = cpu_ns;
    learning_ns_ = cost.learning.cpu_ns;
    hooks_ns_ = header.hooks_ns;
    hooks_at_ns_ = header.time_ns;
    return cost;
}

std::string own_cost_text(const OwnCost& cost) {
    const LearningState& learning = cost.learning;
    const std::string cpu = fmt::format("{}% CPU (hooks {}%", format_percent(cost.cpu + cost.hooks),
                                        format_percent(cost.hooks));
    switch (learning.kind) {
        case LearningState::Kind::None: return "";
        case LearningState::Kind::Off: return cpu + "); not learning, as asked";
        case LearningState::Kind::Refused: return cpu + "); not learning: " + learning.why;
        case LearningState::Kind::Failed: return cpu + "); learning failed: " + learning.why;
        case LearningState::Kind::Waits: return cpu + "); not learning: no module";
        case LearningState::Kind::Runs: break;
    }
    return fmt::format("{}, learning {}%); {} rows from {} misses", cpu,
                       format_percent(cost.learning_cpu), with_commas(learning.rows),
                       with_commas(learning.misses));
}

}  // namespace lattop
