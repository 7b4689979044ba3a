// SPDX-License-Identifier: GPL-2.0-or-later
//
// When who could not be taught is tried again.
#include "lattop/second_tries.h"

#include <cstdint>

#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

constexpr SecondTries::Time kFailedAt{1h};

lt_miss miss_by(std::uint32_t tgid) {
    lt_miss miss{};
    miss.pid = miss.tgid = tgid;
    return miss;
}

}  // namespace

TEST_CASE("a program is tried again ever less often, and in the end no more") {
    SecondTries tries;
    CHECK(!tries.next());
    tries.failed(miss_by(7), kFailedAt);
    auto now = kFailedAt;
    for (const auto wait : {4s, 8s, 16s, 32s, 64s, 128s, 256s, 512s, 600s, 600s}) {
        REQUIRE(tries.next() == now + wait);
        now += wait;
        CHECK(tries.due(now - 1ns).empty());
        REQUIRE(tries.due(now).size() == 1);
        tries.failed(miss_by(7), now);
    }
    CHECK(!tries.next());
    tries.done({7, 0});
    tries.failed(miss_by(7), now);
    CHECK(tries.next() == now + 4s);
}

TEST_CASE("a program that was taught is not tried again") {
    SecondTries tries;
    tries.failed(miss_by(7), kFailedAt);
    tries.failed(miss_by(8), kFailedAt + 1s);
    tries.done({7, 0});
    CHECK(tries.next() == kFailedAt + 5s);
    CHECK(tries.due(kFailedAt + 1h).size() == 1);
}

TEST_CASE("of more programs than are tried again the one that was tried most often goes") {
    SecondTries tries;
    tries.failed(miss_by(1), kFailedAt);
    CHECK(tries.due(kFailedAt + 4s).size() == 1);
    for (std::uint32_t tgid = 2; tgid <= 65; ++tgid)
        tries.failed(miss_by(tgid), kFailedAt + 4s);
    const auto misses = tries.due(kFailedAt + 1h);
    CHECK(misses.size() == 64);
    for (const lt_miss& miss : misses)
        CHECK(miss.tgid != 1);
}

}  // namespace lattop::test
