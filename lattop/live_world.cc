// SPDX-License-Identifier: GPL-2.0-or-later
//
// See live_world.h.
#include "lattop/live_world.h"

#include "lattop/reasons/load.h"
#include "lattop/resolver_worker.h"

namespace lattop {

std::shared_ptr<DebugFetch> make_fetch() {
    if (Fetcher fetcher = debuginfod_fetcher())
        return std::make_shared<DebugFetch>(std::move(fetcher));
    return nullptr;
}

LiveWorld::LiveWorld(bool learn)
    : stacks_(std::make_unique<InlineNamer>(make_fetch())),
      learning_(learn ? start_learning() : std::make_unique<NoLearning>(LearningState::Kind::Off)),
      reasons_(load_user_reasons()) {}

}  // namespace lattop
