// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/held_frames.h"

#include "tests/unit/support/catch.h"

namespace lattop::test {

TEST_CASE("a frame counts once and whole until nobody holds it any more") {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    UserFrame long_name;
    long_name.symbol.resize(kMiB, 'x');
    auto frame = std::make_shared<const UserFrame>(long_name);
    const std::weak_ptr<const UserFrame> left = frame;
    HeldFrames frames;
    CHECK(frames.bytes() == 0);
    UserFramePtr first = frames.hold(frame);
    UserFramePtr second = frames.hold(frame);
    CHECK(first == frame);
    CHECK(frames.hold(first) == frame);
    frame.reset();
    CHECK(frames.bytes() > kMiB);
    CHECK(frames.bytes() < 2 * kMiB);
    first.reset();
    CHECK(frames.bytes() > kMiB);
    const std::weak_ptr<const UserFrame> held = second;
    second.reset();
    CHECK(frames.bytes() == 0);
    CHECK(left.expired());
}

TEST_CASE("a frame may be held for longer than it is counted") {
    UserFramePtr held;
    {
        HeldFrames frames;
        held = frames.hold(std::make_shared<const UserFrame>());
    }
    CHECK(held->symbol.empty());
}

}  // namespace lattop::test
