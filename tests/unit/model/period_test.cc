// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/period.h"

#include <numeric>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

constexpr std::uint64_t kSince = 1'000;

/// A machine of tasks with one trace; time goes on by 100 ns a snapshot.
struct Machine {
    SnapshotBuilder builder;
    std::uint32_t trace;

    explicit Machine(std::uint64_t round) {
        builder.header.since_ns = kSince;
        builder.header.time_ns = 2'000 + 100 * round;
        trace = builder.add_trace({.id = 5, .kernel = {"schedule", "pipe_read"}, .user = {7}});
    }
    Machine& task(std::uint32_t pid, std::uint64_t blocked, std::uint64_t sleeps,
                  std::uint64_t max = 0, std::map<std::size_t, std::uint64_t> hist = {}) {
        builder.add_task({.pid = pid,
                          .blocked_ns = blocked,
                          .sleeps = sleeps,
                          .max_ns = max,
                          .runq_ns = blocked / 10,
                          .runs = sleeps,
                          .flags = 0,
                          .entries = {{.trace = trace,
                                       .blocked_ns = blocked,
                                       .sleeps = sleeps,
                                       .max_ns = max,
                                       .hist = std::move(hist)}}});
        return *this;
    }
    Machine& exited(std::uint64_t blocked, std::uint64_t sleeps) {
        builder.add_task({.pid = 0,
                          .tgid = 0,
                          .blocked_ns = blocked,
                          .sleeps = sleeps,
                          .kind = LT_KIND_EXITED_ALL,
                          .state = 'X',
                          .flags = LT_T_EXITED});
        return *this;
    }
    Snapshot snapshot() { return builder.snapshot(); }
};

const Task* find(const Snapshot& snapshot, std::uint32_t pid) {
    const auto found = std::ranges::find(snapshot.tasks, pid, &Task::pid);
    return found == snapshot.tasks.end() ? nullptr : &*found;
}

std::uint64_t total(const Snapshot& snapshot) {
    return std::accumulate(
        snapshot.tasks.begin(), snapshot.tasks.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Task& task) { return sum + task.blocked_ns; });
}

}  // namespace

TEST_CASE("no sleep of a period is under way for longer than it was blocked") {
    const auto shown = [](std::uint64_t round, std::uint64_t blocked, std::uint64_t ongoing,
                          std::uint64_t elsewhere) {
        SnapshotBuilder builder;
        builder.header.since_ns = kSince;
        builder.header.time_ns = 2'000 + round;
        const auto one = builder.add_trace({.id = 1, .kernel = {"pipe_read"}});
        const auto other = builder.add_trace({.id = 2, .kernel = {"futex_wait"}});
        builder.add_task({.blocked_ns = blocked + elsewhere,
                          .sleeps = 2,
                          .entries = {{.trace = one,
                                       .blocked_ns = blocked,
                                       .ongoing_ns = ongoing,
                                       .flags = ongoing == 0 ? 0U : std::uint32_t{LT_E_ONGOING}},
                                      {.trace = other, .blocked_ns = elsewhere}}});
        return builder.snapshot();
    };
    Period period;
    period.add(shown(0, 100, 0, 0));
    period.add(shown(1, 120, 0, 0));
    period.add(shown(2, 110, 15, 200));  // its sleep moved, and it sleeps there again
    const Snapshot sum = period.snapshot();
    REQUIRE(sum.entries.size() == 2);
    CHECK(sum.entries[1].blocked_ns == 10);
    CHECK(sum.entries[1].ongoing_ns == 10);
}

TEST_CASE("a period takes what its tasks take, however many snapshots show them") {
    Period period;
    period.add(Machine(0).task(1, 100, 1).snapshot());
    const std::uint64_t one = period.bytes();
    for (std::uint64_t round = 1; round < 100; ++round)
        period.add(Machine(round).task(1, 100 + round, 1 + round).snapshot());
    CHECK(period.bytes() == one);
    period.add(Machine(100).task(1, 300, 200).task(2, 1, 1).snapshot());
    CHECK(period.bytes() > one);
    CHECK(period.bytes() < 2 * one + 2'000);

    // Ten short tasks a second, all day long
    CHECK(864'000 * (period.bytes() - one) < most_kept_on(std::uint64_t{8} << 30));
    CHECK(most_kept_on(0) == std::uint64_t{1} << 30);
    CHECK(most_kept_on(std::uint64_t{1} << 40) == std::uint64_t{16} << 30);
}

TEST_CASE("a period that takes more than it may ends with what it has seen") {
    const auto other_each_time = GENERATE(0, 1, 2, 3);
    const auto round_of = [&](std::uint32_t n) {
        SnapshotBuilder builder;
        builder.header.since_ns = kSince;
        builder.header.time_ns = 2'000 + n;
        const std::uint32_t trace =
            builder.add_trace({.id = other_each_time == 1 ? 1 + n : 1, .kernel = {"schedule"}});
        TaskSpec task{.pid = other_each_time == 0 ? 1 + n : 1, .blocked_ns = 2 + n, .sleeps = 2};
        if (other_each_time == 2) task.start_ns += n;
        EntrySpec entry{.trace = trace, .blocked_ns = 2 + n, .sleeps = 2};
        if (other_each_time == 3) entry.wakers = {{.pid = 10 + n, .blocked_ns = 1}};
        task.entries = {entry};
        builder.add_task(task);
        return builder.snapshot();
    };
    constexpr std::uint64_t kMost = 100'000;
    Period period(Period::Begin::AtNothing, kMost);
    std::uint32_t n = 0;
    const auto go_on = [&] {
        for (; n < 1'000; ++n)
            period.add(round_of(n));
    };
    CHECK_THROWS_WITH(go_on(),
                      has_text("tasks in ") && has_text("more than the 97.6K that they may"));
    CHECK((n > 25 && n < 500));
    CHECK(period.bytes() < kMost + 4'000);
    const Snapshot seen = period.snapshot();
    CHECK(seen.header.time_ns == 2'000 + n - 1);
    CHECK(total(seen) >= n);
}

TEST_CASE("a period counts from its first snapshot on, new tasks whole") {
    Period period;
    period.add(Machine(0).task(1, 500, 5, 90, {{6, 5}}).snapshot());
    period.add(Machine(1).task(1, 600, 7, 90, {{5, 2}, {6, 5}}).task(2, 40, 1, 40).snapshot());
    period.add(Machine(2).task(1, 650, 8, 90, {{5, 3}, {6, 5}}).task(2, 90, 2, 50).snapshot());
    const Snapshot all = period.snapshot();
    CHECK(all.header.since_ns == 2'000);
    CHECK(all.header.time_ns == 2'200);
    REQUIRE(all.tasks.size() == 2);
    CHECK(find(all, 1)->blocked_ns == 150);
    CHECK(find(all, 1)->sleeps == 3);
    CHECK(find(all, 1)->runq_ns == 15);
    CHECK(find(all, 2)->blocked_ns == 90);
    const Entry& entry = all.entries_of(*find(all, 1)).front();
    CHECK(entry.blocked_ns == 150);
    CHECK(entry.hist[5] == 3);
    CHECK(entry.hist[6] == 0);
    // The longest was before: here none was longer than its bucket says.
    CHECK(entry.max_ns == 63);
    CHECK(all.entries_of(*find(all, 2)).front().max_ns == 50);
    const auto kernel = all.kernel_frames(*all.trace_of(entry));
    REQUIRE(kernel.size() == 2);
    CHECK(kernel[1].symbol.name == "pipe_read");
    CHECK(all.user_frames(*all.trace_of(entry)).front() == 7);
}

TEST_CASE("tasks that end stay as they were seen, the rest stands under [exited]") {
    Period period;
    period.add(Machine(0).task(1, 500, 5).task(2, 100, 1).exited(1'000, 10).snapshot());
    period.add(Machine(1).task(1, 500, 5).task(2, 180, 2).exited(1'000, 10).snapshot());
    // 2 slept 20 more, then merged; a task that no snapshot shows slept 30.
    period.add(Machine(2).task(1, 510, 6).exited(1'000 + 200 + 30, 10 + 3 + 1).snapshot());
    const Snapshot all = period.snapshot();
    REQUIRE(all.tasks.size() == 3);
    CHECK(find(all, 1)->blocked_ns == 10);
    CHECK(find(all, 2)->blocked_ns == 80);
    CHECK(find(all, 2)->exited());
    CHECK(find(all, 2)->state == 'X');
    CHECK(find(all, 0)->kind == LT_KIND_EXITED_ALL);
    CHECK(find(all, 0)->blocked_ns == 50);
    CHECK(find(all, 0)->sleeps == 2);
    REQUIRE(all.entries_of(*find(all, 0)).size() == 1);
    CHECK(all.entries_of(*find(all, 0)).front().trace == kOtherTrace);
    CHECK(all.entries_of(*find(all, 0)).front().blocked_ns == 50);
    CHECK(total(all) == 510 + 1'230 - 1'600);
}

TEST_CASE("after a reset figures go on from where they were") {
    Period period;
    period.add(Machine(0).task(1, 500, 5).snapshot());
    period.add(Machine(1).task(1, 600, 6).snapshot());
    Machine reset(2);
    reset.builder.header.since_ns = 2'150;
    period.add(reset.task(1, 30, 1).snapshot());
    const Snapshot all = period.snapshot();
    CHECK(find(all, 1)->blocked_ns == 130);
    CHECK(all.entries_of(*find(all, 1)).front().blocked_ns == 130);
}

TEST_CASE("the longest sleep is never too short, however long it was") {
    // The last bucket has all from 2^39 ns on
    constexpr std::uint64_t kHour = std::uint64_t{3'600} * kSecond;
    constexpr std::size_t kLast = LT_HIST_BUCKETS - 1;
    Period period;
    period.add(Machine(0).task(1, 2 * kHour, 2, kHour + 5, {{kLast, 2}}).snapshot());
    period.add(Machine(1).task(1, 5 * kHour, 5, kHour + 5, {{kLast, 5}}).snapshot());
    CHECK(find(period.snapshot(), 1)->max_ns == kHour + 5);
    period.add(Machine(2).task(1, 5 * kHour, 5, kHour + 5, {{kLast, 5}}).snapshot());
    CHECK(find(period.snapshot(), 1)->max_ns == kHour + 5);
}

TEST_CASE("the longest sleep is one of all that a reset lies between") {
    const auto after = [](Machine machine) {
        machine.builder.header.since_ns = 2'150;
        return machine.snapshot();
    };
    Period period;
    period.add(Machine(0).task(1, 500, 5, 400, {{6, 4}, {8, 1}}).snapshot());
    period.add(Machine(1).task(1, 600, 6, 400, {{6, 5}, {8, 1}}).task(2, 70, 1, 70).snapshot());
    SECTION("it was before") {
        period.add(after(Machine(2).task(1, 30, 1, 30, {{4, 1}}).task(2, 20, 1, 20)));
        const Snapshot all = period.snapshot();
        CHECK(find(all, 1)->max_ns == 100);
        CHECK(find(all, 2)->max_ns == 70);
    }
    SECTION("it is behind") {
        period.add(after(Machine(2).task(1, 300, 1, 300, {{8, 1}}).task(2, 90, 1, 90)));
        const Snapshot all = period.snapshot();
        CHECK(find(all, 1)->max_ns == 300);
        CHECK(find(all, 2)->max_ns == 90);
    }
    SECTION("they sleep no more") {
        period.add(after(Machine(2)));
        const Snapshot all = period.snapshot();
        CHECK(find(all, 1)->max_ns == 100);  // all that it slept in the period
        CHECK(find(all, 2)->max_ns == 70);
    }
}

TEST_CASE("begun at nothing, a single snapshot counts as it is") {
    Period period(Period::Begin::AtNothing);
    const Snapshot before = sample_machine(10).snapshot();
    period.add(before);
    const Snapshot all = period.snapshot();
    CHECK(all.header.since_ns == before.header.since_ns);
    CHECK(total(all) == total(before));
    const Task* worker = find(all, 1201);
    REQUIRE(worker != nullptr);
    CHECK(worker->ongoing_ns == 3'000'000);
    CHECK(worker->max_ns == 180'000'000);
    CHECK(all.entries_of(*worker).size() == 3);
    CHECK(all.entries_of(*worker).back().trace == kOtherTrace);
}

TEST_CASE("a sleep that moves to another trace while it goes on is counted once") {
    // In trace 5 at first, with or without sleeps that have ended there; then in trace 6, with all
    // of its time.
    const std::uint64_t ended = GENERATE(0ULL, 40ULL);
    const auto begin = GENERATE(Period::Begin::AtFirst, Period::Begin::AtNothing);
    const auto at = [&](std::uint64_t round, bool moved) {
        Machine machine(round);
        const std::uint32_t other = machine.builder.add_trace(
            {.id = 6, .kernel = {"schedule", "pipe_read"}, .user = {7, 8}});
        const std::uint64_t ongoing = 1000 + 100 * round;
        std::vector<EntrySpec> entries;
        if (!moved || ended != 0)
            entries.push_back({.trace = machine.trace,
                               .blocked_ns = ended + (moved ? 0 : ongoing),
                               .sleeps = (ended != 0 ? 1U : 0U) + (moved ? 0U : 1U),
                               .ongoing_ns = moved ? 0 : ongoing});
        if (moved)
            entries.push_back(
                {.trace = other, .blocked_ns = ongoing, .sleeps = 1, .ongoing_ns = ongoing});
        machine.builder.add_task({.pid = 9,
                                  .blocked_ns = ended + ongoing,
                                  .sleeps = (ended != 0 ? 2U : 1U),
                                  .ongoing_ns = ongoing,
                                  .entries = entries});
        return machine.snapshot();
    };
    Period period(begin);
    period.add(at(0, false));
    period.add(at(1, false));
    period.add(at(2, true));
    period.add(at(3, true));
    const Snapshot snapshot = period.snapshot();
    REQUIRE(snapshot.tasks.size() == 1);
    const Task& task = snapshot.tasks.front();
    CHECK(task.blocked_ns == (begin == Period::Begin::AtFirst ? 300 : ended + 1300));
    std::uint64_t blocked = 0;
    std::uint64_t sleeps = 0;
    for (const Entry& entry : snapshot.entries_of(task)) {
        blocked += entry.blocked_ns;
        sleeps += entry.sleeps;
    }
    CHECK(blocked == task.blocked_ns);
    CHECK(sleeps == task.sleeps);
}

TEST_CASE("begun at nothing, what exited before counts with its stacks") {
    const auto at = [](std::uint64_t round, std::uint64_t of_two, std::uint64_t merged) {
        Machine machine(round);
        machine.task(1, 500 + round, 5);
        if (of_two != 0) machine.task(2, of_two, 1);
        machine.builder.add_task({.pid = 70,
                                  .tgid = 70,
                                  .blocked_ns = 900 + merged,
                                  .sleeps = 9 + (merged != 0 ? 1U : 0U),
                                  .kind = LT_KIND_EXITED,
                                  .state = 'X',
                                  .flags = LT_T_EXITED,
                                  .entries = {{.trace = machine.trace,
                                               .blocked_ns = 900 + merged,
                                               .sleeps = 9 + (merged != 0 ? 1U : 0U)}}});
        return machine.snapshot();
    };
    Period period(Period::Begin::AtNothing);
    period.add(at(0, 100, 0));
    const auto stacks_of = [](const Snapshot& all) {
        std::uint64_t sum = 0;
        for (const Task& task : all.tasks)
            for (const Entry& entry : all.entries_of(task))
                sum += entry.blocked_ns;
        return sum;
    };
    Snapshot all = period.snapshot();
    CHECK(total(all) == 1'500);
    CHECK(stacks_of(all) == 1'500);
    REQUIRE(find(all, 70) != nullptr);
    CHECK(all.entries_of(*find(all, 70)).front().trace != kOtherTrace);
    // 2 ended and merged: it stays as it was seen.
    period.add(at(1, 0, 100));
    all = period.snapshot();
    CHECK(total(all) == 1'501);
    CHECK(stacks_of(all) == 1'501);
}

TEST_CASE("the hooks' cost is that of the period") {
    const auto begin = GENERATE(Period::Begin::AtFirst, Period::Begin::AtNothing);
    Period period(begin);
    const auto at = [](std::uint64_t round, std::uint64_t since_ns, std::uint64_t hooks_ns) {
        Machine machine(round);
        machine.builder.header.since_ns = since_ns;
        machine.builder.header.hooks_ns = hooks_ns;
        machine.builder.header.lost[0] = hooks_ns / 10;
        return machine.snapshot();
    };
    period.add(at(0, kSince, 1'000));
    period.add(at(1, kSince, 1'500));
    period.add(at(2, 2'150, 30));  // after a reset
    const Header header = period.snapshot().header;
    CHECK(header.hooks_ns == (begin == Period::Begin::AtFirst ? 530 : 1'530));
    CHECK(header.lost[0] == header.hooks_ns / 10);
}

namespace {

/// A task that slept in one trace, and who ended that.
Snapshot woken(std::vector<WakerSpec> wakers, std::uint64_t since_ns = kSince) {
    SnapshotBuilder builder;
    builder.header.since_ns = since_ns;
    builder.header.limit[LT_LIMIT_WAKERS] = 100;
    // The same traces at other places than in other snapshots
    for (std::size_t i = 0; i < wakers.size(); ++i)
        builder.add_trace({.id = 100 + i});
    const auto sleep = builder.add_trace({.id = 7});
    const auto wait = builder.add_trace({.id = 8});
    std::uint64_t blocked_ns = 0, sleeps = 0;
    for (WakerSpec& waker : wakers) {
        blocked_ns += waker.blocked_ns;
        sleeps += waker.sleeps;
        waker.trace = sleep;
        if (waker.waited_ns != 0) waker.waited_trace = wait;
    }
    builder.add_task(
        {.blocked_ns = blocked_ns,
         .sleeps = sleeps,
         .entries = {
             {.trace = sleep, .blocked_ns = blocked_ns, .sleeps = sleeps, .wakers = wakers}}});
    return builder.snapshot();
}

}  // namespace

TEST_CASE("wakers count from the first snapshot on, over a reset, and by what they had waited in") {
    Period period;
    period.add(woken({{.pid = 3, .blocked_ns = 9, .sleeps = 2}}));
    period.add(woken({{.pid = 3, .blocked_ns = 20, .sleeps = 3},
                      {.pid = 3, .blocked_ns = 5, .sleeps = 1, .waited_ns = 4},
                      {.pid = 4, .blocked_ns = 6, .sleeps = 1}}));
    period.add(woken({{.pid = 3, .blocked_ns = 7, .sleeps = 1, .waited_ns = 3}}, 2'150));
    const Snapshot sum = period.snapshot();
    REQUIRE(sum.entries.size() == 1);
    const auto wakers = sum.wakers_of(sum.entries[0]);
    REQUIRE(wakers.size() == 3);
    CHECK(sum.header.used[LT_LIMIT_WAKERS] == 3);
    CHECK(wakers[0].pid == 3);
    CHECK(wakers[0].blocked_ns == 11);
    CHECK(wakers[0].sleeps == 1);
    CHECK(sum.trace_at(wakers[0].trace)->id == 7);
    CHECK(sum.trace_at(wakers[0].waited_trace) == nullptr);
    CHECK(wakers[1].blocked_ns == 12);
    CHECK(wakers[1].sleeps == 2);
    CHECK(wakers[1].waited_ns == 7);
    CHECK(sum.trace_at(wakers[1].waited_trace)->id == 8);
    CHECK(wakers[2].pid == 4);
}

TEST_CASE("a waker's longest sleep is one of all that a reset lies between") {
    Period period;
    period.add(woken({{.pid = 3, .blocked_ns = 9, .sleeps = 2}}));
    period.add(woken({{.pid = 3, .blocked_ns = 20, .sleeps = 3}}));
    period.add(woken({{.pid = 3, .blocked_ns = 7, .sleeps = 1}}, 2'150));
    const Snapshot sum = period.snapshot();
    REQUIRE(sum.wakers.size() == 1);
    CHECK(sum.wakers[0].blocked_ns == 18);
    CHECK(sum.wakers[0].max_ns == 11);  // all that it ended before the reset
}

TEST_CASE("a waker that becomes hidden is not counted twice") {
    Period period;
    period.add(woken({{.pid = 3, .blocked_ns = 9, .sleeps = 2},
                      {.kind = LT_WAKER_HIDDEN, .blocked_ns = 4, .sleeps = 1}}));
    period.add(woken({{.pid = 3, .blocked_ns = 19, .sleeps = 3},
                      {.kind = LT_WAKER_HIDDEN, .blocked_ns = 5, .sleeps = 2}}));
    period.add(woken({{.kind = LT_WAKER_HIDDEN, .blocked_ns = 26, .sleeps = 6}}));
    const Snapshot sum = period.snapshot();
    REQUIRE(sum.wakers.size() == 2);
    CHECK(sum.wakers[0].blocked_ns == 10);
    CHECK(sum.wakers[1].kind == LT_WAKER_HIDDEN);
    CHECK(sum.wakers[1].blocked_ns == 3);  // 1, then 2 of what it was with the other
    CHECK(sum.wakers[1].sleeps == 2);
}

TEST_CASE("wakers that a reader cannot tell apart are one") {
    Period period;
    period.add(woken({{.kind = LT_WAKER_HIDDEN, .blocked_ns = 9, .sleeps = 2},
                      {.kind = LT_WAKER_HIDDEN, .blocked_ns = 1, .sleeps = 1}}));
    period.add(woken({{.kind = LT_WAKER_HIDDEN, .blocked_ns = 3, .sleeps = 2},
                      {.kind = LT_WAKER_HIDDEN, .blocked_ns = 11, .sleeps = 3}}));
    const Snapshot sum = period.snapshot();
    REQUIRE(sum.wakers.size() == 1);
    CHECK(sum.wakers[0].kind == LT_WAKER_HIDDEN);
    CHECK(sum.wakers[0].blocked_ns == 4);
    CHECK(sum.wakers[0].sleeps == 2);
}

}  // namespace lattop::test
