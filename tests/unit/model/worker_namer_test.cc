// SPDX-License-Identifier: GPL-2.0-or-later
//
// No test waits for a time: the clock is the test's but in one, which waits for what must come.
#include "lattop/model/worker_namer.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/kept_namer.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

using Texts = std::vector<std::string>;
using Pids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a process that does not answer holds up the names of no other") {
    Named it;
    it.ask_kept(7, {request_for(7, 1), request_for(7, 2), request_for(8)});
    it.pass(9s);
    CHECK(it.namer.silent().empty());
    CHECK(it.namer.progress().empty());
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.namer.progress() == "names: 1 process does not answer (7)");
    CHECK(it.answers(2) == Texts{"7/2 not now", "8/1 8 by 1"});

    it.namer.submit({request_for(7, 3), request_for(8, 2)});
    CHECK(it.answers(2) == Texts{"7/3 not now", "8/2 8 by 1"});

    // Its thread gets through: what it was at is answered, and it goes on with that process.
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
    CHECK(it.namer.silent().empty());
    CHECK(it.namer.progress().empty());
    it.namer.submit({request_for(7, 2), request_for(8, 3)});
    CHECK(it.answers(2) == Texts{"7/2 7 by 0", "8/3 8 by 1"});
}

TEST_CASE("a process that takes a thread much work is no silent one, until the work is done") {
    Named it;
    it.ask_kept(7, {request_for(7, 1), request_for(8)});
    it.worked = 5s;
    it.pass(10s);
    it.pass(9s);
    CHECK(it.namer.silent().empty());
    it.worked = 6s;
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
}

TEST_CASE("a process whose files are work for who reads them is no silent one either") {
    Named it;
    it.ask_kept(7, {request_for(7, 1), request_for(8)});
    it.finders.read_for(3s);
    it.pass(10s);
    CHECK(it.namer.silent().empty());
    it.finders.read_for(1s);
    it.worked = 1s;
    it.pass(10s);
    CHECK(it.namer.silent().empty());
    it.finders.read_for(1s);
    it.pass(10s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
}

TEST_CASE("a process that is work for ever is left behind as well") {
    Named it;
    it.ask_kept(7, {request_for(7, 1), request_for(8)});
    for (int i = 0; i < 5; ++i) {
        it.worked = it.worked.load() + 10s;
        it.pass(10s);
    }
    CHECK(it.namer.silent().empty());
    it.worked = it.worked.load() + 10s;
    it.pass(10s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
}

TEST_CASE("a thread's CPU time goes by while it works, and not while it waits") {
    const auto time = [] { return thread_cpu_time(::pthread_self()); };
    const auto before = time();
    while (time() < before + 5ms) {
    }
    const auto after = time();
    std::this_thread::sleep_for(20ms);
    CHECK(time() < after + 20ms);
}

TEST_CASE(
    "a process that was slow is given twice the time the next time, and nobody waits for it") {
    Named it;
    it.ask_slow(7, 30s);

    it.finders.keep(7);
    it.namer.submit({request_for(7, 2), request_for(7, 3), request_for(8)});
    CHECK(it.answers(1) == Texts{"8/1 8 by 1"});
    it.finders.wait_for_kept(1);
    it.pass(59s);
    CHECK(it.namer.silent().empty());
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    CHECK(it.answers(1) == Texts{"7/3 not now"});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/2 7 by 0"});
}

TEST_CASE("a process that was slow for long is given a minute the next time, and not more") {
    Named it;
    it.ask_slow(7, 3600s);

    it.ask_kept(7, {request_for(7, 2)});
    it.pass(59s);
    CHECK(it.namer.silent().empty());
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/2 7 by 0"});
}

TEST_CASE("a thread of a process's own is for the program that it ran") {
    Named it;
    it.ask_in_vain(7, 1);
    it.finders.let_go(7);
    CHECK(it.answers(1) == Texts{"7/1 7 by 0"});
    NameRequest next = request_for(7);
    next.task.exec_id = next.id.exec_id = 2;
    it.namer.submit({next});
    CHECK(it.answers(1) == Texts{"7/1 7 by 1"});
}

TEST_CASE("a live stack and a command line of who does not answer are not there now") {
    Named it;
    it.ask_in_vain(7, 1);
    NameRequest live = request_for(7);
    live.live = true;
    live.sleeps = 5;
    NameRequest line = request_for(7);
    line.command_line = true;
    it.namer.submit({live, line});
    const std::vector<NameAnswer> answers = it.namer.take();
    REQUIRE(answers.size() == 2);
    REQUIRE(answers[0].live);
    CHECK(answers[0].not_now);
    CHECK(answers[0].live->end == "its memory or files do not answer");
    CHECK(answers[0].live->sleeps == 5);
    CHECK(answers[1].not_now);
    CHECK(answers[1].command_line);
}

TEST_CASE(
    "with 16 threads left behind the next one is waited for, and nothing is found meanwhile") {
    Named it;
    for (std::uint32_t i = 1; i <= 16; ++i)
        it.ask_in_vain(i, i);
    CHECK(it.namer.silent().size() == 16);
    it.namer.submit({request_for(90)});
    CHECK(it.answers(1) == Texts{"90/1 90 by 16"});

    it.ask_kept(17, {request_for(17), request_for(90, 2)}, 17);
    it.pass(10s);
    CHECK(it.namer.silent().size() == 17);
    CHECK(it.namer.progress() == "no names: 17 processes do not answer (1, 2, 3, ...)");
    it.namer.submit({request_for(90, 3)});
    CHECK(it.answers(2) == Texts{"90/2 not now", "90/3 not now"});

    SECTION("until it gets through") {
        it.finders.let_go(17);
        CHECK(it.answers(1) == Texts{"17/1 17 by 16"});
        it.namer.submit({request_for(90)});
        CHECK(it.answers(1) == Texts{"90/1 90 by 16"});
    }
    SECTION("or another one gives way") {
        it.finders.let_go(3);
        CHECK(it.answers(1) == Texts{"3/1 3 by 2"});
        it.pass(1s);
        it.namer.submit({request_for(90)});
        CHECK(it.answers(1) == Texts{"90/1 90 by 17"});
        CHECK(it.namer.progress() == "names: 16 processes do not answer (1, 2, 4, ...)");
    }
}

TEST_CASE("a namer ends whose threads are kept, and they do when they get through") {
    Named it;
    it.ask_in_vain(7, 1);
    it.ask_kept(8, {request_for(8)}, 2);
    it.namer.submit(std::vector<NameRequest>(100, request_for(9)));
}

TEST_CASE("time in which lattop itself was stopped is no process's silence") {
    Named it;
    it.ask_kept(7, {request_for(7, 1), request_for(7, 2), request_for(8)});
    it.pass(4s);
    it.pause(1h);
    it.pass(5s);
    CHECK(it.namer.silent().empty());
    it.pass(1s);
    CHECK(it.namer.silent() == Pids{7});
    it.finders.let_go(7);
    it.answers(3);
}

TEST_CASE("the watcher sees by itself that a process does not answer") {
    KeptFinders finders;
    finders.keep(7);
    NamerLimits limits;
    limits.patience = 200ms;
    WorkerNamer namer(finders.maker(), limits);
    namer.submit({request_for(7), request_for(8)});
    // Where the machine is slow, 8 may be taken for silent for a moment as well.
    for (bool named = false; !named;) {
        pollfd ready{namer.ready_fd(), POLLIN, 0};
        REQUIRE(::poll(&ready, 1, 60'000) == 1);
        for (const NameAnswer& answer : namer.take()) {
            CHECK(answer.id.task.pid == 8);
            named = !answer.not_now;
            if (!named) namer.submit({request_for(8)});
        }
    }
    const Pids silent = namer.silent();
    CHECK(std::ranges::find(silent, 7U) != silent.end());
}

}  // namespace lattop::test
