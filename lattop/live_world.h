// SPDX-License-Identifier: GPL-2.0-or-later
//
// The module and this machine, as commands that do not open a screen use them:
// snapshots, names found beside them, users, the clock, and who teaches the module
// meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lattop/batch.h"
#include "lattop/end_signals.h"
#include "lattop/model/object_worker.h"
#include "lattop/model/stack_names.h"
#include "lattop/model/stoppable_namer.h"
#include "lattop/source/proc_source.h"

namespace lattop {

class LiveWorld {
public:
    /// Throws NotUsableError. `learn`: teach the module to walk user stacks,
    /// where this user may. `stop`: whether to wait for names no longer.
    LiveWorld(bool learn, StopNaming stop);

    [[nodiscard]] World world() {
        return {source_, stacks_, users_, cgroups_, clock_, *learning_, reasons_, &objects_};
    }

private:
    ProcSource source_;
    StackNames stacks_;
    SystemUsers users_;
    SystemCgroups cgroups_;
    SystemClock clock_;
    std::unique_ptr<Learning> learning_;
    Reasons reasons_;
    ObjectWorker objects_;
};

/// A signal that asks to end ends the wait for names. Where `next_ends` says so, for
/// good, which is said: what has none yet is shown by its addresses, and the next
/// signal ends this process at once. Else until it has been waited for. Both outlive
/// the world.
StopNaming stop_naming_by(EndSignals& signals, std::function<bool()> next_ends);

/// As `stop`, and at that time where one is set, which is said. It outlives the world.
StopNaming stop_naming_at(const std::optional<Clock::Time>& until, StopNaming stop);

/// How long names are waited for behind a signal: who asked for an end gets it, also where a
/// file system does not answer.
inline constexpr std::chrono::seconds kNamesAfterSignal{5};

/// What they say.
std::string names_given_up_text(std::size_t missing);

}  // namespace lattop
