// SPDX-License-Identifier: GPL-2.0-or-later
//
// The names a worker finds of programs that run here.
#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lattop/model/name_finder.h"
#include "lattop/model/stack_names.h"
#include "lattop/model/stoppable_namer.h"
#include "lattop/model/worker_namer.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/fake_namer.h"
#include "tests/unit/support/snapshot_builder.h"
#include "tests/unit/support/stopped_thread.h"

namespace lattop::test {

using namespace std::string_literals;

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

}  // namespace lattop::test
