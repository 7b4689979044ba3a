// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/own_cost.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"

namespace lattop::test {

using namespace std::chrono_literals;

TEST_CASE("cost is the share of each interval, learning a part of it") {
    FakeClock clock;
    clock.cpu_used_ns = 5'000'000'000;  // before: not of the first interval
    FakeLearning learning;
    learning.now.kind = LearningState::Kind::Runs;
    CostMeter meter(clock, learning);
    Header header;
    header.time_ns = 10'000'000'000;
    header.hooks_ns = 1'000'000'000;
    header.since_ns = 8'000'000'000;
    OwnCost cost = meter.measure(header);
    CHECK(cost.cpu == 0);  // no time has passed
    CHECK(cost.hooks == 0.5);

    clock.advance(2000ms);
    clock.cpu_used_ns += 500'000'000;
    learning.now.cpu_ns = 100'000'000;
    header.time_ns += 2'000'000'000;
    header.hooks_ns += 100'000'000;
    cost = meter.measure(header);
    CHECK(cost.hooks == 0.05);
    CHECK(cost.cpu == 0.25);
    CHECK(cost.learning_cpu == 0.05);

    clock.advance(1000ms);
    header.time_ns += 1'000'000'000;
    cost = meter.measure(header);
    CHECK(cost.hooks == 0);
    CHECK(cost.cpu == 0);
    CHECK(cost.learning_cpu == 0);

    header.since_ns = header.time_ns + 1'000'000'000;  // a reset
    header.time_ns += 2'000'000'000;
    header.hooks_ns = 250'000'000;
    CHECK(meter.measure(header).hooks == 0.25);
}

TEST_CASE("each state of learning has its words") {
    using Kind = LearningState::Kind;
    struct Case {
        Kind kind;
        const char* text;
    };
    const auto [kind, text] = GENERATE(values<Case>({
        {Kind::None, ""},
        {Kind::Off, "12.0% CPU (hooks 2.0%); not learning, as asked"},
        {Kind::Refused, "12.0% CPU (hooks 2.0%); not learning: for a reason"},
        {Kind::Failed, "12.0% CPU (hooks 2.0%); learning failed: for a reason"},
        {Kind::Runs, "12.0% CPU (hooks 2.0%, learning 5.0%); 1,234 rows from 17 misses"},
    }));
    OwnCost cost;
    cost.hooks = 0.02;
    cost.cpu = 0.1;
    cost.learning_cpu = 0.05;
    cost.learning = {kind, "for a reason", 17, 1234, 0};
    CHECK(own_cost_text(cost) == text);
}

}  // namespace lattop::test
