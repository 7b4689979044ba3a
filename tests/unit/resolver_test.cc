// SPDX-License-Identifier: GPL-2.0-or-later
//
// The resolver on real processes, with a fake module that misses what it is
// told to and keeps what it is taught.
#include "lattop/resolver.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "lattop/resolver_worker.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/stopped_thread.h"

namespace lattop::test {
namespace {

constexpr int kLines = 13;
const std::string kProgram = std::string(LATTOP_TEST_PROGRAMS) + "/stack_O2";

class FakeDoor final : public ResolverDoor {
public:
    struct Lesson {
        lt_miss miss;
        std::vector<lt_row> rows;
        std::vector<lt_row_range> ranges;
    };

    ~FakeDoor() override {
        if (destroyed) destroyed();
    }
    std::vector<lt_miss> take() override {
        const std::lock_guard guard(lock);
        ++takes;
        fail_in_passing();
        eventfd_t ignored = 0;
        ::eventfd_read(ready_.get(), &ignored);
        if (fail) throw Error("the module is broken");
        if (gone) throw NoModuleError("the module was unloaded", "");
        return std::exchange(misses, {});
    }
    bool reopen() override {
        const std::lock_guard guard(lock);
        ++looks_for_module;
        gone = gone && !loaded_again;
        introduced = false;
        return !gone;
    }
    std::vector<lt_miss> sleepers() override {
        const std::lock_guard guard(lock);
        fail_in_passing();
        if (std::exchange(introduced, true)) return {};
        return asleep;
    }
    int teach(const lt_miss& miss, std::span<const lt_row> rows,
              std::span<const lt_row_range> ranges) override {
        if (miss.tgid == keeper) keeps.get_future().wait();
        const std::lock_guard guard(lock);
        if (fail) throw Error("the module is broken");
        lessons.push_back({miss, {rows.begin(), rows.end()}, {ranges.begin(), ranges.end()}});
        if (lessons.size() == gone_behind_lesson) gone = loaded_again = true;
        if (answers.empty()) return 0;
        const int answer = answers.front();
        answers.pop_front();
        return answer;
    }
    [[nodiscard]] std::unique_ptr<ResolverDoor> another() const override;
    [[nodiscard]] int ready_fd() const override { return ready_.get(); }

    /// It was unloaded, and is loaded again by the time it is looked for, or never.
    void unload(bool load_again) {
        const std::lock_guard guard(lock);
        gone = true;
        loaded_again = load_again;
        ::eventfd_write(ready_.get(), 1);
    }
    void miss(const lt_miss& what) {
        const std::lock_guard guard(lock);
        misses.push_back(what);
        ::eventfd_write(ready_.get(), 1);
    }
    /// Rows of each lesson so far.
    std::vector<std::size_t> lesson_rows() {
        const std::lock_guard guard(lock);
        std::vector<std::size_t> rows;
        for (const Lesson& lesson : lessons)
            rows.push_back(lesson.rows.size());
        return rows;
    }
    std::size_t lesson_count() {
        const std::lock_guard guard(lock);
        return lessons.size();
    }

    std::mutex lock;
    std::uint32_t keeper = 0;  // whose lesson takes until `keeps` is kept
    std::promise<void> keeps;
    std::function<void()> destroyed;
    std::vector<lt_miss> misses, asleep;
    std::vector<Lesson> lessons;
    std::deque<int> answers;
    std::size_t takes = 0;
    mutable std::atomic<int> others = 0;  // doors to it
    std::size_t looks_for_module = 0;
    bool fail = false;
    int passing = 0;  // so many reads fail in passing
    bool gone = false;
    bool loaded_again = false;
    bool introduced = false;  // once after each load: a slow machine comes to the next looks too
    std::size_t gone_behind_lesson = 0;  // unloaded once so many were taught, and loaded again

private:
    void fail_in_passing() {
        if (passing == 0) return;
        --passing;
        throw PassingError("no memory");
    }

    UniqueFd ready_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

/// To the same fake module.
class OtherDoor final : public ResolverDoor {
public:
    explicit OtherDoor(FakeDoor& door) : door_(door) {}
    std::vector<lt_miss> take() override { return door_.take(); }
    bool reopen() override { return door_.reopen(); }
    std::vector<lt_miss> sleepers() override { return door_.sleepers(); }
    int teach(const lt_miss& miss, std::span<const lt_row> rows,
              std::span<const lt_row_range> ranges) override {
        return door_.teach(miss, rows, ranges);
    }
    [[nodiscard]] std::unique_ptr<ResolverDoor> another() const override {
        return std::make_unique<OtherDoor>(door_);
    }
    [[nodiscard]] int ready_fd() const override { return door_.ready_fd(); }

private:
    FakeDoor& door_;
};

std::unique_ptr<ResolverDoor> FakeDoor::another() const {
    ++others;
    return std::make_unique<OtherDoor>(const_cast<FakeDoor&>(*this));
}

lt_miss miss_of(const Child& child) {
    const auto thread = StoppedThread::stop(wait_for_reader(child.task().pid));
    REQUIRE(thread);
    const lt_uframe frame = frame_of(thread->registers());
    lt_miss miss{};
    miss.pid = child.task().pid;
    miss.tgid = child.task().tgid;
    miss.start_ns = child.task().start_ns;
    miss.exec_id = child.task().exec_id;
    miss.flags = LT_ROW_EXACT;
    miss.pc = frame.pc;
    miss.sp = frame.sp;
    miss.bp = frame.bp;
    return miss;
}

/// So many files can be opened besides those that are open.
class FewFiles {
public:
    explicit FewFiles(std::size_t free) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        std::vector<UniqueFd> opened;  // each gets the lowest number there is
        while (opened.size() < free)
            opened.emplace_back(::eventfd(0, EFD_CLOEXEC));
        const rlimit few{static_cast<rlim_t>(opened.back().get()) + 1, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    FewFiles(const FewFiles&) = delete;
    FewFiles& operator=(const FewFiles&) = delete;
    ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

/// Counts who is looked at.
class FakeWatch final : public ResolverWatch {
public:
    bool begin(const ProgramId&) override {
        ++begun;
        return true;
    }
    void end() override { ++ended; }

    int begun = 0, ended = 0;
};

}  // namespace

TEST_CASE("one miss teaches the rows of the whole stack") {
    const Child child(kProgram, kLines);
    FakeDoor door;
    Resolver resolver(door);
    door.miss(miss_of(child));
    CHECK(resolver.step() == 1);
    REQUIRE(door.lessons.size() == 1);
    const FakeDoor::Lesson& lesson = door.lessons[0];
    CHECK(lesson.miss.pid == child.task().pid);
    CHECK(lesson.rows.size() >= 6);  // read, block, inner, outer, main, two of libc, _start
    CHECK(std::ranges::count(lesson.rows, LT_ROW_END, &lt_row::kind) == 1);
    for (const lt_row& row : lesson.rows) {
        CHECK(lt_row_valid(&row));
        CHECK(std::ranges::any_of(lesson.ranges, [&](const lt_row_range& range) {
            return row.pc > range.start && row.pc <= range.end;
        }));
    }
    CHECK(resolver.stats().rows == lesson.rows.size());
    CHECK(resolver.stats().ends.at(static_cast<std::size_t>(WalkEnd::Complete)) == 1);
}

TEST_CASE("a process is no longer looked at behind a lesson that failed") {
    const Child child(kProgram, kLines);
    FakeDoor door;
    FakeWatch watch;
    Resolver resolver(door, {}, "/proc", {}, &watch);
    door.asleep = {miss_of(child)};
    door.fail = true;
    CHECK_THROWS_AS(resolver.introduce(), Error);
    CHECK(watch.begun == 1);
    CHECK(watch.ended == 1);
}

TEST_CASE("a second process is taught at first sight what the first one needed") {
    const Child first(kProgram, kLines);
    const Child second(kProgram, kLines);
    FakeDoor door;
    Resolver resolver(door);
    door.miss(miss_of(first));
    resolver.step();
    lt_miss miss = miss_of(second);
    miss.sp = miss.bp = 0;  // nothing to walk
    door.miss(miss);
    resolver.step();
    REQUIRE(door.lessons.size() == 2);
    CHECK(door.lessons[1].rows.size() == door.lessons[0].rows.size());
    CHECK(resolver.stats().inherited == door.lessons[0].rows.size());
    CHECK(resolver.stats().files >= 2);
}

TEST_CASE("who sleeps already is introduced by the place it sleeps at") {
    const Child child(kProgram, kLines);
    FakeDoor door;
    Resolver resolver(door);
    lt_miss sleeper = miss_of(child);
    sleeper.sp = sleeper.bp = 0;
    door.asleep = {sleeper};
    CHECK(resolver.introduce() == 1);
    REQUIRE(door.lessons.size() == 1);
    REQUIRE(door.lessons[0].rows.size() == 1);
    CHECK(door.lessons[0].rows[0].pc == sleeper.pc);
}

TEST_CASE("sleepers are introduced a few at a time, so that the ring has room for what they miss") {
    FakeDoor door;
    lt_miss gone{};
    gone.pid = gone.tgid = UINT32_MAX;
    door.asleep.assign(LT_MAX_MISSES, gone);
    Resolver resolver(door);
    CHECK(resolver.introduce() == LT_MAX_MISSES);
    CHECK(door.takes >= 4);
}

TEST_CASE("what cannot be resolved is counted and does no harm") {
    const Child child(kProgram, kLines);
    FakeDoor door;
    Resolver resolver(door);
    lt_miss miss = miss_of(child);

    SECTION("another process has that pid") {
        miss.start_ns += 1'000'000'000;
        door.miss(miss);
        resolver.step();
        CHECK(resolver.stats().gone == 1);
        CHECK(door.lessons.empty());
    }
    SECTION("a pc that is no code") {
        miss.pc = 0x10;
        door.miss(miss);
        resolver.step();
        CHECK(door.lessons.empty());
        CHECK(resolver.stats().ends.at(static_cast<std::size_t>(WalkEnd::NoCode)) == 1);
    }
    SECTION("the program has changed meanwhile") {
        door.answers = {ESTALE};
        door.miss(miss);
        resolver.step();
        CHECK(resolver.stats().stale == 1);
        CHECK(resolver.stats().rows == 0);
    }
    SECTION("one thread has ended, another has not") {
        door.answers = {ESRCH};
        door.miss(miss);
        door.miss(miss);
        resolver.step();
        CHECK(door.lessons.size() == 2);
        CHECK(resolver.stats().stale == 0);
        CHECK(resolver.stats().rows != 0);
    }
    SECTION("the module refuses") {
        door.answers = {EINVAL};
        door.miss(miss);
        resolver.step();
        CHECK(resolver.stats().refused == 1);
        CHECK(resolver.stats().last_error == EINVAL);
    }
}

TEST_CASE("code whose file there was no descriptor for is not taught as what cannot be unwound") {
    const Child child(kProgram, kLines);
    FakeDoor door;
    Resolver resolver(door);
    const lt_miss miss = miss_of(child);
    {
        // The process, its memory, and the file's path, but not the file.
        const FewFiles few(3);
        for (int i = 0; i < 4; ++i) {
            door.miss(miss);
            resolver.step();
        }
    }
    CHECK(door.lessons.empty());
    CHECK(resolver.stats().gone == 0);
    CHECK(resolver.stats().walks == 4);
    door.miss(miss);
    resolver.step();
    REQUIRE(door.lessons.size() == 1);
    CHECK(std::ranges::count(door.lessons[0].rows, LT_ROW_END, &lt_row::kind) == 1);
}

TEST_CASE("as many files are held as the limits say") {
    const Child child(kProgram, kLines);
    FakeDoor door;
    ResolverLimits limits;
    limits.files = 1;
    Resolver resolver(door, limits);
    door.miss(miss_of(child));
    resolver.step();
    CHECK(resolver.stats().files == 1);
    CHECK(resolver.stats().ends.at(static_cast<std::size_t>(WalkEnd::Complete)) == 1);
}

TEST_CASE("processes are held as long as their maps fit") {
    const Child first(kProgram, kLines);
    const Child second(kProgram, kLines);
    FakeDoor door;
    ResolverLimits limits;
    SECTION("both do") {}
    SECTION("one does") {
        limits.process_bytes = 4096;
    }
    SECTION("one may") {
        limits.processes = 1;
    }
    Resolver resolver(door, limits);
    door.miss(miss_of(first));
    door.miss(miss_of(second));
    resolver.step();
    CHECK(door.lessons.size() == 2);
    CHECK(resolver.stats().processes ==
          (limits.process_bytes > 4096 && limits.processes > 1 ? 2 : 1));
}

TEST_CASE("frames of one step are bounded, a row for each miss is not") {
    const Child child(kProgram, kLines);
    FakeDoor door;
    ResolverLimits limits;
    limits.step_frames = 3;
    Resolver resolver(door, limits);
    const lt_miss miss = miss_of(child);
    door.miss(miss);
    door.miss(miss);
    resolver.step();
    CHECK(resolver.stats().walks == 2);
    CHECK(resolver.stats().frames == 4);
}

TEST_CASE("a process that has ended is let go of") {
    FakeDoor door;
    Resolver resolver(door);
    auto child = std::make_unique<Child>(kProgram, kLines);
    const lt_miss miss = miss_of(*child);
    door.miss(miss);
    resolver.step();
    CHECK(resolver.stats().processes == 1);
    child.reset();
    door.miss(miss);
    resolver.step();
    CHECK(resolver.stats().processes == 0);
    CHECK(resolver.stats().gone == 1);
}

TEST_CASE("the worker resolves on its own thread and ends when asked") {
    const Child child(kProgram, kLines);
    auto made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
    door.asleep = {miss_of(child)};
    ResolverWorker worker(std::move(made));
    while (door.lesson_count() < 1)
        std::this_thread::yield();
    door.miss(door.asleep[0]);
    while (door.lesson_count() < 2)
        std::this_thread::yield();
    CHECK(worker.state().running);
}

TEST_CASE("the worker is not idle before it has looked at who sleeps") {
    auto made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
    std::unique_lock held(door.lock);
    ResolverWorker worker(std::move(made));
    CHECK(!worker.state().idle);
    held.unlock();
    while (!worker.state().idle)
        std::this_thread::yield();
    CHECK(worker.state().running);
}

TEST_CASE("the worker says why it gave up") {
    auto made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
    door.fail = true;
    ResolverWorker worker(std::move(made));
    ::eventfd_write(door.ready_fd(), 1);
    while (worker.state().running)
        std::this_thread::yield();
    CHECK(worker.state().failure == "the module is broken");
}

TEST_CASE("the worker goes on behind reads that fail in passing") {
    const Child child(kProgram, kLines);
    auto made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
    door.passing = GENERATE(1, 2);  // who sleeps, and then the first misses
    const int failures = door.passing;
    ResolverWorker worker(std::move(made));
    while (!worker.state().idle && worker.state().running)
        std::this_thread::yield();
    door.miss(miss_of(child));
    while (door.lesson_count() < 1 && worker.state().running)
        std::this_thread::yield();
    while (!worker.state().idle && worker.state().running)
        std::this_thread::yield();
    const ResolverWorker::State state = worker.state();
    CHECK(state.running);
    CHECK(state.failure.empty());
    CHECK(state.stats.failed_reads == static_cast<std::uint64_t>(failures));
}

TEST_CASE("the worker teaches a module that is loaded again from the start") {
    const Child child(kProgram, kLines);
    auto made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
    door.asleep = {miss_of(child)};
    ResolverWorker worker(std::move(made));
    while (door.lesson_count() < 1)
        std::this_thread::yield();
    door.unload(true);
    while (door.lesson_count() < 2)
        std::this_thread::yield();
    const std::vector<std::size_t> rows = door.lesson_rows();
    CHECK(rows[1] == rows[0]);
    // What it did is published behind the lesson, and it was idle between the two loads already.
    while (worker.state().stats.rows < rows[0] + rows[1] || !worker.state().idle)
        std::this_thread::yield();
    const ResolverWorker::State state = worker.state();
    CHECK(state.running);
    CHECK(!state.waiting);
    CHECK(state.loads == 2);
    CHECK(state.stats.rows == rows[0] + rows[1]);
    CHECK(door.lesson_count() == 2);
}

TEST_CASE("what the worker taught last before the module went is counted") {
    const Child child(kProgram, kLines);
    auto made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
    door.asleep = {miss_of(child)};
    door.gone_behind_lesson = 1;
    ResolverWorker worker(std::move(made));
    while (!worker.state().idle)
        std::this_thread::yield();
    const std::vector<std::size_t> rows = door.lesson_rows();
    REQUIRE(rows.size() == 2);
    CHECK(worker.state().loads == 2);
    CHECK(worker.state().stats.rows == rows[0] + rows[1]);
}

TEST_CASE("the worker waits for a module that was unloaded, and ends when asked") {
    auto made = std::make_unique<FakeDoor>();
    FakeDoor& door = *made;
    door.unload(false);
    ResolverWorker worker(std::move(made));
    while (!worker.state().waiting)
        std::this_thread::yield();
    CHECK(worker.state().running);
    CHECK(!worker.state().idle);
    CHECK(worker.state().loads == 1);
}

namespace {

/// One process that keeps who looks at it, another that does not, and a door that both come by.
struct Kept {
    Kept() : door(*made) {
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

    const Child keeper{kProgram, kLines};
    const Child other{kProgram, kLines};
    std::unique_ptr<FakeDoor> made = std::make_unique<FakeDoor>();
    FakeDoor& door;
    std::promise<void> ended;
    ResolverLimits limits;
};

}  // namespace

TEST_CASE("a process that keeps the worker's thread is left behind with it, and the rest goes on") {
    Kept world;
    FakeDoor& door = world.door;
    {
        ResolverWorker worker(std::move(world.made), world.limits);
        door.miss(miss_of(world.keeper));
        while (worker.state().keepers.empty())
            std::this_thread::yield();
        CHECK(worker.state().keepers == std::vector{door.keeper});
        door.miss(miss_of(world.keeper));
        door.miss(miss_of(world.other));
        while (worker.state().stats.rows == 0)
            std::this_thread::yield();
        CHECK(worker.state().running);
        CHECK(worker.state().stats.left_alone == 1);
        CHECK(door.lesson_count() == 1);
    }
    world.let_go();
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
    while (door.lesson_count() == 0)
        std::this_thread::yield();
    CHECK(worker.state().stats.left_alone == 0);
}

TEST_CASE("a thread that is kept is left behind also where nobody asks what it does") {
    Kept world;
    FakeDoor& door = world.door;
    const lt_miss its = miss_of(world.other);
    {
        ResolverWorker worker(std::move(world.made), world.limits);
        door.miss(miss_of(world.keeper));
        while (door.others == 0)
            std::this_thread::yield();
        door.miss(its);
        while (door.lesson_count() == 0)
            std::this_thread::yield();
        CHECK(worker.state().keepers == std::vector{door.keeper});
    }
    world.let_go();
}

}  // namespace lattop::test
