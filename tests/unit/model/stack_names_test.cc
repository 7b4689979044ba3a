// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/stack_names.h"

#include <poll.h>

#include <algorithm>

#include "lattop/model/name_finder.h"
#include "lattop/model/stoppable_namer.h"
#include "lattop/model/worker_namer.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/snapshot_builder.h"
#include "tests/unit/support/stopped_thread.h"

namespace lattop::test {
namespace {

using namespace std::string_literals;

/// Keeps requests until the test answers them.
class FakeNamer final : public Namer {
public:
    void submit(std::vector<NameRequest> added) override {
        for (NameRequest& request : added)
            requests.push_back(std::move(request));
    }
    std::vector<NameAnswer> take() override { return std::exchange(answers_, {}); }
    [[nodiscard]] int ready_fd() const override { return -1; }

    /// Answers all requests that wait; returns how many there were.
    std::size_t answer(Naming::Result result = Naming::Result::Named,
                       std::optional<DebugFetch::Clock::time_point> retry_at = std::nullopt) {
        const std::size_t n = requests.size();
        for (const NameRequest& request : std::exchange(requests, {})) {
            Naming naming;
            naming.result = result;
            naming.retry_at = retry_at;
            if (result != Naming::Result::Gone)
                for (const std::uint64_t address : request.addresses) {
                    auto frame = std::make_shared<UserFrame>();
                    frame->symbol = "at_" + std::to_string(address);
                    naming.stack.frames.push_back(frame);
                }
            answers_.push_back({request.id, naming});
        }
        return n;
    }

    /// The same, as what a silent process does not let anybody look at.
    std::size_t answer_not_now() {
        const std::size_t n = requests.size();
        for (const NameRequest& request : std::exchange(requests, {})) {
            NameAnswer answer;
            answer.id = request.id;
            answer.not_now = true;
            if (request.live) answer.live = LiveNames{.end = "silent", .sleeps = request.sleeps};
            if (request.command_line) answer.command_line = "";
            answers_.push_back(std::move(answer));
        }
        return n;
    }

    /// A live request's answer.
    void answer_live(const NameRequest& request) {
        NameAnswer answer;
        answer.id = request.id;
        answer.live = LiveNames{.addresses = {7}, .object = "fd 0", .sleeps = request.sleeps};
        answers_.push_back(std::move(answer));
    }

    [[nodiscard]] std::vector<std::uint32_t> silent() const override { return silent_pids; }

    std::vector<NameRequest> requests;
    std::vector<std::uint32_t> silent_pids;

private:
    std::vector<NameAnswer> answers_;
};

struct Names {
    Names() {
        auto owned = std::make_unique<FakeNamer>();
        namer = owned.get();
        names = std::make_unique<StackNames>(std::move(owned));
    }
    FakeNamer* namer;
    std::unique_ptr<StackNames> names;
};

/// A task 5 that runs program `exec_id` and slept in a trace under `slept`.
Snapshot one_task(std::uint32_t exec_id, std::uint32_t slept, std::uint32_t flags = LT_T_ASLEEP) {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
    builder.add_task({.pid = 5,
                      .flags = flags,
                      .exec_id = exec_id,
                      .entries = {{.trace = trace, .exec_id = slept}}});
    return builder.snapshot();
}

const StackId kStack{{LT_KIND_TASK, 5, 5, 1000}, 1, 50};

Task sleeping_task(std::uint32_t pid) {
    Task task;
    task.pid = task.tgid = pid;
    task.start_ns = 5;
    task.exec_id = 1;
    task.sleeps = 3;
    return task;
}

}  // namespace

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

namespace {

struct Thread {
    std::uint32_t pid = 0, tgid = 5;
    bool slept_there = true;  // and has a record anyway
    std::uint32_t exec_id = 1;
};

/// These, each of which slept in trace 50 or in none.
Snapshot threads(const std::vector<Thread>& all) {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
    for (const Thread& one : all) {
        std::vector<EntrySpec> entries;
        if (one.slept_there) entries.push_back({.trace = trace, .exec_id = one.exec_id});
        builder.add_task({.pid = one.pid,
                          .tgid = one.tgid,
                          .flags = LT_T_ASLEEP,
                          .exec_id = one.exec_id,
                          .entries = entries});
    }
    return builder.snapshot();
}

/// Whether the thread's stack has its names.
bool is_named(const Names& it, std::uint32_t pid, std::uint32_t tgid = 5) {
    const UserStack* stack = it.names->find({{LT_KIND_TASK, pid, tgid, 1000}, 1, 50});
    return stack != nullptr && stack->frames.size() == 2;
}

}  // namespace

TEST_CASE("of threads of one process at one trace one is asked about") {
    Names it;
    const Snapshot snapshot = threads({{5}, {6}, {7}, {.pid = 9, .tgid = 9}});
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 2);
    it.names->collect();
    CHECK(is_named(it, 5));
    CHECK(is_named(it, 9, 9));
    CHECK(is_named(it, 6));
    CHECK(is_named(it, 7));
    it.names->want(snapshot);
    CHECK(it.namer->requests.empty());
    it.names->want(threads({{5}, {6}, {7}, {8}}));
    CHECK(it.namer->requests.empty());
    CHECK(is_named(it, 8));
}

TEST_CASE("what was not found of a thread's stack is asked again once for all of its process") {
    Names it;
    const Snapshot snapshot = threads({{5}, {6}, {7}});
    it.names->want(snapshot);
    CHECK(it.namer->answer(Naming::Result::Partly) == 1);
    it.names->collect();
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 7));
    it.names->want(snapshot);
    CHECK(it.namer->requests.empty());
}

TEST_CASE("a thread that came later waits for the answer about the first") {
    Names it;
    it.names->want(threads({{5}}));
    it.names->want(threads({{5}, {6}}));
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 6));
}

TEST_CASE("a process that runs another program by the answer has none of its names") {
    Names it;
    it.names->want(threads({{5}, {6}}));
    it.names->want(threads({{5, 5, false, 2}, {6, 5, false, 2}}));
    it.namer->answer();
    it.names->collect();
    CHECK(!is_named(it, 5));
    CHECK(!is_named(it, 6));
}

TEST_CASE("another thread is asked about where the first one has gone, or sleeps elsewhere") {
    Names it;
    it.names->want(threads({{5}, {6}}));
    CHECK(it.namer->answer(Naming::Result::Partly) == 1);
    it.names->collect();
    SECTION("ended") {
        it.names->want(threads({{6}}));
    }
    SECTION("elsewhere") {
        it.names->want(threads({{5, 5, false}, {6}}));
    }
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 6));
}

TEST_CASE("a thread that ended before it was looked at says nothing of the others") {
    Names it;
    const Snapshot snapshot = threads({{5}, {6}});
    it.names->want(snapshot);
    CHECK(it.namer->answer(Naming::Result::Gone) == 1);
    it.names->collect();
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 6));
}

TEST_CASE("a process that has another's pid and program number is asked about itself") {
    Names it;
    it.names->want(threads({{5}}));
    it.namer->answer();
    it.names->collect();
    it.names->want(threads({{.pid = 6}}));  // its first thread has ended, or is another's
    CHECK(it.namer->requests.size() == 1);
}

TEST_CASE("a trace of the module that is loaded again is not the one that had its id") {
    Names it;
    Snapshot snapshot = one_task(1, 1);
    it.names->want(snapshot);
    it.namer->answer();
    it.names->collect();
    snapshot.header.load = 2;
    const Task& task = snapshot.tasks.at(0);
    CHECK(it.names->find(stack_id(snapshot, task, snapshot.entries.at(0))) == nullptr);
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 1);
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
    test.namer->silent_pids = {5};
    test.names->want(snapshot);
    CHECK(test.namer->answer_not_now() < 10'000);
    CHECK(test.names->wait());
    test.names->want(snapshot);
    CHECK(std::ranges::any_of(test.namer->requests,
                              [](const NameRequest& request) { return request.task.pid == 6; }));
}

TEST_CASE("a silent process stands where it was seen to stand while it sleeps on") {
    Names test;
    Task task = sleeping_task(7);
    test.names->want_live(task);
    test.namer->answer_live(test.namer->requests.at(0));
    test.namer->requests.clear();
    CHECK(test.names->collect());
    test.names->want_live(task);
    test.namer->answer_not_now();
    CHECK(!test.names->collect());
    REQUIRE(test.names->find_live(task) != nullptr);
    CHECK(test.names->find_live(task)->object == "fd 0");
    ++task.sleeps;
    test.names->want_live(task);
    test.namer->answer_not_now();
    CHECK(test.names->collect());
    CHECK(test.names->find_live(task)->addresses.empty());
    CHECK(test.names->find_live(task)->end == "silent");
}

TEST_CASE("where a slow process stands is not shown for the one that was asked for after it") {
    Names test;
    const Task slow = sleeping_task(7);
    const Task other = sleeping_task(8);
    test.names->want_live(slow);
    test.names->want_live(other);
    const auto requests = std::exchange(test.namer->requests, {});
    test.namer->answer_live(requests.at(1));
    CHECK(test.names->collect());
    test.namer->answer_live(requests.at(0));
    CHECK(!test.names->collect());
    CHECK(test.names->find_live(other) != nullptr);
    CHECK(test.names->find_live(slow) == nullptr);
}

TEST_CASE("live stacks that silent processes keep leave room for others") {
    Names test;
    for (std::uint32_t pid = 1; pid <= 10; ++pid) {
        test.namer->silent_pids.push_back(pid);
        test.names->want_live(sleeping_task(pid));
    }
    CHECK(test.namer->requests.size() == 10);
    test.namer->silent_pids.clear();
    test.names->want_live(sleeping_task(11));
    CHECK(test.namer->requests.size() == 10);
}

TEST_CASE("a silent process's command line is asked for again some snapshots later") {
    Names test;
    const Task task = sleeping_task(7);
    const std::vector<const Task*> tasks = {&task};
    std::vector<int> asked;
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < 2; ++i) {
            test.names->want_command_lines(tasks);
            if (test.namer->answer_not_now() != 0) asked.push_back(round);
            CHECK(!test.names->collect());
        }
        CHECK(test.names->command_line(task) == nullptr);
        test.names->want(Snapshot{});
    }
    CHECK(asked == std::vector<int>{0, 4});
}

TEST_CASE("the worker answers from its thread and says when") {
    const Child child(std::string(LATTOP_TEST_PROGRAMS) + "/symbols_pie", 5);
    SnapshotBuilder builder;
    const auto trace =
        builder.add_trace({.id = 50, .user = {child.address("plain"), child.address("take") + 1}});
    builder.add_task({.pid = child.task().pid,
                      .start_ns = child.task().start_ns,
                      .entries = {{.trace = trace}}});
    const Snapshot snapshot = builder.snapshot();
    StackNames names(std::make_unique<WorkerNamer>());
    names.want(snapshot);
    pollfd ready{names.ready_fd(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 60'000) == 1);
    CHECK(names.collect());
    const UserStack* stack = names.find(stack_id(snapshot, snapshot.tasks[0], snapshot.entries[0]));
    REQUIRE(stack != nullptr);
    CHECK(stack->frames.at(0)->symbol == "plain_function");
    CHECK(::poll(&ready, 1, 0) == 0);
}

TEST_CASE("the worker walks a thread that sleeps, and names what it finds") {
    const Child child(std::string(LATTOP_TEST_PROGRAMS) + "/symbols_pie", 5);
    wait_for_reader(child.task().pid);
    Task task;
    task.pid = child.task().pid;
    task.tgid = child.task().tgid;
    task.start_ns = child.task().start_ns;
    task.exec_id = child.task().exec_id;
    task.sleeps = 7;
    StackNames names(std::make_unique<WorkerNamer>());
    CHECK(names.find_live(task) == nullptr);
    names.want_live(task);
    pollfd ready{names.ready_fd(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 60'000) == 1);
    CHECK(names.collect());
    const LiveNames* live = names.find_live(task);
    REQUIRE(live != nullptr);
    CHECK(live->end.empty());
    CHECK(live->object.starts_with("fd 0: "));
    CHECK(live->sleeps == 7);
    REQUIRE(live->stack.frames.size() == live->addresses.size());
    CHECK(live->stack.frames.front()->symbol == "read");
    CHECK(std::ranges::any_of(live->stack.frames,
                              [](const UserFramePtr& frame) { return frame->symbol == "main"; }));
    task.exec_id += 1;
    CHECK(names.find_live(task) == nullptr);
}

TEST_CASE("a command line is asked for once a task and program, of who has one") {
    Names test;
    Task task;
    task.pid = task.tgid = 7;
    task.start_ns = 5;
    task.exec_id = 1;
    Task kernel = task;
    kernel.pid = 8;
    kernel.flags = LT_T_KTHREAD;
    Task exited = task;
    exited.pid = 9;
    exited.flags = LT_T_EXITED;
    Task record;
    record.kind = LT_KIND_OTHER;
    const std::vector<const Task*> tasks = {&task, &kernel, &exited, &record};
    test.names->want_command_lines(tasks);
    REQUIRE(test.namer->requests.size() == 1);
    CHECK(test.namer->requests[0].command_line);
    CHECK(test.namer->requests[0].task.pid == 7);
    CHECK(test.names->command_line(task) == nullptr);
    test.names->want_command_lines(tasks);
    CHECK(test.namer->requests.size() == 1);

    task.exec_id = 2;  // another program
    test.names->want_command_lines(tasks);
    CHECK(test.namer->requests.size() == 2);
    task.start_ns = 6;  // another task
    test.names->want_command_lines(tasks);
    CHECK(test.namer->requests.size() == 3);
}

TEST_CASE("a command line is read as people write it, of a process that is still the same") {
    CHECK(command_line_text("a\0b c\0\0\0"s) == "a b c");
    CHECK(command_line_text(""s).empty());
    CHECK(command_line_text("\0\0"s).empty());
    CHECK(command_line_text("nginx: worker process"s) == "nginx: worker process");

    const std::string program = std::string(LATTOP_TEST_PROGRAMS) + "/symbols_pie";
    const Child child(program, 5);
    Task task;
    task.pid = child.task().pid;
    task.tgid = child.task().tgid;
    task.start_ns = child.task().start_ns;
    Task earlier = task;
    earlier.start_ns += 60'000'000'000;
    StackNames names(std::make_unique<StoppableNamer>(std::make_unique<WorkerNamer>(),
                                                      [](std::size_t) { return false; }));
    names.want_command_lines(std::vector<const Task*>{&task, &earlier});
    CHECK(names.wait());
    REQUIRE(names.command_line(task) != nullptr);
    CHECK(names.command_line(task)->starts_with(program));
    REQUIRE(names.command_line(earlier) != nullptr);
    CHECK(names.command_line(earlier)->empty());
    CHECK(!names.collect());
}

TEST_CASE("a worker with work left ends when it is told to") {
    const Child child(std::string(LATTOP_TEST_PROGRAMS) + "/symbols_pie", 5);
    for (int i = 0; i < 20; ++i) {
        WorkerNamer worker;
        std::vector<NameRequest> requests(
            100, {kStack, child.task(), {child.address("plain"), child.address("take")}, 1});
        worker.submit(std::move(requests));
    }
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
    test.names->want(woken_from(1));
    CHECK(test.namer->answer() == 1);
    test.names->collect();
    test.names->want(woken_from(2));
    REQUIRE(test.namer->requests.size() == 1);
    CHECK(test.namer->requests[0].id.exec_id == 2);
}

TEST_CASE("a wait for names ends when asked to, and what is found later is there later") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    std::vector<std::size_t> asked;
    StoppableNamer namer(std::move(owned), [&](std::size_t missing) {
        asked.push_back(missing);
        return asked.size() == 3;
    });
    namer.submit(std::vector<NameRequest>(2));
    CHECK(asked.empty());
    namer.wait();
    CHECK(asked == std::vector<std::size_t>{2, 2, 2});
    CHECK(namer.take().empty());
    worker.answer();
    CHECK(namer.take().size() == 2);
}

TEST_CASE("a wait for names ends when those of silent processes alone are missing") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    int asked = 0;
    StoppableNamer namer(std::move(owned), [&](std::size_t missing) {
        CHECK(missing == 2);
        if (++asked == 3) worker.silent_pids = {7, 8};
        return asked > 3;
    });
    namer.submit(std::vector<NameRequest>(2));
    namer.wait();
    CHECK(asked == 3);
    worker.silent_pids.clear();
    worker.answer();
    CHECK(namer.take().size() == 2);
}

TEST_CASE("names that are there are not asked about") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    std::size_t most = 0;
    StoppableNamer namer(std::move(owned), [&](std::size_t missing) {
        most = std::max(most, missing);
        worker.answer();
        return false;
    });
    namer.submit(std::vector<NameRequest>(5));
    namer.wait();
    CHECK(most == 5);
    CHECK(namer.take().size() == 5);
    namer.wait();
}

}  // namespace lattop::test
