// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/verbs/diff.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/golden.h"

namespace lattop::test {
namespace {

MergedStack stack(const std::string& command, std::uint64_t blocked_ns, std::uint64_t sleeps,
                  const std::string& function = "worker") {
    MergedStack result;
    result.command = command;
    result.frames = {
        {"main", "", 0, false}, {function, "a.c", 3, false}, {"futex_wait", "", 0, true}};
    result.reason = "futex";
    result.blocked_ns = blocked_ns;
    result.sleeps = sleeps;
    return result;
}

}  // namespace

TEST_CASE("a change is per second, of recordings of any length") {
    const auto changes = diff_stacks({stack("a", 10'000'000'000, 100), stack("b", 5'000'000, 5)},
                                     10, {stack("a", 3'000'000'000, 20)}, 2);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].stack.command == "a");
    CHECK(changes[0].before_ns == Approx(1e9));
    CHECK(changes[0].after_ns == Approx(1.5e9));
    CHECK(changes[0].before_sleeps == Approx(10));
    CHECK(changes[0].after_sleeps == Approx(10));
    CHECK(changes[1].stack.command == "b");
    CHECK(changes[1].after_ns == 0);
}

TEST_CASE("a stack is the same where its process is, whichever thread had it most") {
    MergedStack before = stack("worker-1 +7", 1'000'000'000, 10);
    MergedStack after = stack("worker-3", 3'000'000'000, 10);
    before.process = after.process = "server";
    const auto changes = diff_stacks({before}, 1, {after}, 1);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].before_ns == Approx(1e9));
    CHECK(changes[0].after_ns == Approx(3e9));
    CHECK(changes[0].stack.command == "worker-3");
}

TEST_CASE("the diff of two recordings looks as recorded") {
    const std::vector<MergedStack> before = {stack("same", 1'000'000'000, 10),
                                             stack("worker", 1'000'000'000, 100),
                                             stack("old", 400'000'000, 4)};
    const std::vector<MergedStack> after = {
        stack("same", 1'000'000'000, 10), stack("worker", 9'000'000'000, 102),
        stack("new\x1b[2J", 300'000'000, 3), stack("new", 200'000'000, 2, "elsewhere")};
    check_golden("diff.txt", diff_text(diff_stacks(before, 10, after, 10), 10, Charset::Utf8));
}

TEST_CASE("a recording is not slower than itself, and a limit holds each way") {
    const std::vector<MergedStack> one = {stack("a", 1'000'000'000, 10), stack("b", 5, 1)};
    const std::string same = diff_text(diff_stacks(one, 3, one, 3), 10, Charset::Ascii);
    CHECK_THAT(same, has_text("a second\nnothing\n\nFaster: blocked less, a second\nnothing\n"));
    const std::vector<MergedStack> more = {stack("c", 10'000'000, 1), stack("d", 20'000'000, 1),
                                           stack("e", 30'000'000, 1)};
    const std::string limited = diff_text(diff_stacks({}, 1, more, 1), 2, Charset::Ascii);
    CHECK_THAT(limited, has_text(" e\n") && has_text(" d\n"));
    CHECK_THAT(limited, !has_text(" c\n"));
}

}  // namespace lattop::test
