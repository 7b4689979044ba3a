// SPDX-License-Identifier: GPL-2.0-or-later
//
// See held_frames.h.
#include "lattop/model/held_frames.h"

#include <utility>

namespace lattop {
namespace {

/// Of a frame's place among those that are counted, and of its counter.
constexpr std::size_t kBytesOfPlace = 128;

}  // namespace

UserFramePtr HeldFrames::hold(UserFramePtr frame) {
    const UserFrame* its = frame.get();
    std::weak_ptr<const UserFrame>& known = counted_->frames[its];
    if (UserFramePtr held = known.lock()) return held;
    const std::size_t bytes = bytes_of(*frame) + kBytesOfPlace;
    UserFramePtr held(
        its, [counted = counted_, frame = std::move(frame), bytes](const UserFrame* gone) mutable {
            counted->frames.erase(gone);
            counted->bytes -= bytes;
            frame.reset();
        });
    known = held;
    counted_->bytes += bytes;
    return held;
}

}  // namespace lattop
