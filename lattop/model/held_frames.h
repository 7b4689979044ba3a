// SPDX-License-Identifier: GPL-2.0-or-later
//
// The frames that named stacks hold, and what memory they take: each counts once and whole,
// however many stacks hold it, as long as one does. To share out what it takes among those who
// hold it would leave too little with the last one. StackNames has one.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "unwind/frame.h"

namespace lattop {

class HeldFrames {
public:
    /// The same frame; it is counted until nobody holds what this returned.
    UserFramePtr hold(UserFramePtr frame);

    /// What all that are held take, about.
    [[nodiscard]] std::size_t bytes() const { return counted_->bytes; }

private:
    /// Shared with the frames, which may be held for longer.
    struct Counted {
        std::unordered_map<const UserFrame*, std::weak_ptr<const UserFrame>> frames;
        std::size_t bytes = 0;
    };
    std::shared_ptr<Counted> counted_ = std::make_shared<Counted>();
};

}  // namespace lattop
