// SPDX-License-Identifier: GPL-2.0-or-later
//
// See taker.h.
#include "lattop/verbs/taker.h"

#include <utility>

#include "lattop/output.h"

namespace lattop {
namespace {

/// Each asks for a bounded number of names.
constexpr int kNameRounds = 16;

}  // namespace

void LearningFailure::look(const World& world) {
    const LearningState learning = world.learning.state();
    if (learning.kind != LearningState::Kind::Failed || std::exchange(said_, true)) return;
    complain("learning failed, user stacks may be cut from now on: " + learning.why);
}

std::optional<Snapshot> Taker::take() {
    failure_.look(world_);
    try {
        Snapshot snapshot = world_.source.take(query_, Moment::Next);
        errors_.none();
        return snapshot;
    } catch (const PassingError& error) {
        if (errors_.add(error, world_.clock.now())) complain(passing_error_text(error));
        return std::nullopt;
    }
}

Snapshot Taker::take_surely() {
    for (;;) {
        if (auto snapshot = take()) return std::move(*snapshot);
        world_.clock.sleep_until(world_.clock.now() + kTryAgainAfter);
    }
}

void find_names(const Snapshot& snapshot, const World& world) {
    for (int round = 0; round < kNameRounds; ++round) {
        world.stacks.want(snapshot);
        if (!world.stacks.wait()) break;
    }
}

void find_last_names(const Snapshot& snapshot, const World& world) {
    find_names(snapshot, world);
    complain_of_silent(world.stacks.silent());
    complain_of_put_off(world.stacks.put_off());
}

}  // namespace lattop
