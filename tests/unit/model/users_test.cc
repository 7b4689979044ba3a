// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/users.h"

#include <poll.h>

#include <future>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;

/// A name service that answers when it is let go on.
struct SlowService {
    std::promise<void> go;

    [[nodiscard]] FindUser find() {
        return [until = go.get_future().share()](std::uint32_t uid) {
            until.wait();
            return uid == 7 ? std::string("seven") : std::string();
        };
    }
};

bool readable(int fd, int timeout_ms) {
    pollfd ready{fd, POLLIN, 0};
    return ::poll(&ready, 1, timeout_ms) == 1;
}

}  // namespace

TEST_CASE("a user is called by the number until the name service answers, and nobody waits") {
    SlowService service;
    SystemUsers users(service.find());
    CHECK(users.name(7) == "7");
    CHECK(users.name(8) == "8");
    CHECK(!users.known(7));
    CHECK(!users.known(9));  // nobody asked
    CHECK(!users.collect());
    CHECK(users.wait(0ms) == 2);
    CHECK(!readable(users.ready_fd(), 0));

    service.go.set_value();
    REQUIRE(readable(users.ready_fd(), 60'000));
    CHECK(users.name(7) == "7");  // not while somebody draws
    CHECK(users.collect());
    CHECK(users.name(7) == "seven");
    CHECK(users.wait(60s) == 0);
    CHECK(!readable(users.ready_fd(), 0));
    CHECK((users.known(7) && users.known(8)));
    CHECK(users.name(8) == "8");
    CHECK(!users.collect());
}

TEST_CASE("all users of a snapshot are asked for, who has a share and no task too") {
    SnapshotBuilder builder;
    builder.add_task({.uid = 7});
    builder.users = {{8, 0, {1}}};
    SystemUsers users([](std::uint32_t uid) { return "user-" + std::to_string(uid); });
    want_users(users, builder.snapshot());
    CHECK(users.wait(60s) == 0);
    CHECK(users.name(7) == "user-7");
    CHECK(users.name(8) == "user-8");
}

TEST_CASE("a name service that hangs does not keep anybody from ending") {
    SlowService service;
    {
        SystemUsers users(service.find());
        users.name(7);
    }
    service.go.set_value();  // for the thread that was left behind
}

TEST_CASE("the system says what root is called") {
    SystemUsers users;
    users.name(0);
    CHECK(users.wait(60s) == 0);
    CHECK(users.name(0) == "root");
}

}  // namespace lattop::test
