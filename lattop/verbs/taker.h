// SPDX-License-Identifier: GPL-2.0-or-later
//
// Takes snapshots for verbs without a screen. A read that fails in passing is said
// once and tried again, as long as PassingErrors puts up with it. And what names them when
// none is due any more. Used by record, run, and verbs over this machine.
#pragma once

#include <optional>

#include "lattop/batch.h"
#include "lattop/source/passing_errors.h"

namespace lattop {

/// Says once that nothing more is learned. That it was refused is no news: most users may not.
class LearningFailure {
public:
    /// To be called at each snapshot or look.
    void look(const World& world);

private:
    bool said_ = false;
};

class Taker {
public:
    Taker(Query query, World world) : query_(std::move(query)), world_(world) {}

    /// Nothing where the read failed in passing: the figures of the next one have all.
    /// Says, once, that nothing more is learned.
    std::optional<Snapshot> take();

    /// Where there is no next one: tries until it succeeds. Throws Error.
    Snapshot take_surely();

private:
    Query query_;
    World world_;
    LearningFailure failure_;
    PassingErrors errors_;
};

/// Asks for the names of the snapshot's stacks and waits for them, and for those asked for before,
/// as long as whoever made the world says.
void find_names(const Snapshot& snapshot, const World& world);

/// The same, before they are written or shown: says whose names did not come as their memory
/// or files do not answer.
void find_last_names(const Snapshot& snapshot, const World& world);

}  // namespace lattop
