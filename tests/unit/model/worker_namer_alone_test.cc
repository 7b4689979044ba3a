// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whose names are put off, and until when, as his programs kept a WorkerNamer's threads.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/kept_namer.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

using Answers = std::vector<std::string>;

}  // namespace

TEST_CASE("a user's program that is slow at one stack after the other is put off for a while") {
    Named it;
    it.ask_slow(107, 3s, 1);
    it.ask_slow(107, 3s, 2);
    it.namer.submit({request_for(107, 3), request_for(108)});
    CHECK(it.answers(2) == Answers{"107/3 not now", "108/1 108 by 0"});
    SECTION("but not its stack as it is now, which somebody looks at") {
        NameRequest live = request_for(107, 4);
        live.live = true;
        it.namer.submit({live});
        CHECK(it.answers(1) == Answers{"107/4 107 by 0"});
    }
    SECTION("till what it took beyond five seconds is a tenth of the time since") {
        it.pass(6s);
        it.namer.submit({request_for(107, 3)});
        CHECK(it.answers(1) == Answers{"107/3 not now"});
        it.pass(1s);
        it.namer.submit({request_for(107, 3)});
        CHECK(it.answers(1) == Answers{"107/3 107 by 0"});
    }
}

TEST_CASE("a user whose programs are slow one after the other is put off, and nobody else") {
    Named it;
    for (std::uint32_t i = 0; i < 3; ++i)
        it.ask_slow(100 + i, 9s);
    it.namer.submit({request_for(150), request_for(200), request_for(50)});
    CHECK(it.answers(3) == Answers{"150/1 not now", "200/1 200 by 0", "50/1 50 by 0"});
    CHECK(it.namer.silent().empty());
}

TEST_CASE("root's processes are looked at however slow they are") {
    Named it;
    for (std::uint32_t i = 0; i < 5; ++i)
        it.ask_slow(1, 9s, i + 1);
}

TEST_CASE("a user's work has half of a thread's time, beyond the first minutes") {
    Named it;
    for (std::uint64_t trace = 1; trace <= 2; ++trace) {
        it.ask_kept(107, {request_for(107, trace)});
        for (int i = 0; i < 2; ++i) {
            it.worked = it.worked.load() + 10s;
            it.pass(10s);
        }
        it.finders.let_go(107);
        CHECK(it.answers(1) == Answers{fmt::format("107/{} 107 by 0", trace)});
    }
    it.namer.submit({request_for(107, 3)});
    CHECK(it.answers(1) == Answers{"107/3 not now"});
    CHECK(it.namer.silent().empty());
    CHECK(it.namer.put_off() == std::vector<std::uint32_t>{107});
    CHECK(it.namer.progress() == "names: 1 process of users with slow ones put off (107)");
    it.pass(60s);
    CHECK(it.namer.put_off().empty());
    CHECK(it.namer.progress().empty());
    it.namer.submit({request_for(107, 3)});
    CHECK(it.answers(1) == Answers{"107/3 107 by 0"});
}

TEST_CASE("all that a look took counts, also beyond the patience") {
    Named it;
    it.ask_slow(107, 10s);
    it.pause(1h);
    // Slow on a thread of its own, where it has twice the time
    it.ask_slow(107, 19s, 2);
    it.pass(100s);
    it.namer.submit({request_for(107, 3)});
    CHECK(it.answers(1) == Answers{"107/3 not now"});
}

TEST_CASE("time in which lattop itself was stopped is no user's doing") {
    const bool watcher_first = GENERATE(true, false);  // or the thread is through
    Named it;
    it.ask_kept(107, {request_for(107, 1)});
    it.pass(1s);
    if (watcher_first)
        it.pause(1h);
    else
        it.time = it.time.load() + 1h;
    it.finders.let_go(107);
    CHECK(it.answers(1) == Answers{"107/1 107 by 0"});
    it.namer.submit({request_for(107, 2)});
    CHECK(it.answers(1) == Answers{"107/2 107 by 0"});
    CHECK(it.namer.put_off().empty());
}

TEST_CASE("a user's threads that are at work at once are half of all as well") {
    Named it;
    for (std::uint32_t i = 0; i < 9; ++i) {
        it.ask_in_vain(100 + i, 1);
        it.finders.let_go(100 + i);
        it.answers(1);
        it.pause(1h);
    }
    std::vector<NameRequest> requests;
    for (std::uint32_t i = 0; i < 9; ++i) {
        it.finders.keep(100 + i);
        requests.push_back(request_for(100 + i));
    }
    it.namer.submit(requests);
    CHECK(it.answers(1).at(0).ends_with("not now"));
    it.finders.wait_for_kept(8);
}

TEST_CASE("half of the threads that are left behind are one user's at most") {
    Named it;
    for (std::uint32_t i = 0; i < 8; ++i) {
        // What he kept them for is forgotten, but not that he still does.
        it.ask_in_vain(100 + i, i + 1);
        it.pause(1h);
    }
    it.namer.submit({request_for(150), request_for(200)});
    CHECK(it.answers(2) == Answers{"150/1 not now", "200/1 200 by 8"});
}

}  // namespace lattop::test
