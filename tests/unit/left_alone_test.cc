// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who is left alone for having kept the resolver's thread, and for how long.
#include "lattop/left_alone.h"

#include <cstdint>

#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

constexpr Payer kPayer = 1000, kOtherPayer = 1001;

/// By what the resolver has by itself: looks of ten seconds, ten minutes for it.
struct Alone {
    LeftAlone alone{{.times = 60, .patience = 10s, .most = 10s, .kept = 8}};
    LeftAlone::Time now{1h};

    /// Keeps the thread for longer than the patience, and is through.
    void keep(std::uint32_t pid, Payer payer) {
        alone.keep({pid, 1}, payer);
        now += 13s;
        alone.left_behind(payer, 10s, now);
        alone.through({pid, 1}, now);
    }
};

}  // namespace

TEST_CASE("a program is left alone sixty times as long as looks at it took, ten minutes at most") {
    Alone its;
    its.alone.note({7, 1}, kPayer, 5s, its.now);  // once: its files are large
    CHECK(!its.alone.program({7, 1}, its.now));
    its.alone.note({7, 1}, kPayer, 2s, its.now);
    CHECK(its.alone.program({7, 1}, its.now + 119s));
    CHECK(!its.alone.program({7, 1}, its.now + 120s));
    CHECK(!its.alone.program({7, 2}, its.now));
    its.alone.note({7, 1}, kPayer, 9min, its.now);
    CHECK(its.alone.program({7, 1}, its.now + 599s));
    CHECK(!its.alone.program({7, 1}, its.now + 600s));
}

TEST_CASE(
    "a program that keeps a thread is left alone until that is through, and ten minutes more") {
    Alone its;
    its.alone.keep({7, 1}, kPayer);
    CHECK(its.alone.program({7, 1}, its.now + 24h));
    its.now += 24h;
    its.alone.through({7, 1}, its.now);
    CHECK(its.alone.program({7, 1}, its.now + 599s));
    CHECK(!its.alone.program({7, 1}, its.now + 600s));
    its.alone.keep({8, 1}, kPayer);
    its.alone.let_go({8, 1});
    CHECK(!its.alone.program({8, 1}, its.now));
}

TEST_CASE(
    "of a user whose programs keep one thread after the other all are left alone for a time") {
    Alone its;
    its.keep(1, kPayer);
    its.keep(2, kPayer);
    CHECK(!its.alone.user(kPayer, its.now));
    its.keep(3, kPayer);
    CHECK(its.alone.user(kPayer, its.now));
    CHECK(!its.alone.user(kOtherPayer, its.now));
    CHECK(its.alone.user(kPayer, its.now + 9min));
    CHECK(!its.alone.user(kPayer, its.now + 10min));
    its.now += 10min;
    its.keep(4, kPayer);  // and so has a sixtieth of the time, whatever it forks
    CHECK(its.alone.user(kPayer, its.now + 9min));
    CHECK(!its.alone.user(kPayer, its.now + 10min));
}

TEST_CASE(
    "root's programs, and those of nobody known, are not left alone for one another's doing") {
    Alone its;
    for (const Payer payer : {kRootPayer, kNoPayer}) {
        for (std::uint32_t pid = 0; pid < 16; ++pid)
            its.keep(pid, payer);
        CHECK(!its.alone.user(payer, its.now));
    }
}

TEST_CASE(
    "a user's programs that keep half of the threads there may be are all that is looked at") {
    Alone its;
    for (std::uint32_t pid = 0; pid < 8; ++pid) {
        CHECK(!its.alone.user(kPayer, its.now));
        its.alone.keep({pid, 1}, kPayer);
    }
    CHECK(its.alone.user(kPayer, its.now));
    its.alone.let_go({3, 1});
    CHECK(!its.alone.user(kPayer, its.now));
}

TEST_CASE("a user's debt is no larger for threads that were kept at a time") {
    Alone its;
    for (std::uint32_t pid = 0; pid < 100; ++pid)
        its.alone.left_behind(kPayer, 10s, its.now);
    CHECK(its.alone.user(kPayer, its.now + 9min));
    CHECK(!its.alone.user(kPayer, its.now + 10min));
}

}  // namespace lattop::test
