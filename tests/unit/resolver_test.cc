// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the resolver teaches a module of real processes, and what it holds.
#include "lattop/resolver.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/fake_resolver_door.h"

namespace lattop::test {
namespace {

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
    bool is_of(Payer payer) override {
        whose = payer;
        return !users_left_alone;
    }
    void end() override { ++ended; }

    int begun = 0, ended = 0;
    Payer whose = kNoPayer;
    bool users_left_alone = false;
};

/// What this process starts meanwhile is another user's. Root's alone to be.
class AsUser {
public:
    explicit AsUser(uid_t user) { REQUIRE(::setresuid(user, user, 0) == 0); }
    AsUser(const AsUser&) = delete;
    AsUser& operator=(const AsUser&) = delete;
    ~AsUser() { ::setresuid(0, 0, 0); }
};

}  // namespace

TEST_CASE("one miss teaches the rows of the whole stack") {
    const Child child(kResolvedProgram, kResolvedLines);
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
    const Child child(kResolvedProgram, kResolvedLines);
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
    const Child first(kResolvedProgram, kResolvedLines);
    const Child second(kResolvedProgram, kResolvedLines);
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

TEST_CASE("what one user's stack asked for is not taught to another's processes") {
    if (::geteuid() != 0) return;  // rows are known to who may have asked: stack_test, as anyone
    const TempFolder folder;       // where other users see it
    const std::string program = folder.path() + "/program";
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::copy_file(kResolvedProgram, program);
    constexpr uid_t kOne = 61001, kOther = 61002, kThird = 61003;
    const auto start = [&](uid_t user) {
        const AsUser as(user);
        return std::make_unique<Child>(program, kResolvedLines);
    };
    FakeDoor door;
    Resolver resolver(door);
    const auto rows_for = [&](const Child& child, bool whole) {
        lt_miss miss = miss_of(child);
        if (!whole) miss.sp = miss.bp = 0;  // nothing to walk
        door.miss(miss);
        resolver.step();
        return door.lessons.back().rows.size();
    };
    const auto first = start(kOne);
    const std::size_t all = rows_for(*first, true);
    REQUIRE(all >= 6);
    const auto second = start(kOther);
    CHECK(rows_for(*second, false) == 1);
    CHECK(resolver.stats().inherited == 0);
    const auto own = start(kOne);
    CHECK(rows_for(*own, false) == all);
    const auto third = start(kThird);
    CHECK(rows_for(*third, false) == 1);  // two have asked for that one
    CHECK(resolver.stats().inherited == all + 1);
    const Child roots(program, kResolvedLines);
    CHECK(rows_for(roots, true) == all);
    const auto last = start(kThird);
    CHECK(rows_for(*last, false) == all);
}

TEST_CASE("a resolver that is left behind lets go of all that it has not begun") {
    const Child child(kResolvedProgram, kResolvedLines);
    FakeDoor door;
    FakeWatch watch;
    Resolver resolver(door, {}, "/proc", {}, &watch);
    door.asleep = {miss_of(child)};
    watch.leave();
    resolver.introduce();
    door.miss(miss_of(child));
    resolver.step();
    CHECK(watch.begun == 0);
    CHECK(door.lessons.empty());
}

TEST_CASE("whose a process is is asked before it is looked at") {
    const Child child(kResolvedProgram, kResolvedLines);
    FakeDoor door;
    FakeWatch watch;
    Resolver resolver(door, {}, "/proc", {}, &watch);
    const auto step = [&] {
        door.miss(miss_of(child));
        resolver.step();
        return door.lessons.size();
    };
    watch.users_left_alone = true;
    CHECK(step() == 0);
    CHECK(watch.whose == ::getuid());
    CHECK(resolver.stats().processes == 0);
    watch.users_left_alone = false;
    CHECK(step() == 1);
    watch.users_left_alone = true;  // it is known by now
    CHECK(step() == 1);
    CHECK(resolver.stats().left_alone == 2);
}

TEST_CASE("who sleeps already is introduced by the place it sleeps at") {
    const Child child(kResolvedProgram, kResolvedLines);
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
    const Child child(kResolvedProgram, kResolvedLines);
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

TEST_CASE("where few files can be open a program at a time is held, not none") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit few{15, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const std::size_t held = limits_here().processes;
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(held == 1);  // the limits' bytes are divided by it
}

TEST_CASE("who could not be taught for the moment is tried again until that is over") {
    const Child child(kResolvedProgram, kResolvedLines);
    FakeDoor door;
    FakeWatch watch;
    Resolver resolver(door, {}, "/proc", {}, &watch);
    SECTION("its lesson is refused") {
        const int error = GENERATE(EAGAIN, ENOMEM, ENOSPC);
        door.answers = {error};
        door.miss(miss_of(child));
        resolver.step();
        CHECK(resolver.next_try());
    }
    SECTION("it is left alone") {
        watch.users_left_alone = true;
        door.miss(miss_of(child));
        resolver.step();
        watch.users_left_alone = false;
        CHECK(resolver.next_try());
    }
    SECTION("there is no descriptor") {
        const lt_miss miss = miss_of(child);
        const FewFiles few(1);
        door.miss(miss);
        resolver.step();
        CHECK(resolver.next_try());
    }
    SECTION("nor is who is not to be taught at all") {
        door.answers = {EINVAL};
        door.miss(miss_of(child));
        resolver.step();
    }
    door.miss(miss_of(child));
    resolver.step();
    CHECK(resolver.stats().rows != 0);
    CHECK(!resolver.next_try());
}

TEST_CASE("code whose file there was no descriptor for is not taught as what cannot be unwound") {
    const Child child(kResolvedProgram, kResolvedLines);
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

TEST_CASE("a process for which there was no descriptor does not count as gone") {
    const Child child(kResolvedProgram, kResolvedLines);
    FakeDoor door;
    Resolver resolver(door);
    const lt_miss miss = miss_of(child);
    for (const std::size_t free : {1U, 2U}) {  // its folder; its memory, too
        const FewFiles few(free);
        door.miss(miss);
        resolver.step();
    }
    CHECK(door.lessons.empty());
    CHECK(resolver.stats().gone == 0);
    CHECK(resolver.stats().unopened == 2);
    door.miss(miss);
    resolver.step();
    REQUIRE(door.lessons.size() == 1);
    SECTION("nor does one that is known") {
        {
            const FewFiles few(1);
            const UniqueFd last(::eventfd(0, EFD_CLOEXEC));
            door.miss(miss);
            resolver.step();
        }
        CHECK(resolver.stats().gone == 0);
        CHECK(resolver.stats().unopened == 2);
        CHECK(resolver.stats().walks == 2);
    }
}

TEST_CASE("as many files are held as the limits say") {
    const Child child(kResolvedProgram, kResolvedLines);
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
    const Child first(kResolvedProgram, kResolvedLines);
    const Child second(kResolvedProgram, kResolvedLines);
    FakeDoor door;
    ResolverLimits limits;
    SECTION("both do") {}
    SECTION("one does") {
        limits.process_bytes = 1024;
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
          (limits.process_bytes > 1024 && limits.processes > 1 ? 2 : 1));
}

TEST_CASE("a resolver beside others that hold what they had holds less") {
    const Child first(kResolvedProgram, kResolvedLines);
    const Child second(kResolvedProgram, kResolvedLines);
    FakeDoor door;
    ResolverLimits limits;
    limits.processes = 2;
    limits.files = 2;
    Resolver resolver(door, limits);
    const auto step = [&] {
        door.miss(miss_of(first));
        door.miss(miss_of(second));
        resolver.step();
    };
    step();
    CHECK(resolver.stats().processes == 2);
    CHECK(resolver.stats().files == 2);
    resolver.hold({limits.file_bytes / 2, limits.process_bytes / 2});
    step();
    CHECK(resolver.stats().processes == 1);
    CHECK(resolver.stats().files == 1);
    resolver.hold({});
    step();
    CHECK(resolver.stats().processes == 2);
    CHECK(resolver.stats().unopened == 0);
}

TEST_CASE("a file that there is no room for is neither read nor taken for one without rows") {
    const Child child(kResolvedProgram, kResolvedLines);
    FakeDoor door;
    Resolver resolver(door);
    resolver.hold({256, SIZE_MAX});
    door.miss(miss_of(child));
    resolver.step();
    CHECK(resolver.stats().files == 0);
    CHECK(resolver.stats().unopened != 0);
    CHECK(resolver.stats().causes == decltype(ResolverStats::causes){});
    resolver.hold({});
    door.miss(miss_of(child));
    resolver.step();
    CHECK(resolver.stats().ends.at(static_cast<std::size_t>(WalkEnd::Complete)) == 1);
}

TEST_CASE("frames of one step are bounded, a row for each miss is not") {
    const Child child(kResolvedProgram, kResolvedLines);
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
    auto child = std::make_unique<Child>(kResolvedProgram, kResolvedLines);
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

}  // namespace lattop::test
