// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/stack_names.h"

#include <algorithm>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/fake_namer.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {

TEST_CASE("a stack is asked for once and then known") {
    Names test;
    test.names->want(one_task(1, 1));
    REQUIRE(test.namer->requests.size() == 1);
    CHECK(test.namer->requests[0].addresses == std::vector<std::uint64_t>{7, 8});
    CHECK(test.names->find(kStack) == nullptr);
    test.names->want(one_task(1, 1));
    CHECK(test.namer->answer() == 1);
    CHECK(test.names->collect());
    CHECK(!test.names->collect());
    REQUIRE(test.names->find(kStack) != nullptr);
    CHECK(test.names->find(kStack)->frames.at(1)->symbol == "at_8");
    test.names->want(one_task(1, 1));
    CHECK(test.namer->requests.empty());
}

TEST_CASE("names stay after the task has ended") {
    Names test;
    test.names->want(one_task(1, 1));
    test.namer->answer();
    test.names->collect();
    for (int i = 0; i < 3; ++i)
        test.names->want(one_task(1, 1, LT_T_EXITED));
    CHECK(test.names->find(kStack) != nullptr);
    CHECK(test.namer->requests.empty());
}

TEST_CASE("what no snapshot holds any more is forgotten in time, if only what is shown counts") {
    const auto keep = GENERATE(StackNames::Keep::All, StackNames::Keep::Shown);
    Names test(keep);
    const auto round = [&](std::uint32_t ended) {
        SnapshotBuilder builder;
        const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
        for (const std::uint32_t pid : {5U, ended})
            builder.add_task(
                {.pid = pid, .tgid = pid, .exec_id = 1, .entries = {{.trace = trace}}});
        test.names->want(builder.snapshot());
        test.namer->answer();
        test.names->collect();
    };
    const StackId first{{LT_KIND_TASK, 6, 6, 1000}, 1, 50};
    std::uint32_t pid = 6;
    const auto rounds_until = [&](std::uint32_t end) {
        while (pid < end)
            round(pid++);
    };
    rounds_until(1'000);
    CHECK(test.names->find(first) != nullptr);  // it may come back
    rounds_until(2'000);
    const std::size_t soon = test.names->remembered();
    rounds_until(5'000);
    CHECK((test.names->remembered() == soon) == (keep == StackNames::Keep::Shown));
    CHECK((test.names->find(first) != nullptr) == (keep == StackNames::Keep::All));
    CHECK(test.names->find(kStack) != nullptr);
}

TEST_CASE("what a snapshot shows stays, whatever is wanted beside it") {
    Names test(StackNames::Keep::Shown);
    SnapshotBuilder all, one;
    const auto trace = all.add_trace({.id = 50, .user = {7, 8}});
    for (std::uint32_t pid = 1; pid <= 3'000; ++pid)
        all.add_task({.pid = pid, .tgid = pid, .exec_id = 1, .entries = {{.trace = trace}}});
    TaskSpec its{.pid = 3'000, .tgid = 3'000, .exec_id = 1};
    for (std::uint64_t id = 50; id < 4'000; ++id)
        its.entries.push_back({.trace = one.add_trace({.id = id, .user = {7, id}})});
    one.add_task(its);
    const Snapshot table = all.snapshot();
    const Snapshot pane = one.snapshot();
    std::size_t asked = 0;
    for (int round = 0; round < 3; ++round) {
        test.names->want(table);
        for (int key = 0; key < 3; ++key)
            test.names->want_more(pane);
        asked += test.namer->answer();
        test.names->collect();
    }
    CHECK(asked == 3'000 + 3'950 - 1);
    CHECK(test.names->find({{LT_KIND_TASK, 1, 1, 1000}, 1, 50}) != nullptr);
    CHECK(test.names->find({{LT_KIND_TASK, 3'000, 3'000, 1000}, 1, 3'999}) != nullptr);
}

TEST_CASE("answers that come late, about what is gone, take no name from what is shown") {
    Names test(StackNames::Keep::Shown);
    SnapshotBuilder before, now;
    const auto its = before.add_trace({.id = 50, .user = {7, 8}});
    for (std::uint32_t pid = 1; pid <= 5'000; ++pid)
        before.add_task({.pid = pid, .entries = {{.trace = its}}});
    const auto other = now.add_trace({.id = 51, .user = {9}});
    for (std::uint32_t pid = 10'001; pid <= 11'000; ++pid)
        now.add_task({.pid = pid, .entries = {{.trace = other}}});
    const Snapshot shown = now.snapshot();
    test.names->want(shown);
    test.namer->answer();
    test.names->collect();
    test.names->want(before.snapshot());
    test.names->want(shown);
    test.namer->answer();
    test.names->collect();
    for (int round = 0; round < 2; ++round) {
        test.names->want(shown);
        CHECK(test.namer->answer() == 0);
        for (const std::uint32_t pid : {10'001U, 11'000U})
            CHECK(test.names->find({{LT_KIND_TASK, pid, pid, 1000}, 1, 51}) != nullptr);
    }
}

TEST_CASE("more stacks than are kept of what is gone are known while they are shown") {
    Names test(StackNames::Keep::Shown);
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
    for (std::uint32_t pid = 1; pid <= 20'000; ++pid)
        builder.add_task({.pid = pid, .entries = {{.trace = trace}}});
    const Snapshot snapshot = builder.snapshot();
    std::size_t asked = 0;
    for (int round = 0; round < 4; ++round) {
        test.names->want(snapshot);
        asked += test.namer->answer();
        test.names->collect();
    }
    CHECK(asked == 20'000);
    for (const std::uint32_t pid : {1U, 20'000U})
        CHECK(test.names->find({{LT_KIND_TASK, pid, pid, 1000}, 1, 50}) != nullptr);
}

TEST_CASE(
    "memory for names is bounded, however long they are: who was not seen for long goes first") {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    Names test;
    const auto process = [&](std::uint32_t pid) {
        SnapshotBuilder builder;
        const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
        builder.add_task({.pid = pid, .entries = {{.trace = trace}}});
        test.names->want(builder.snapshot());
        test.namer->answer();
        test.names->collect();
        return StackId{{LT_KIND_TASK, pid, pid, 1000}, 1, 50};
    };
    const StackId first = process(1);
    test.namer->path_bytes = kMiB;
    for (std::uint32_t pid = 2; pid < 100; ++pid)
        process(pid);
    CHECK(test.names->find(first) != nullptr);
    StackId last{};
    for (std::uint32_t pid = 100; pid < 140; ++pid)
        last = process(pid);
    CHECK(test.names->find(first) == nullptr);
    CHECK(test.names->find(last) != nullptr);
}

TEST_CASE("stacks of an earlier program are never looked up in the present one") {
    Names test;
    test.names->want(one_task(2, 1));
    CHECK(test.namer->requests.empty());
    CHECK(test.names->find(kStack) == nullptr);
}

TEST_CASE("names found while the earlier program surely ran stay") {
    Names test;
    test.names->want(one_task(1, 1));
    test.namer->answer();
    test.names->collect();
    test.names->want(one_task(1, 1));  // still the same program afterwards
    test.names->want(one_task(2, 1));
    test.names->want(one_task(2, 1));
    CHECK(test.names->find(kStack) != nullptr);
}

TEST_CASE("names that may have been read from the next program are dropped") {
    Names test;
    test.names->want(one_task(1, 1));
    test.namer->answer();
    SECTION("the answer came before the exec was seen") {
        test.names->collect();
        test.names->want(one_task(2, 1));
    }
    SECTION("the answer came after") {
        test.names->want(one_task(2, 1));
        test.names->collect();
    }
    CHECK(test.names->find(kStack) == nullptr);
}

TEST_CASE("what was not found is asked for again, a bounded number of times, ever later") {
    Names test;
    std::vector<int> asked;
    for (int round = 0; round < 200; ++round) {
        test.names->want(one_task(1, 1));
        if (test.namer->answer(Naming::Result::Partly) != 0) asked.push_back(round);
        test.names->collect();
    }
    CHECK(asked == std::vector<int>{0, 1, 5, 21});
    CHECK(test.names->find(kStack) != nullptr);
}

TEST_CASE("while debug files are fetched a stack is asked for each time, and shown") {
    Names test;
    for (int round = 0; round < 50; ++round) {
        test.names->want(one_task(1, 1));
        CHECK(test.namer->answer(Naming::Result::Waiting) == 1);
        test.names->collect();
        CHECK(test.names->find(kStack) != nullptr);
    }
    test.names->want(one_task(1, 1));
    test.namer->answer(Naming::Result::Named);
    test.names->collect();
    test.names->want(one_task(1, 1));
    CHECK(test.namer->requests.empty());
}

TEST_CASE("names that are found again have their version, others another") {
    Names test;
    const auto version_with = [&](const Naming& naming) {
        test.names->want(one_task(1, 1));
        test.namer->requests.clear();
        test.namer->answer_with({kStack, naming});
        test.names->collect();
        return test.names->find(kStack)->version;
    };
    Naming naming;
    naming.result = Naming::Result::Waiting;
    naming.stack.frames = {std::make_shared<UserFrame>()};
    const std::uint64_t first = version_with(naming);
    CHECK(version_with(naming) == first);
    naming.stack.own = 0;
    const std::uint64_t second = version_with(naming);
    CHECK(second != first);
    naming.stack.frames = {std::make_shared<UserFrame>()};
    CHECK(version_with(naming) != second);
}

TEST_CASE("where no server could be asked a stack is asked for again when one is") {
    Names test;
    const auto answer = [&](std::optional<DebugFetch::Clock::time_point> retry_at) {
        test.names->want(one_task(1, 1));
        const std::size_t asked = test.namer->answer(Naming::Result::Named, retry_at);
        test.names->collect();
        return asked;
    };
    const auto now = DebugFetch::Clock::now();
    CHECK(answer(now) == 1);
    CHECK(answer(now) == 1);
    CHECK(test.names->find(kStack) != nullptr);
    CHECK(answer(std::nullopt) == 1);
    CHECK(answer(std::nullopt) == 0);
    Names later;
    later.names->want(one_task(1, 1));
    CHECK(later.namer->answer(Naming::Result::Named, now + std::chrono::hours(1)) == 1);
    later.names->collect();
    later.names->want(one_task(1, 1));
    CHECK(later.namer->requests.empty());
}

TEST_CASE("a task that was gone is not asked for again") {
    Names test;
    test.names->want(one_task(1, 1));
    test.namer->answer(Naming::Result::Gone);
    test.names->collect();
    for (int i = 0; i < 30; ++i)
        test.names->want(one_task(1, 1));
    CHECK(test.namer->requests.empty());
    CHECK(test.names->find(kStack) == nullptr);
}

TEST_CASE("a thread that has ended is looked up through its process's leader") {
    struct Case {
        std::uint32_t leader_exec;
        std::uint64_t leader_start;
        std::uint32_t leader_flags;
        bool asked;
    };
    const auto [exec_id, start, flags, asked] = GENERATE(values<Case>({
        {1, 500, LT_T_ASLEEP, true},
        {2, 500, LT_T_ASLEEP, false},   // exec ended the thread: another program
        {1, 1500, LT_T_ASLEEP, false},  // another process with the same tgid
        {1, 500, LT_T_EXITED, false},
    }));
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 50, .user = {7}});
    builder.add_task({.pid = 5,
                      .tgid = 4,
                      .start_ns = 1000,
                      .flags = LT_T_EXITED,
                      .entries = {{.trace = trace}}});
    builder.add_task({.pid = 4, .start_ns = start, .flags = flags, .exec_id = exec_id});
    Names test;
    test.names->want(builder.snapshot());
    CHECK(test.namer->requests.size() == (asked ? 1U : 0U));
    if (asked) CHECK(test.namer->requests[0].task.pid == 4);
}

TEST_CASE("kernel threads, traces without a user part and [other] ask for nothing") {
    SnapshotBuilder builder;
    const auto kernel = builder.add_trace({.id = 1, .kernel = {"f"}, .flags = LT_TR_NO_USER});
    builder.add_task({.pid = 5, .entries = {{.trace = kernel}, {.blocked_ns = 1}}});
    builder.add_task({.pid = 0, .kind = LT_KIND_EXITED_ALL, .entries = {{.trace = kernel}}});
    Names test;
    test.names->want(builder.snapshot());
    CHECK(test.namer->requests.empty());
}

TEST_CASE(
    "what a silent process does not let anybody look at is asked for again, and known till then") {
    Names test;
    test.names->want(one_task(1, 1));
    test.namer->answer(Naming::Result::Partly);
    CHECK(test.names->collect());
    std::vector<int> asked;
    test.namer->silent_pids = {5};
    for (int round = 0; round < 10; ++round) {
        test.names->want(one_task(1, 1));
        if (test.namer->answer_not_now() != 0) asked.push_back(round);
        CHECK(!test.names->collect());
        CHECK(test.names->find(kStack) != nullptr);
        CHECK(!test.names->pending(kStack));
    }
    CHECK(asked == std::vector<int>{0, 4, 8});
    test.names->want(one_task(1, 1));
    CHECK(test.namer->requests.empty());
    test.namer->silent_pids.clear();
    test.names->want(one_task(1, 1));
    CHECK(test.namer->answer(Naming::Result::Named) == 1);
    CHECK(test.names->collect());
}

TEST_CASE("a silent process with very many stacks leaves room for those of others") {
    Names test;
    SnapshotBuilder builder;
    TaskSpec silent{.pid = 5};
    for (std::uint64_t id = 1; id <= 10'000; ++id)
        silent.entries.push_back({.trace = builder.add_trace({.id = id, .user = {id}})});
    const auto trace = builder.add_trace({.id = 20'000, .user = {7}});
    builder.add_task(silent);
    builder.add_task({.pid = 6, .entries = {{.trace = trace}}});
    const Snapshot snapshot = builder.snapshot();
    SECTION("that does not answer") test.namer->silent_pids = {5};
    SECTION("that is put off") test.namer->put_off_pids = {5};
    test.names->want(snapshot);
    CHECK(test.namer->answer_not_now() < 10'000);
    CHECK(test.names->wait());
    test.names->want(snapshot);
    CHECK(std::ranges::any_of(test.namer->requests,
                              [](const NameRequest& request) { return request.task.pid == 6; }));
}

TEST_CASE("the stack from which somebody was woken is named, whether the waker is shown or not") {
    Names test;
    SnapshotBuilder builder;
    const auto wait = builder.add_trace({.id = 49, .flags = LT_TR_NO_USER});
    const auto wake = builder.add_trace({.id = 50, .user = {7, 8}});
    builder.add_task({.pid = 4,
                      .entries = {{.trace = wait,
                                   .wakers = {{.trace = wake, .pid = 5},
                                              {.trace = wait, .kind = LT_WAKER_INTERRUPT},
                                              {.kind = LT_WAKER_HIDDEN}}}}});
    test.names->want(builder.snapshot());
    REQUIRE(test.namer->requests.size() == 1);
    CHECK(test.namer->requests[0].id == kStack);
    CHECK(test.namer->requests[0].task.pid == 5);
    CHECK(test.namer->requests[0].addresses == std::vector<std::uint64_t>{7, 8});
    test.namer->answer();
    CHECK(test.names->collect());
    REQUIRE(test.names->find(kStack) != nullptr);
    CHECK(test.names->find(kStack)->frames[0]->symbol == "at_7");

    // Once it is shown and runs another program, its old addresses are not looked up any more.
    Names other;
    builder.add_task({.pid = 5, .exec_id = 2});
    other.names->want(builder.snapshot());
    CHECK(other.namer->requests.empty());
}

TEST_CASE("a waker that is not shown is taken to run what it last woke somebody from") {
    Names test;
    const auto woken_from = [](std::uint32_t exec_id) {
        SnapshotBuilder builder;
        const auto wait = builder.add_trace({.id = 49, .flags = LT_TR_NO_USER});
        const auto wake = builder.add_trace({.id = 50, .user = {7, 8}});
        builder.add_task(
            {.pid = 4,
             .entries = {
                 {.trace = wait, .wakers = {{.trace = wake, .pid = 5, .exec_id = exec_id}}}}});
        return builder.snapshot();
    };
    const std::uint32_t first = GENERATE(1U, 0x80000001U);
    test.names->want(woken_from(first));
    CHECK(test.namer->answer() == 1);
    test.names->collect();
    test.names->want(woken_from(first + 1));
    REQUIRE(test.namer->requests.size() == 1);
    CHECK(test.namer->requests[0].id.exec_id == first + 1);
}

}  // namespace lattop::test
