// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is asked for by task: where it stands, and its command line.
#include <utility>
#include <vector>

#include "lattop/model/stack_names.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fake_namer.h"

namespace lattop::test {

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

}  // namespace lattop::test
