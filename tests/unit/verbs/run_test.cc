// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/verbs/run.h"

#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "lattop/child_command.h"
#include "lattop/huge_pages.h"
#include "lattop/live_world.h"
#include "lattop/open_files.h"
#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/disposition.h"
#include "tests/unit/support/errors_of.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

template <typename... Numbers>
void put(std::vector<std::byte>& to, Numbers... numbers) {
    const auto one = [&to](auto number) {
        const auto bytes = std::as_bytes(std::span(&number, 1));
        to.insert(to.end(), bytes.begin(), bytes.end());
    };
    (one(numbers), ...);
}

std::vector<std::byte> fork(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns) {
    std::vector<std::byte> record;
    put(record, std::uint32_t{PERF_RECORD_FORK}, std::uint16_t{0}, std::uint16_t{32}, pid, 1U, tid,
        1U, time_ns);
    return record;
}

Task task(std::uint32_t pid, std::uint64_t start_ns) {
    Task task;
    task.pid = pid;
    task.start_ns = start_ns;
    return task;
}

/// Waits for the end of a command; signals that it sends are its own matter.
int end_of(ChildCommand& child, EndSignals& signals) {
    for (;;) {
        if (const auto status = child.status()) return *status;
        signals.wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
    }
}

int run(std::vector<std::string> command) {
    EndSignals signals;
    ChildCommand child(std::move(command), signals);
    child.release();
    return end_of(child, signals);
}

}  // namespace

TEST_CASE("lattop opens as many files as it may, its commands as many as without it") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit usual{77, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
    allow_more_files();
    CHECK(most_open_files() == before.rlim_max);
    CHECK(run({"sh", "-c", "test $(ulimit -n) = 77"}) == 0);
    restore_file_limit();
    CHECK(most_open_files() == 77);
    ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("lattop takes no huge pages, its commands what they take without it") {
    const auto disabled = [] { return ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0); };
    REQUIRE(disabled() == 0);
    take_no_huge_pages();
    CHECK(disabled() == 1);
    CHECK(run({"sh", "-c", "! grep -q 'THP_enabled:.0' /proc/self/status"}) == 0);
    restore_huge_pages();
    CHECK(disabled() == 0);
}

TEST_CASE("the tree is the root and what was forked, by pid and time") {
    TreeMembers tree(10);
    tree.take(fork(20, 20, 50 * kSecond));
    tree.take(fork(20, 21, 51 * kSecond));
    CHECK(tree.contains(task(10, 1)));
    CHECK(tree.contains(task(20, 50 * kSecond - 1000)));
    CHECK(tree.contains(task(21, 51 * kSecond - 1000)));
    CHECK(!tree.contains(task(22, 51 * kSecond)));
    // The pid of a member, used again much later by another.
    CHECK(!tree.contains(task(20, 60 * kSecond)));
    Task merged = task(20, 50 * kSecond);
    merged.kind = LT_KIND_EXITED;
    CHECK(!tree.contains(merged));
    CHECK(tree.size() == 3);
    CHECK(tree.processes() == std::vector<std::uint32_t>{10, 20});
}

TEST_CASE("other records are stepped over, lost ones counted, broken ones refused") {
    TreeMembers tree(10);
    std::vector<std::byte> records;
    put(records, std::uint32_t{PERF_RECORD_EXIT}, std::uint16_t{0}, std::uint16_t{32}, 1ULL, 2ULL,
        3ULL);
    put(records, std::uint32_t{PERF_RECORD_LOST}, std::uint16_t{0}, std::uint16_t{24}, 1ULL, 7ULL);
    const auto forked = fork(20, 20, kSecond);
    records.insert(records.end(), forked.begin(), forked.end());
    tree.take(records);
    CHECK(tree.lost() == 7);
    CHECK(tree.contains(task(20, kSecond)));
    for (std::size_t end = 1; end < forked.size(); ++end)
        CHECK_THROWS_AS(tree.take(std::span(forked).first(end)), FormatError);
    std::vector<std::byte> endless;
    put(endless, std::uint32_t{PERF_RECORD_FORK}, std::uint16_t{0}, std::uint16_t{0});
    CHECK_THROWS_AS(tree.take(endless), FormatError);
}

TEST_CASE("what the command did before it was its program does not count") {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 1, .kernel = {"pipe_read"}});
    builder.add_task(
        {.pid = 10,
         .blocked_ns = 130,
         .sleeps = 4,
         .max_ns = 100,
         .runq_ns = 9,
         .runs = 5,
         .exec_id = 8,
         .entries = {{.trace = trace, .blocked_ns = 100, .sleeps = 1, .max_ns = 100, .exec_id = 7},
                     {.trace = trace, .blocked_ns = 30, .sleeps = 3, .max_ns = 20, .exec_id = 8}}});
    builder.add_task({.pid = 11, .blocked_ns = 1});
    Snapshot snapshot = builder.snapshot();
    Task before = snapshot.tasks.front();
    before.exec_id = 7;
    before.runq_ns = 2;
    before.runs = 1;
    keep_tree(snapshot, TreeMembers(10), before);
    REQUIRE(snapshot.tasks.size() == 1);
    const Task& root = snapshot.tasks.front();
    CHECK(root.blocked_ns == 30);
    CHECK(root.sleeps == 3);
    CHECK(root.max_ns == 20);
    CHECK(root.runq_ns == 7);
    CHECK(root.runs == 4);
    CHECK(snapshot.entries_of(root).front().blocked_ns == 0);
}

namespace {

/// As the module was when the command began.
Header at_begin() {
    Header begin;
    begin.time_ns = 50;
    begin.since_ns = 10;
    begin.hooks_ns = 7;
    begin.lost[0] = 3;
    return begin;
}

}  // namespace

TEST_CASE("the totals count from the command's start, in the first snapshot as in the last") {
    const Header begin = at_begin();
    Header last = begin;
    last.time_ns = 90;
    last.hooks_ns = 9;
    last.lost[0] = 4;
    Header first = begin;
    count_from(begin, first);
    CHECK(first.since_ns == 50);
    CHECK(first.hooks_ns == 0);
    CHECK(first.lost == decltype(first.lost){});
    count_from(begin, last);
    CHECK(last.since_ns == 50);
    CHECK(last.hooks_ns == 2);
    CHECK(last.lost[0] == 1);
}

TEST_CASE("a reset before the first look leaves nothing to take away") {
    Header begin = at_begin();
    Task before;
    before.runq_ns = before.runs = 5;
    Header looked = begin;
    forget_if_reset(begin, before, looked);
    CHECK(begin.lost[0] == 3);
    CHECK(before.runs == 5);
    looked.since_ns = 60;
    forget_if_reset(begin, before, looked);
    CHECK(begin.time_ns == 50);
    CHECK(begin.hooks_ns == 0);
    CHECK(begin.lost[0] == 0);
    CHECK(before.runq_ns == 0);
    CHECK(before.runs == 0);
}

TEST_CASE("a command's status is what a shell says") {
    CHECK(run({"true"}) == 0);
    CHECK(run({"sh", "-c", "exit 7"}) == 7);
    CHECK(run({"sh", "-c", "kill -KILL $$"}) == 137);
    // The signals that lattop waits for do their work in it.
    CHECK(run({"sh", "-c", "kill -TERM $$"}) == 143);
    CHECK(run({"sh", "-c", "yes | head -n 1 >/dev/null"}) == 0);
}

TEST_CASE("a command that cannot be run says why, one that is not let go runs nothing") {
    CHECK_THROWS_WITH(run({"/nonexistent/program"}), has_text("No such file"));
    CHECK_THROWS_WITH(run({"/etc/passwd"}), has_text("Permission denied"));
    EndSignals signals;
    const auto begin = std::chrono::steady_clock::now();
    { const ChildCommand child({"sleep", "1000"}, signals); }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

TEST_CASE("a command ends for lattop also where SIGCHLD was ignored, or another reaped it") {
    const Disposition ignored(SIGCHLD, SIG_IGN);
    CHECK(run({"sh", "-c", "exit 7"}) == 7);
    EndSignals signals;
    ChildCommand child({"true"}, signals);
    child.release();
    REQUIRE(::waitpid(child.pid(), nullptr, 0) == child.pid());
    CHECK(child.status() == 127);
}

TEST_CASE("a look that fails is the last one, the command goes on to its end") {
    EndSignals signals;
    ChildCommand child({"sh", "-c", "sleep 0.1; exit 7"}, signals);
    child.release();
    int looks = 0;
    const auto look = [&] {
        ++looks;
        throw Error("the module was unloaded");
    };
    SystemClock clock;
    CHECK(watch_to_end(child, signals, std::chrono::milliseconds(1), clock, look) == 7);
    CHECK(looks == 1);
}

TEST_CASE("a look that fails in passing is followed by others, until ten in a row have failed") {
    EndSignals signals;
    ChildCommand child({"sh", "-c", "sleep 1"}, signals);
    child.release();
    int looks = 0;
    const auto look = [&] {
        if (++looks != 3) throw PassingError("cannot read /proc/lattop: no memory");
    };
    SystemClock clock;
    const std::string said = errors_of([&] {
        watch_to_end(child, signals, std::chrono::milliseconds(1), clock, look,
                     std::chrono::milliseconds(0));
    });
    CHECK(looks == 3 + 10);
    CHECK(said ==
          "lattop: cannot read /proc/lattop: no memory: tried again\n"
          "lattop: cannot read /proc/lattop: no memory: tried again\n"
          "lattop: cannot read /proc/lattop: no memory, 10 times in a row: the command goes on, "
          "no more of it is seen\n");
}

TEST_CASE("the look at the end is tried until it succeeds") {
    EndSignals signals;
    ChildCommand child({"true"}, signals);
    child.release();
    int looks = 0;
    SystemClock clock;
    const std::string said = errors_of([&] {
        CHECK(watch_to_end(child, signals, std::chrono::hours(1), clock, [&] {
                  if (++looks < 4) throw PassingError("cannot read /proc/lattop: no memory");
              }) == 0);
    });
    CHECK(looks == 4);
    CHECK(said == "lattop: cannot read /proc/lattop: no memory: tried again\n");
}

TEST_CASE("^C that only lattop got is passed on to the command") {
    const Disposition usual(SIGINT, SIG_DFL);
    EndSignals signals;
    ChildCommand child({"sleep", "1000"}, signals);
    child.release();
    std::raise(SIGINT);
    SystemClock clock;
    CHECK(watch_to_end(child, signals, std::chrono::milliseconds(10), clock, [] {}) == 130);
}

TEST_CASE("a signal that somebody has seen is still waited for; let through it ends as usual") {
    const Disposition usual(SIGINT, SIG_DFL);
    EndSignals signals;
    const auto now = std::chrono::steady_clock::now();
    CHECK(signals.pending() == 0);
    std::raise(SIGINT);
    CHECK(signals.pending() == SIGINT);
    CHECK(signals.pending() == SIGINT);
    CHECK(signals.wait_until(now) == SIGINT);
    CHECK(signals.wait_until(now) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        std::raise(SIGINT);
        if (signals.pending() != SIGINT) ::_exit(1);
        signals.let_through();
        signals.hold();
        std::raise(SIGINT);
        signals.let_through();
        ::_exit(2);
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
}

TEST_CASE("a signal ends the wait for names for good, and says so") {
    const Disposition usual(SIGINT, SIG_DFL);
    EndSignals signals;
    const StopNaming stop = stop_naming_by(signals, [] { return true; });
    CHECK(!stop(3));
    std::raise(SIGINT);
    CHECK(errors_of([&] {
              CHECK(stop(3));
              signals.wait_until(std::chrono::steady_clock::now());
              CHECK(stop(2));
          }) == "lattop: names are not waited for any longer: 3 stacks stay addresses\n");
    signals.hold();
}

TEST_CASE("a signal for the command ends the wait for names until it is passed on") {
    const Disposition usual(SIGHUP, SIG_DFL);
    EndSignals signals;
    const StopNaming stop = stop_naming_by(signals, [] { return false; });
    std::raise(SIGHUP);
    CHECK(errors_of([&] {
              CHECK(stop(3));
              CHECK(signals.wait_until(std::chrono::steady_clock::now()) == SIGHUP);
              CHECK(!stop(3));
          }).empty());
}

TEST_CASE("a signal that asks to end and comes twice before anybody looks is one") {
    const Disposition usual(SIGTERM, SIG_DFL);
    EndSignals signals;
    std::raise(SIGTERM);
    CHECK(signals.pending() == SIGTERM);
    std::raise(SIGTERM);
    CHECK(signals.wait_until(std::chrono::steady_clock::now()) == SIGTERM);
    CHECK(signals.pending() == 0);
}

TEST_CASE(
    "a hangup that was ignored asks nobody to end, an interrupt does in a script's background job "
    "too") {
    const Disposition nohup(SIGHUP, SIG_IGN);
    const Disposition background(SIGINT, SIG_IGN);
    const Disposition usual(SIGTERM, SIG_DFL);
    EndSignals signals;
    std::raise(SIGHUP);
    CHECK(signals.wait_until({}) == 0);
    std::raise(SIGINT);
    CHECK(signals.wait_until({}) == SIGINT);
    std::raise(SIGTERM);
    CHECK(signals.wait_until({}) == SIGTERM);
}

}  // namespace lattop::test
