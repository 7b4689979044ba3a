// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/chain.h"

#include "lattop/export/chain_text.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

/// Two threads want a lock that a third holds while the disk writes; a timer
/// wakes a fourth, which works for nobody.
struct Server {
    SnapshotBuilder builder;
    std::uint32_t lock, unlock, fsync, disk, timer, accept;
    WakerSpec holder, interrupt;

    Server() {
        builder.header.since_ns = 10 * kSecond;
        builder.header.time_ns = 20 * kSecond;
        builder.header.limit[LT_LIMIT_WAKERS] = 100;
        lock = builder.add_trace({.id = 1, .kernel = {"futex_wait", "do_futex"}});
        unlock = builder.add_trace({.id = 2, .kernel = {"wake_up_q", "futex_wake"}});
        fsync = builder.add_trace({.id = 3, .kernel = {"jbd2_log_wait_commit", "ext4_sync_file"}});
        disk = builder.add_trace({.id = 4, .kernel = {"blk_mq_complete_request"}});
        timer = builder.add_trace({.id = 5, .kernel = {"hrtimer_wakeup"}});
        accept = builder.add_trace({.id = 6, .kernel = {"inet_csk_accept"}});
        holder = {.trace = unlock,
                  .pid = 12,
                  .comm = "holder",
                  .blocked_ns = 4 * kSecond,
                  .sleeps = 40,
                  .waited_trace = fsync,
                  .waited_ns = 3 * kSecond,
                  .tgid = 11};
        interrupt = {
            .trace = disk, .kind = LT_WAKER_INTERRUPT, .blocked_ns = 6 * kSecond, .sleeps = 100};
    }
    void add(std::uint32_t pid, const char* comm, const EntrySpec& entry) {
        builder.add_task({.pid = pid,
                          .tgid = 11,
                          .comm = comm,
                          .blocked_ns = entry.blocked_ns,
                          .sleeps = entry.sleeps,
                          .entries = {entry}});
    }
    void add_usual() {
        add(11, "waiter",
            {.trace = lock,
             .blocked_ns = 5 * kSecond,
             .sleeps = 50,
             .wakers = {{.trace = disk, .kind = LT_WAKER_INTERRUPT, .blocked_ns = 9}, holder}});
        add(12, "holder",
            {.trace = fsync, .blocked_ns = 6 * kSecond, .sleeps = 100, .wakers = {interrupt}});
        add(13, "acceptor",
            {.trace = accept,
             .blocked_ns = 9 * kSecond,
             .wakers = {{.trace = timer, .kind = LT_WAKER_INTERRUPT, .blocked_ns = kSecond}}});
    }
};

Chain chain_of(const Snapshot& snapshot, std::size_t task = 0) {
    const Task& its = snapshot.tasks[task];
    return follow_chain(snapshot, its, snapshot.entries_of(its).front());
}

}  // namespace

TEST_CASE("a chain leads from who waits for a lock to what its holder waits for") {
    Server server;
    server.add_usual();
    const Snapshot snapshot = server.builder.snapshot();
    const Chain chain = chain_of(snapshot);
    REQUIRE(chain.steps.size() == 2);
    CHECK(chain.steps[0].task->pid == 11);
    REQUIRE(chain.steps[0].wakers.size() == 2);
    CHECK(chain.steps[0].wakers[0].worst->pid == 12);
    CHECK(chain.steps[0].wakers[0].waited_ns == 3 * kSecond);
    CHECK(chain.steps[1].task->pid == 12);
    CHECK(chain.end == ChainEnd::Interrupt);
}

TEST_CASE("threads of a process that wake from one place, having waited in one, are one waker") {
    Server server;
    WakerSpec thread = server.holder, stranger = server.holder;
    thread.pid = 14;
    thread.blocked_ns = 5 * kSecond;
    stranger.pid = stranger.tgid = 15;
    server.add(11, "waiter", {.trace = server.lock, .wakers = {server.holder, thread, stranger}});
    const Snapshot snapshot = server.builder.snapshot();
    const Chain chain = chain_of(snapshot);
    REQUIRE(chain.steps[0].wakers.size() == 2);
    const WakerSum& merged = chain.steps[0].wakers[0];
    CHECK(merged.tasks == 2);
    CHECK(merged.worst->pid == 14);
    CHECK(merged.blocked_ns == 9 * kSecond);
    CHECK(merged.waited_ns == 6 * kSecond);
}

TEST_CASE("how a chain ends") {
    Server server;
    const auto ends = [&](const WakerSpec& waker) {
        server.add(11, "waiter", {.trace = server.lock, .blocked_ns = 5, .wakers = {waker}});
        return chain_of(server.builder.snapshot()).end;
    };
    SECTION("nobody is known to have woken") {
        server.add(11, "waiter", {.trace = server.lock});
        CHECK(chain_of(server.builder.snapshot()).end == ChainEnd::Unwoken);
    }
    SECTION("hidden") {
        CHECK(ends({.kind = LT_WAKER_HIDDEN}) == ChainEnd::Hidden);
    }
    SECTION("a waker that a newer module has") {
        CHECK(ends({.kind = 77}) == ChainEnd::Hidden);
    }
    SECTION("ran") {
        server.holder.waited_ns = server.holder.blocked_ns / 21;
        CHECK(ends(server.holder) == ChainEnd::Ran);
    }
    SECTION("not here") {
        CHECK(ends(server.holder) == ChainEnd::NotShown);
    }
    SECTION("in turns") {
        server.holder.waited_trace = server.lock;
        server.add(11, "waiter", {.trace = server.lock, .wakers = {server.holder}});
        const Snapshot snapshot = server.builder.snapshot();
        const Chain chain = chain_of(snapshot);
        CHECK(chain.end == ChainEnd::Again);
        CHECK(chain.again == 0);
    }
    SECTION("too deep") {
        for (std::uint32_t i = 0; i < 2 * kMaxChainSteps; ++i) {
            WakerSpec next = server.holder;
            next.pid = next.tgid = 101 + i;
            next.waited_trace = server.builder.add_trace({.id = 101 + i});
            const auto here = i == 0 ? server.lock : next.waited_trace - 1;
            server.builder.add_task(
                {.pid = 100 + i, .entries = {{.trace = here, .wakers = {next}}}});
        }
        const Chain chain = chain_of(server.builder.snapshot());
        CHECK(chain.end == ChainEnd::Deep);
        CHECK(chain.steps.size() == kMaxChainSteps);
    }
}

TEST_CASE("a chain begins with the longest wait that is not for work") {
    Server server;
    server.add_usual();
    const Snapshot snapshot = server.builder.snapshot();
    NoUserStacks names;
    SampleUsers users;
    FakeCgroups cgroups;
    Reasons reasons;
    const auto pid_found = [&](const ChainStart& start) {
        const FoundWait found = find_wait({snapshot, names, users, cgroups}, start, reasons);
        return found.task == nullptr ? 0 : found.task->pid;
    };
    CHECK(pid_found({}) == 12);
    CHECK(pid_found({.pid = 11}) == 12);  // the process
    CHECK(pid_found({.pid = 13}) == 13);  // waits for work, but was asked for
    CHECK(pid_found({.pid = 99}) == 0);
    CHECK(pid_found({.function = "futex_wa"}) == 11);
    CHECK(pid_found({.function = "no_such"}) == 0);
    CHECK(pid_found({.waits = {.filter = "WAITER|nobody"}}) == 11);
    CHECK(pid_found({.waits = {.filter = "journal"}}) == 12);
    CHECK(pid_found({.waits = {.filter = "EXT4_sync_file"}}) == 12);
    CHECK(pid_found({.waits = {.filter = "acceptor"}}) == 13);  // was asked for, too
    CHECK(pid_found({.waits = {.filter = "acceptor", .hide_idle = true}}) == 0);
    CHECK(pid_found({.pid = 13, .waits = {.hide_idle = true}}) == 0);
}

TEST_CASE("a chain as text") {
    Server server;
    server.add_usual();
    const Snapshot snapshot = server.builder.snapshot();
    NoUserStacks names;
    Reasons reasons;
    const std::string text =
        chain_text(snapshot, chain_of(snapshot), names, reasons, Charset::Ascii);
    CHECK(text ==
          "1  waiter 11 blocked 5.00s, 50.0% of the time, in 50 sleeps, max 0: futex\n"
          "        futex_wait < do_futex\n"
          "    100.0%   4.00s     40  woken by holder 12, whose own last sleep took 3.00s of it\n"
          "        wake_up_q < futex_wake\n"
          "      0.0%     9ns      1  woken by an interrupt\n"
          "2  holder 12 blocked 6.00s, 60.0% of the time, in 100 sleeps, max 0: journal\n"
          "        jbd2_log_wait_commit < ext4_sync_file\n"
          "    100.0%   6.00s    100  woken by an interrupt\n"
          "        blk_mq_complete_request\n"
          "It ends at an interrupt, a timer's, a device's or another CPU's: its stack says "
          "which.\n");
}

}  // namespace lattop::test
