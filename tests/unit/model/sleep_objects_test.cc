// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/sleep_objects.h"

#include "lattop/model/longest_waits.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

constexpr TaskId kWorker{LT_KIND_TASK, 7, 6, 1000};

std::string object_at(const SleepObjects& objects, std::uint64_t begin_ns, std::uint64_t time_ns) {
    const std::string* text = objects.find({kWorker, begin_ns}, time_ns);
    return text == nullptr ? "-" : *text;
}

/// Thread 7 asleep in one of two stacks for so long, at `time_ns`.
Snapshot asleep_at(std::uint64_t time_ns, std::uint64_t ongoing_ns, std::uint64_t trace_id = 1) {
    SnapshotBuilder builder;
    builder.header.time_ns = time_ns;
    const auto one = builder.add_trace({.id = 1, .kernel = {"futex_wait"}});
    const auto other = builder.add_trace({.id = 2, .kernel = {"pipe_read"}});
    const auto flags = [&](std::uint64_t id) {
        return id == trace_id && ongoing_ns != 0 ? std::uint32_t{LT_E_ONGOING} : 0U;
    };
    builder.add_task(
        {.pid = 7,
         .tgid = 6,
         .ongoing_ns = ongoing_ns,
         .flags = ongoing_ns != 0 ? std::uint32_t{LT_T_ASLEEP} : 0U,
         .entries = {{.trace = one, .flags = flags(1)}, {.trace = other, .flags = flags(2)}}});
    return builder.snapshot();
}

}  // namespace

TEST_CASE("a sleep is the same one in all snapshots that show it") {
    const Snapshot first = asleep_at(5000, 1000);
    const Snapshot second = asleep_at(9000, 5000);
    const Snapshot another = asleep_at(9000, 4999);
    CHECK(sleep_of(first, first.tasks[0]) == SleepId{kWorker, 4000});
    CHECK(sleep_of(second, second.tasks[0]) == SleepId{kWorker, 4000});
    CHECK(sleep_of(another, another.tasks[0]) == SleepId{kWorker, 4001});
    const Snapshot awake = asleep_at(9000, 0);
    CHECK(!sleep_of(awake, awake.tasks[0]));
    const Snapshot absurd = asleep_at(9000, 9001);
    CHECK(!sleep_of(absurd, absurd.tasks[0]));
}

TEST_CASE("what a sleep waited for is told as of the snapshot that shows it") {
    SleepObjects objects;
    CHECK(objects.add(2000, {kWorker, 1000}, "mutex a, held by 8 x (S)"));
    CHECK(objects.add(2500, {kWorker, 1000}, "mutex a, held by 8 x (S)"));
    CHECK(objects.add(3000, {kWorker, 1000}, "mutex a, held by 9 y (S)"));
    CHECK(objects.add(6000, {kWorker, 5000}, "fd 3: /tmp/a"));
    CHECK(object_at(objects, 1000, 1500) == "mutex a, held by 8 x (S)");  // before it was asked
    CHECK(object_at(objects, 1000, 2000) == "mutex a, held by 8 x (S)");
    CHECK(object_at(objects, 1000, 2999) == "mutex a, held by 8 x (S)");
    CHECK(object_at(objects, 1000, 3000) == "mutex a, held by 9 y (S)");
    CHECK(object_at(objects, 1000, 99000) == "mutex a, held by 9 y (S)");
    CHECK(object_at(objects, 5000, 5500) == "fd 3: /tmp/a");
    CHECK(object_at(objects, 4000, 4500) == "-");
    CHECK(object_at(objects, 7000, 7500) == "-");
    CHECK(object_at(objects, 500, 600) == "-");
}

TEST_CASE("what goes back in time is refused, and what has no room") {
    SleepObjects objects(2);
    CHECK(objects.add(3000, {kWorker, 1000}, "a"));
    CHECK(!objects.add(2999, {kWorker, 1000}, "b"));
    CHECK(!objects.add(3000, {kWorker, 999}, "b"));
    CHECK(objects.add(3000, {{LT_KIND_TASK, 8, 8, 1}, 999}, "b"));
    CHECK(!objects.add(4000, {kWorker, 1000}, "c"));
    CHECK(object_at(objects, 1000, 5000) == "a");
}

TEST_CASE("of each stack the longest sleep whose object is known is remembered") {
    SleepObjects objects;
    LongestWaits waits;
    waits.add(asleep_at(5000, 4000), objects);  // of which nothing is known
    objects.add(5500, {kWorker, 5000}, "mutex a");
    waits.add(asleep_at(5500, 500), objects);
    waits.add(asleep_at(6500, 1500), objects);
    objects.add(8000, {kWorker, 7900}, "mutex b");
    waits.add(asleep_at(8000, 100), objects);
    objects.add(9000, {kWorker, 8500}, "fd 3: pipe:[81]");
    waits.add(asleep_at(9000, 500, 2), objects);
    waits.add(asleep_at(9500, 0), objects);
    const Snapshot end = asleep_at(9500, 0);
    const Task& task = end.tasks[0];
    const LongestWait* lock = waits.find(end, task, end.entries_of(task)[0]);
    REQUIRE(lock != nullptr);
    CHECK((*lock->object == "mutex a" && lock->ns == 1500));
    const LongestWait* pipe = waits.find(end, task, end.entries_of(task)[1]);
    REQUIRE(pipe != nullptr);
    CHECK((*pipe->object == "fd 3: pipe:[81]" && pipe->ns == 500));
}

TEST_CASE("a sleep that stands in another stack each time has one text") {
    SleepObjects objects;
    LongestWaits waits;
    objects.add(2000, {kWorker, 1000}, std::string(16'384, 'x'));
    const std::string* text = objects.find({kWorker, 1000}, 2000);
    for (std::uint64_t id = 1; id <= 2; ++id) {
        const Snapshot snapshot = asleep_at(2000 + id, 1000 + id, id);
        waits.add(snapshot, objects);
        const Task& task = snapshot.tasks[0];
        const LongestWait* wait = waits.find(snapshot, task, snapshot.entries_of(task)[id - 1]);
        REQUIRE(wait != nullptr);
        CHECK(wait->object == text);
    }
}

}  // namespace lattop::test
