// SPDX-License-Identifier: GPL-2.0-or-later
//
// See live_world.h.
#include "lattop/live_world.h"

#include <fmt/format.h>

#include <utility>

#include "lattop/debug_cache.h"
#include "lattop/model/worker_namer.h"
#include "lattop/output.h"
#include "lattop/reasons/load.h"
#include "lattop/resolver_worker.h"

namespace lattop {

std::string names_given_up_text(std::size_t missing) {
    return fmt::format("names are not waited for any longer: {} stacks stay addresses", missing);
}

StopNaming stop_naming_by(EndSignals& signals, std::function<bool()> next_ends) {
    return
        [&signals, next_ends = std::move(next_ends), stopped = false](std::size_t missing) mutable {
            if (stopped) return true;
            if (signals.pending() == 0) return false;
            if (!next_ends()) return true;  // it is for the command: as long as it waits
            stopped = true;
            complain(names_given_up_text(missing));
            signals.let_through();
            return true;
        };
}

StopNaming stop_naming_at(const std::optional<Clock::Time>& until, StopNaming stop) {
    return [&until, stop = std::move(stop), said = false](std::size_t missing) mutable {
        if (stop(missing)) return true;
        if (!until || std::chrono::steady_clock::now() < *until) return false;
        if (!std::exchange(said, true)) complain(names_given_up_text(missing));
        return true;
    };
}

LiveWorld::LiveWorld(bool learn, StopNaming stop)
    : stacks_(std::make_unique<StoppableNamer>(std::make_unique<WorkerNamer>(make_fetch(complain)),
                                               std::move(stop))),
      learning_(learn ? start_learning() : std::make_unique<NoLearning>(LearningState::Kind::Off)),
      reasons_(load_user_reasons()) {}

}  // namespace lattop
