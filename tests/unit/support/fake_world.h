// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sample machine with everything a refresh loop needs, nothing of it real.
// Tests of batch, the live screen and recording build on it.
#pragma once

#include "lattop/batch.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {

struct FakeWorld {
    FakeWorld() : source([](std::uint64_t n) { return sample_machine(10 + n * 2).snapshot(); }) {
        cgroups.call(kSampleContainer, "docker:shop");
    }

    [[nodiscard]] World world() { return with(source); }

    /// The same, with snapshots from elsewhere.
    [[nodiscard]] World with(Source& other) {
        return {other, stacks, users, cgroups, clock, learning, reasons};
    }

    FakeClock clock;
    FakeSource source;
    SampleStacks stacks;
    SampleUsers users;
    FakeCgroups cgroups;
    FakeLearning learning;
    Reasons reasons;
};

}  // namespace lattop::test
