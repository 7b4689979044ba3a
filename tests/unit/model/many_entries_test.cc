// SPDX-License-Identifier: GPL-2.0-or-later
//
// A task may have as many stacks as its user has room for: what is done at each
// refresh takes time in proportion to all stacks, whosever they are.
#include <algorithm>
#include <ctime>
#include <utility>

#include "lattop/model/model.h"
#include "lattop/model/period.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

constexpr std::uint32_t kStacks = 32'000;

/// So many tasks share kStacks stacks, which come in the other order each time.
Snapshot machine(std::uint32_t tasks, std::uint64_t round) {
    SnapshotBuilder builder;
    builder.header.since_ns = 1;
    builder.header.time_ns = 1'000 + round;
    const std::uint32_t each = kStacks / tasks;
    for (std::uint32_t i = 0; i < each; ++i)
        builder.add_trace({.id = 1 + i, .kernel = {"schedule"}, .user = {i}});
    for (std::uint32_t pid = 1; pid <= tasks; ++pid) {
        TaskSpec task{.pid = pid, .blocked_ns = round * each, .sleeps = round * each};
        for (std::uint32_t i = 0; i < each; ++i)
            task.entries.push_back(
                {.trace = round % 2 == 0 ? i : each - 1 - i, .blocked_ns = round, .sleeps = round});
        builder.add_task(task);
    }
    return builder.snapshot();
}

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The best of a few.
template <typename Update>
double cost(std::uint32_t tasks, const Update& update) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
        Snapshot first = machine(tasks, 1);
        Snapshot second = machine(tasks, 2);
        const double before = cpu_seconds();
        update(std::move(first), std::move(second));
        best = std::min(best, cpu_seconds() - before);
    }
    return best;
}

}  // namespace

TEST_CASE("one task with thousands of stacks costs about what many tasks with the same do") {
    const auto of_model = [](Snapshot first, Snapshot second) {
        Model model;
        model.update(std::move(first), {});
        model.update(std::move(second), {});
        CHECK(model.snapshot().entries.size() == kStacks);
    };
    const auto of_period = [](const Snapshot& first, const Snapshot& second) {
        Period period(Period::Begin::AtFirst);
        period.add(first);
        period.add(second);
        CHECK(period.snapshot().entries.size() == kStacks);
    };
    constexpr double kMost = 15;  // looked for one after another: 80, and caches have their say
    const double by_many = cost(80, of_model);
    CHECK(cost(1, of_model) < kMost * by_many);
    const double sum_by_many = cost(80, of_period);
    CHECK(cost(1, of_period) < kMost * sum_by_many);
}

}  // namespace lattop::test
