// SPDX-License-Identifier: GPL-2.0-or-later
//
// The thread that resolves: when it begins, waits, gives up, ends, and is left behind with a
// process that keeps it.
#include "lattop/resolver_worker.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/fake_resolver_door.h"

namespace lattop::test {
namespace {

template <typename So>
void until(const So& so) {
    while (!so())
        std::this_thread::yield();
}

/// A fake module: a worker is given `made`, and what it does there is seen in `door`.
struct Module {
    std::unique_ptr<FakeDoor> made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
};

/// One process that sleeps already.
struct Sleeper : Module {
    Sleeper() { door.asleep = {miss_of(child)}; }

    const Child child{kResolvedProgram, kResolvedLines};
};

/// One process that keeps who looks at it, another that does not, and a door that both come by.
struct Kept : Module {
    Kept() {
        door.destroyed = [this] { ended.set_value(); };
        door.keeper = miss_of(keeper).tgid;
        limits.patience =
            std::chrono::seconds(2);  // the other one is not to take as long, on any machine
    }

    /// The thread that was left behind goes on, and ends.
    void let_go() {
        door.keeps.set_value();
        ended.get_future().wait();
    }

    const Child keeper{kResolvedProgram, kResolvedLines};
    const Child other{kResolvedProgram, kResolvedLines};
    std::promise<void> ended;
    ResolverLimits limits;
};

}  // namespace

TEST_CASE("the worker resolves on its own thread and ends when asked") {
    Sleeper world;
    FakeDoor& door = world.door;
    ResolverWorker worker(std::move(world.made));
    until([&] { return door.lesson_count() >= 1; });
    door.miss(door.asleep[0]);
    until([&] { return door.lesson_count() >= 2; });
    CHECK(worker.state().running);
}

TEST_CASE("who sleeps and could not be taught for the moment is taught later, unasked") {
    Sleeper world;
    FakeDoor& door = world.door;
    door.answers = {EAGAIN};
    ResolverWorker worker(std::move(world.made));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    until([&] { return worker.state().stats.rows != 0 || std::chrono::steady_clock::now() > end; });
    CHECK(worker.state().stats.refused == 1);
    CHECK(door.lesson_count() == 2);
}

TEST_CASE("the worker is not idle before it has looked at who sleeps") {
    Module world;
    FakeDoor& door = world.door;
    std::unique_lock held(door.lock);
    ResolverWorker worker(std::move(world.made));
    CHECK(!worker.state().idle);
    held.unlock();
    until([&] { return worker.state().idle; });
    CHECK(worker.state().running);
}

TEST_CASE("the worker says why it gave up") {
    Module world;
    FakeDoor& door = world.door;
    door.fail = true;
    ResolverWorker worker(std::move(world.made));
    ::eventfd_write(door.ready_fd(), 1);
    until([&] { return !worker.state().running; });
    CHECK(worker.state().failure == "the module is broken");
}

TEST_CASE("the worker goes on behind reads that fail in passing") {
    const Child child(kResolvedProgram, kResolvedLines);
    Module world;
    FakeDoor& door = world.door;
    door.passing = GENERATE(1, 2);  // who sleeps, and then the first misses
    const int failures = door.passing;
    ResolverWorker worker(std::move(world.made));
    until([&] { return worker.state().idle || !worker.state().running; });
    door.miss(miss_of(child));
    until([&] { return door.lesson_count() >= 1 || !worker.state().running; });
    until([&] { return worker.state().idle || !worker.state().running; });
    const ResolverWorker::State state = worker.state();
    CHECK(state.running);
    CHECK(state.failure.empty());
    CHECK(state.stats.failed_reads == static_cast<std::uint64_t>(failures));
}

TEST_CASE("the worker teaches a module that is loaded again from the start") {
    Sleeper world;
    FakeDoor& door = world.door;
    ResolverWorker worker(std::move(world.made));
    until([&] { return door.lesson_count() >= 1; });
    door.unload(true);
    until([&] { return door.lesson_count() >= 2; });
    const std::vector<std::size_t> rows = door.lesson_rows();
    CHECK(rows[1] == rows[0]);
    // What it did is published behind the lesson, and it was idle between the two loads already.
    until([&] { return worker.state().stats.rows >= rows[0] + rows[1] && worker.state().idle; });
    const ResolverWorker::State state = worker.state();
    CHECK(state.running);
    CHECK(!state.waiting);
    CHECK(state.loads == 2);
    CHECK(state.stats.rows == rows[0] + rows[1]);
    CHECK(door.lesson_count() == 2);
}

TEST_CASE("what the worker taught last before the module went is counted") {
    Sleeper world;
    FakeDoor& door = world.door;
    door.gone_behind_lesson = 1;
    ResolverWorker worker(std::move(world.made));
    until([&] { return worker.state().idle; });
    const std::vector<std::size_t> rows = door.lesson_rows();
    REQUIRE(rows.size() == 2);
    CHECK(worker.state().loads == 2);
    CHECK(worker.state().stats.rows == rows[0] + rows[1]);
}

TEST_CASE("the worker waits for a module that was unloaded, and ends when asked") {
    Module world;
    FakeDoor& door = world.door;
    door.unload(false);
    ResolverWorker worker(std::move(world.made));
    until([&] { return worker.state().waiting; });
    CHECK(worker.state().running);
    CHECK(!worker.state().idle);
    CHECK(worker.state().loads == 1);
}

TEST_CASE("a process that keeps the worker's thread is left behind with it, and the rest goes on") {
    Kept world;
    FakeDoor& door = world.door;
    {
        ResolverWorker worker(std::move(world.made), world.limits);
        door.miss(miss_of(world.keeper));
        until([&] { return !worker.state().keepers.empty(); });
        CHECK(worker.state().keepers == std::vector{door.keeper.load()});
        door.miss(miss_of(world.keeper));
        door.miss(miss_of(world.other));
        until([&] { return worker.state().stats.rows != 0; });
        CHECK(worker.state().running);
        CHECK(worker.state().stats.left_alone == 1);
        CHECK(door.lesson_count() == 1);
    }
    world.let_go();
}

TEST_CASE("a thread that was left behind goes on with nothing else") {
    Kept world;
    FakeDoor& door = world.door;
    door.destroyed = nullptr;  // behind what waits for it
    world.limits.left_alone = 0;
    ResolverWorker worker(door.another(), world.limits);
    const std::vector both = {miss_of(world.keeper), miss_of(world.other)};
    until([&] { return worker.state().idle; });
    {
        const std::lock_guard guard(door.lock);
        door.misses = both;
    }
    ::eventfd_write(door.ready_fd(), 1);
    until([&] { return !worker.state().keepers.empty(); });
    door.keeper = 0;
    door.keeps.set_value();
    // It is looked at again once its thread has ended.
    until([&] {
        door.miss(both[0]);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return door.lesson_count() >= 2;
    });
    const std::lock_guard guard(door.lock);
    for (const FakeDoor::Lesson& lesson : door.lessons)
        CHECK(lesson.miss.tgid == both[0].tgid);
}

TEST_CASE("beside a thread that was left behind less is held, until that has ended") {
    Kept world;
    FakeDoor& door = world.door;
    door.destroyed = nullptr;
    world.limits.processes = 2;
    const Child third(kResolvedProgram, kResolvedLines);
    ResolverWorker worker(door.another(), world.limits);
    const auto held = [&] {
        const std::size_t before = worker.state().stats.misses;
        {
            const std::lock_guard guard(door.lock);
            door.misses = {miss_of(world.other), miss_of(third)};
        }
        ::eventfd_write(door.ready_fd(), 1);
        until([&] {
            const auto state = worker.state();
            return state.idle && state.stats.misses >= before + 2;
        });
        return worker.state().stats.processes;
    };
    CHECK(held() == 2);
    door.miss(miss_of(world.keeper));
    until([&] { return !worker.state().keepers.empty(); });
    CHECK(held() == 1);
    door.keeper = 0;
    door.keeps.set_value();
    until([&] { return held() == 2; });
}

TEST_CASE("a process that kept a thread, at work or waiting, is not looked at again soon") {
    Kept world;
    FakeDoor& door = world.door;
    door.destroyed = nullptr;
    ResolverWorker worker(door.another(), world.limits);
    const lt_miss its = miss_of(world.keeper);
    const bool works = GENERATE(true, false);
    door.others = 0;
    if (works) {
        door.keeper = 0;
        door.burner = its.tgid;
    }
    door.miss(its);
    until([&] { return !worker.state().keepers.empty(); });
    if (!works) {
        door.keeper = 0;
        door.keeps.set_value();
    }
    std::this_thread::sleep_for(world.limits.patience);  // its thread has ended, as is seen by then
    CHECK(door.lesson_count() == 1);
    door.miss(its);
    until([&] { return worker.state().stats.left_alone != 0 || door.lesson_count() > 1; });
    CHECK(worker.state().stats.left_alone == 1);
    door.miss(miss_of(world.other));
    until([&] { return door.lesson_count() >= 2; });
    CHECK(worker.state().keepers.size() == 1);
}

TEST_CASE("a process whose look took long is not looked at again soon, though it kept no thread") {
    Kept world;
    FakeDoor& door = world.door;
    world.limits.patience = std::chrono::seconds(4);        // of which half is free
    world.limits.unnoted = std::chrono::milliseconds(500);  // of the other one
    ResolverWorker worker(std::move(world.made), world.limits);
    const lt_miss its = miss_of(world.keeper);
    door.miss(its);
    until([&] { return !worker.state().idle; });
    std::this_thread::sleep_for(5 * world.limits.unnoted);
    door.keeper = 0;
    door.keeps.set_value();
    until([&] { return door.lesson_count() == 1; });
    door.miss(its);
    until([&] { return worker.state().stats.left_alone != 0 || door.lesson_count() > 1; });
    CHECK(worker.state().stats.left_alone == 1);
    door.miss(miss_of(world.other));
    until([&] { return door.lesson_count() >= 2; });
    CHECK(worker.state().keepers.empty());
}

TEST_CASE("time in which lattop itself was stopped is no process's doing") {
    using namespace std::chrono_literals;
    Kept world;
    world.limits.patience = 3s;  // whoever stops it takes less to begin
    FakeDoor& door = world.door;
    ResolverWorker worker(std::move(world.made), world.limits);
    door.miss(miss_of(world.keeper));
    std::this_thread::sleep_for(300ms);  // it is at that one by now
    const auto before = std::chrono::steady_clock::now();
    const pid_t self = ::getpid();
    const std::string stop = fmt::format("(kill -STOP {0}; sleep 4; kill -CONT {0}) &", self);
    REQUIRE(std::system(stop.c_str()) == 0);
    while (std::chrono::steady_clock::now() - before < 4s)
        std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(300ms);
    CHECK(worker.state().keepers.empty());
    door.keeps.set_value();
    door.miss(miss_of(world.other));
    until([&] { return door.lesson_count() != 0; });
    CHECK(worker.state().stats.left_alone == 0);
}

TEST_CASE("a thread that is kept is left behind also where nobody asks what it does") {
    Kept world;
    FakeDoor& door = world.door;
    const lt_miss its = miss_of(world.other);
    {
        ResolverWorker worker(std::move(world.made), world.limits);
        door.miss(miss_of(world.keeper));
        until([&] { return door.others != 0; });
        door.miss(its);
        until([&] { return door.lesson_count() != 0; });
        CHECK(worker.state().keepers == std::vector{door.keeper.load()});
    }
    world.let_go();
}

}  // namespace lattop::test
