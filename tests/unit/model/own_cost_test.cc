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
    CHECK(meter.measure().cpu == 0);  // no time has passed

    clock.advance(2000ms);
    clock.cpu_used_ns += 500'000'000;
    learning.now.cpu_ns = 100'000'000;
    OwnCost cost = meter.measure();
    CHECK(cost.cpu == 0.25);
    CHECK(cost.learning_cpu == 0.05);

    clock.advance(1000ms);
    cost = meter.measure();
    CHECK(cost.cpu == 0);
    CHECK(cost.learning_cpu == 0);
}

TEST_CASE("each state of learning has its words") {
    using Kind = LearningState::Kind;
    struct Case {
        Kind kind;
        const char* text;
    };
    const auto [kind, text] = GENERATE(values<Case>({
        {Kind::None, ""},
        {Kind::Off, "10.0% CPU; not learning, as asked"},
        {Kind::Refused, "10.0% CPU; not learning: for a reason"},
        {Kind::Failed, "10.0% CPU; learning failed: for a reason"},
        {Kind::Runs, "10.0% CPU (learning 5.0%); 1,234 rows learned from 17 misses"},
    }));
    OwnCost cost;
    cost.cpu = 0.1;
    cost.learning_cpu = 0.05;
    cost.learning = {kind, "for a reason", 17, 1234, 0};
    CHECK(own_cost_text(cost) == text);
}

}  // namespace lattop::test
