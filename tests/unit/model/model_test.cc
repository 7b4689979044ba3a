// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/model.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

/// A snapshot at `time` seconds of the tasks given.
Snapshot at(std::uint64_t time, const std::vector<TaskSpec>& tasks, std::uint32_t matched = 0) {
    SnapshotBuilder builder;
    builder.header.time_ns = time * kSecond;
    builder.header.since_ns = 2 * kSecond;
    for (int id = 0; id < 3; ++id)
        builder.add_trace({.id = static_cast<std::uint64_t>(100 + id), .kernel = {"f"}});
    for (const TaskSpec& task : tasks)
        builder.add_task(task);
    if (matched != 0) builder.header.tasks_matched = matched;
    return builder.snapshot();
}

}  // namespace

TEST_CASE("the first snapshot's deltas are since load") {
    Model model;
    model.update(at(12, {{.pid = 5, .blocked_ns = 4 * kSecond, .sleeps = 8}}), {});
    CHECK(model.since_load());
    CHECK(model.interval_ns() == 10 * kSecond);
    const auto& delta = model.delta(model.snapshot().tasks[0]);
    REQUIRE(delta);
    CHECK(delta->blocked_ns == 4 * kSecond);
    CHECK(model.per_second(delta->sleeps) == Approx(0.8));
}

TEST_CASE("deltas are over the real interval between two snapshots") {
    Model model;
    model.update(at(12, {{.pid = 5, .blocked_ns = 100, .sleeps = 3, .runq_ns = 9, .runs = 2}}), {});
    model.update(at(15, {{.pid = 5, .blocked_ns = 700, .sleeps = 4, .runq_ns = 10, .runs = 4}}),
                 {});
    CHECK(!model.since_load());
    CHECK(model.interval_ns() == 3 * kSecond);
    const auto& delta = model.delta(model.snapshot().tasks[0]);
    REQUIRE(delta);
    CHECK(delta->blocked_ns == 600);
    CHECK(delta->sleeps == 1);
    CHECK(delta->runq_ns == 1);
    CHECK(delta->runs == 2);
    CHECK(model.per_second(delta->blocked_ns) == Approx(200));
}

TEST_CASE("a reused pid is a new task: nothing of the old one is subtracted") {
    Model model;
    model.update(at(12, {{.pid = 5, .blocked_ns = 900, .start_ns = 1}}), {});
    model.update(at(13, {{.pid = 5, .blocked_ns = 50, .start_ns = 2}}), {});
    const auto& delta = model.delta(model.snapshot().tasks[0]);
    REQUIRE(delta);
    CHECK(delta->blocked_ns == 50);
}

TEST_CASE("a task that was beyond the limit before has no delta") {
    Model model;
    model.update(at(12, {{.pid = 5, .blocked_ns = 900}}, /*matched=*/2), {});
    model.update(at(13, {{.pid = 6, .blocked_ns = 1000}, {.pid = 5, .blocked_ns = 900}}), {});
    CHECK(!model.delta(model.snapshot().tasks[0]));
    REQUIRE(model.delta(model.snapshot().tasks[1]));
    CHECK(model.delta(model.snapshot().tasks[1])->blocked_ns == 0);
}

TEST_CASE("a task that another query left out before has no delta") {
    Model model;
    model.update(at(12, {{.pid = 5, .blocked_ns = 900}}), {.flags = LT_Q_NO_KTHREADS});
    model.update(at(13, {{.pid = 6, .blocked_ns = 1000}, {.pid = 5, .blocked_ns = 910}}), {});
    CHECK(!model.delta(model.snapshot().tasks[0]));
    CHECK(model.delta(model.snapshot().tasks[1])->blocked_ns == 10);
}

TEST_CASE("a reset begins again at zero") {
    Model model;
    model.update(at(12, {{.pid = 5, .blocked_ns = 900, .sleeps = 3}}), {});
    SnapshotBuilder builder;
    builder.header.time_ns = 14 * kSecond;
    builder.header.since_ns = 13 * kSecond;
    builder.add_task({.pid = 5, .blocked_ns = 950, .sleeps = 1});
    model.update(builder.snapshot(), {});
    CHECK(model.since_load());
    CHECK(model.interval_ns() == kSecond);
    CHECK(model.delta(model.snapshot().tasks[0])->blocked_ns == 950);
}

TEST_CASE("a single figure that goes down restarts") {
    Model model;
    model.update(at(12, {{.pid = 5, .blocked_ns = 900, .sleeps = 30}}), {});
    model.update(at(13, {{.pid = 5, .blocked_ns = 100, .sleeps = 31}}), {});
    CHECK(model.delta(model.snapshot().tasks[0])->blocked_ns == 100);
    CHECK(model.delta(model.snapshot().tasks[0])->sleeps == 1);
}

TEST_CASE("records that stand for exited tasks have no delta") {
    Model model;
    const TaskSpec exited{.pid = 0, .tgid = 7, .blocked_ns = 10, .kind = LT_KIND_EXITED};
    const TaskSpec other{.pid = 0, .tgid = 0, .blocked_ns = 10, .kind = LT_KIND_OTHER};
    model.update(at(12, {exited, other}), {});
    model.update(at(13, {exited, other}), {});
    CHECK(!model.delta(model.snapshot().tasks[0]));
    CHECK(model.delta(model.snapshot().tasks[1]));
}

TEST_CASE("entries are compared by trace and program, whatever their place") {
    Model model;
    model.update(at(12, {{.pid = 5,
                          .blocked_ns = 93,
                          .entries = {{.trace = 0, .blocked_ns = 50, .hist = {{3, 1}}},
                                      {.trace = 1, .blocked_ns = 40},
                                      {.blocked_ns = 3}}}}),
                 {});
    model.update(at(13, {{.pid = 5,
                          .blocked_ns = 157,
                          .exec_id = 2,
                          .entries = {{.trace = 1, .blocked_ns = 90},
                                      {.trace = 0, .blocked_ns = 55, .hist = {{3, 4}}},
                                      {.trace = 0, .blocked_ns = 7, .exec_id = 2},
                                      {.blocked_ns = 5}}}}),
                 {});
    const auto entries = model.snapshot().entries_of(model.snapshot().tasks[0]);
    CHECK(model.delta(entries[0])->blocked_ns == 50);
    CHECK(model.delta(entries[1])->blocked_ns == 5);
    CHECK(model.delta(entries[1])->hist[3] == 3);
    CHECK(model.delta(entries[2])->blocked_ns == 7);
    CHECK(model.delta(entries[3])->blocked_ns == 2);
}

TEST_CASE("an entry has no delta when only the worst trace was known before") {
    Model model;
    model.update(at(12, {{.pid = 5, .traces_total = 9, .entries = {{.trace = 0}}}}), {});
    model.update(at(13, {{.pid = 5, .traces_total = 9, .entries = {{.trace = 1}}}}), {});
    CHECK(!model.delta(model.snapshot().entries[0]));
}

TEST_CASE("a sleep that moves to another trace while it goes on grew by the interval alone") {
    // In the first trace, with or without sleeps that have ended there; then in the second one
    const std::uint64_t ended = GENERATE(0ULL, 40ULL);
    const bool all = GENERATE(true, false);
    const auto moved = [&](bool yes, std::uint64_t ongoing) {
        const std::uint64_t n_ended = ended == 0 ? 0 : 1;
        std::vector<EntrySpec> entries;
        if (yes)
            entries.push_back(
                {.trace = 1, .blocked_ns = ongoing, .sleeps = 1, .ongoing_ns = ongoing});
        if (!yes || (ended != 0 && all))
            entries.push_back({.trace = 0,
                               .blocked_ns = ended + (yes ? 0 : ongoing),
                               .sleeps = n_ended + (yes ? 0 : 1),
                               .ongoing_ns = yes ? 0 : ongoing});
        TaskSpec task{.pid = 5,
                      .blocked_ns = ended + ongoing,
                      .sleeps = n_ended + 1,
                      .ongoing_ns = ongoing,
                      .entries = entries};
        Snapshot snapshot = at(yes ? 13 : 12, {task});
        if (yes && ended != 0) snapshot.tasks[0].traces_total = 2;
        return snapshot;
    };
    Model model;
    model.update(moved(false, 1000), {});
    model.update(moved(true, 1100), {});
    const Snapshot& now = model.snapshot();
    std::uint64_t blocked = 0;
    std::uint64_t sleeps = 0;
    for (const Entry& entry : now.entries_of(now.tasks[0])) {
        REQUIRE(model.delta(entry));
        blocked += model.delta(entry)->blocked_ns;
        sleeps += model.delta(entry)->sleeps;
    }
    CHECK(blocked == 100);
    CHECK(sleeps == 0);
}

TEST_CASE("snapshots at the same moment give rates of zero, not infinities") {
    Model model;
    model.update(at(12, {{.pid = 5}}), {});
    model.update(at(12, {{.pid = 5}}), {});
    CHECK(model.interval_ns() == 0);
    CHECK(model.per_second(100) == 0);
}

}  // namespace lattop::test
