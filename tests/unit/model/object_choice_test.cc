// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/object_choice.h"

#include <algorithm>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

struct Sleeper {
    std::uint32_t pid = 0;
    std::uint64_t begin_ns = 0;
};

Snapshot snapshot_of(std::uint64_t time_ns, const std::vector<Sleeper>& sleepers) {
    SnapshotBuilder builder;
    builder.header.time_ns = time_ns;
    for (const Sleeper& one : sleepers)
        builder.add_task({.pid = one.pid, .ongoing_ns = time_ns - one.begin_ns});
    return builder.snapshot();
}

std::vector<std::uint32_t> pids(const std::vector<const Task*>& tasks) {
    std::vector<std::uint32_t> result;
    for (const Task* task : tasks)
        result.push_back(task->pid);
    return result;
}

using Pids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("each sleep is asked about, the longest first, so many of a snapshot") {
    std::vector<Sleeper> many;
    for (std::uint32_t i = 1; i <= 150; ++i)
        many.push_back({i, (200 - i) * kMs});  // the last one sleeps longest
    ObjectChoice choice;
    const Pids first = pids(choice.choose(snapshot_of(kSecond, many)));
    REQUIRE(first.size() == ObjectChoice::kMost);
    CHECK(first.front() == 150);
    CHECK(first.back() == 87);
    CHECK(pids(choice.choose(snapshot_of(2 * kSecond, many))).back() == 23);
    CHECK(pids(choice.choose(snapshot_of(3 * kSecond, many))).size() == 22);
    CHECK(choice.choose(snapshot_of(4 * kSecond, many)).empty());
}

TEST_CASE("a sleep that goes on is asked about again after a while, behind those that are new") {
    ObjectChoice choice;
    CHECK(pids(choice.choose(snapshot_of(10 * kSecond, {{1, kSecond}, {2, 2 * kSecond}}))) ==
          Pids{1, 2});
    // 2 sleeps anew
    CHECK(pids(choice.choose(snapshot_of(11 * kSecond, {{1, kSecond}, {2, 10 * kSecond + 1}}))) ==
          Pids{2});
    CHECK(choice.choose(snapshot_of(19 * kSecond, {{1, kSecond}, {2, 10 * kSecond + 1}})).empty());
    CHECK(pids(choice.choose(snapshot_of(
              20 * kSecond, {{1, kSecond}, {2, 10 * kSecond + 1}, {3, 19 * kSecond}}))) ==
          Pids{3, 1});
    CHECK(pids(choice.choose(snapshot_of(21 * kSecond, {{2, 10 * kSecond + 1}}))) == Pids{2});
    // Who was not there meanwhile is new
    CHECK(pids(choice.choose(snapshot_of(22 * kSecond, {{1, kSecond}}))) == Pids{1});
}

TEST_CASE("who can wait for nothing, or is avoided, is not asked") {
    SnapshotBuilder builder;
    builder.header.time_ns = kSecond;
    builder.add_task({.pid = 1, .ongoing_ns = 5, .flags = LT_T_ASLEEP | LT_T_KTHREAD});
    builder.add_task({.pid = 2, .state = 'R', .flags = 0});
    builder.add_task({.pid = 3, .ongoing_ns = 5, .kind = LT_KIND_EXITED});
    builder.add_task({.pid = 4, .ongoing_ns = 5});
    builder.add_task({.pid = 5, .ongoing_ns = 5});
    ObjectChoice choice;
    const Snapshot snapshot = builder.snapshot();
    CHECK(pids(choice.choose(snapshot, [](const Task& task) { return task.pid == 4; })) == Pids{5});
    CHECK(pids(choice.choose(snapshot)) == Pids{4});
}

TEST_CASE("where somebody asks for all of a snapshot each time, all are asked about") {
    std::vector<Sleeper> many;
    for (std::uint32_t i = 1; i <= 150; ++i)
        many.push_back({i, i * kMs});
    ObjectChoice choice = ObjectChoice::all();
    for (std::uint64_t time = 1; time < 4; ++time) {
        CHECK(choice.choose(snapshot_of(time * kSecond, many)).size() == 150);
        // Also of the same moment
        CHECK(choice.choose(snapshot_of(time * kSecond, many)).size() == 150);
    }
}

}  // namespace lattop::test
