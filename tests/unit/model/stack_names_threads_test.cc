// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads of one process share what their stacks are called.
#include <vector>

#include "lattop/model/stack_names.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fake_namer.h"
#include "tests/unit/support/snapshot_builder.h"

namespace lattop::test {
namespace {

struct Thread {
    std::uint32_t pid = 0, tgid = 5;
    bool slept_there = true;  // and has a record anyway
    std::uint32_t exec_id = 1;
};

/// These, each of which slept in trace 50 or in none.
Snapshot threads(const std::vector<Thread>& all) {
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
    for (const Thread& one : all) {
        std::vector<EntrySpec> entries;
        if (one.slept_there) entries.push_back({.trace = trace, .exec_id = one.exec_id});
        builder.add_task({.pid = one.pid,
                          .tgid = one.tgid,
                          .flags = LT_T_ASLEEP,
                          .exec_id = one.exec_id,
                          .entries = entries});
    }
    return builder.snapshot();
}

/// Whether the thread's stack has its names.
bool is_named(const Names& it, std::uint32_t pid, std::uint32_t tgid = 5) {
    const UserStack* stack = it.names->find({{LT_KIND_TASK, pid, tgid, 1000}, 1, 50});
    return stack != nullptr && stack->frames.size() == 2;
}

}  // namespace

TEST_CASE("of threads of one process at one trace one is asked about") {
    Names it;
    const Snapshot snapshot = threads({{5}, {6}, {7}, {.pid = 9, .tgid = 9}});
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 2);
    it.names->collect();
    CHECK(is_named(it, 5));
    CHECK(is_named(it, 9, 9));
    CHECK(is_named(it, 6));
    CHECK(is_named(it, 7));
    it.names->want(snapshot);
    CHECK(it.namer->requests.empty());
    it.names->want(threads({{5}, {6}, {7}, {8}}));
    CHECK(it.namer->requests.empty());
    CHECK(is_named(it, 8));
}

TEST_CASE("what was not found of a thread's stack is asked again once for all of its process") {
    Names it;
    const Snapshot snapshot = threads({{5}, {6}, {7}});
    it.names->want(snapshot);
    CHECK(it.namer->answer(Naming::Result::Partly) == 1);
    it.names->collect();
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 7));
    it.names->want(snapshot);
    CHECK(it.namer->requests.empty());
}

TEST_CASE("a thread that came later waits for the answer about the first") {
    Names it;
    it.names->want(threads({{5}}));
    it.names->want(threads({{5}, {6}}));
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 6));
}

TEST_CASE("a process that runs another program by the answer has none of its names") {
    Names it;
    it.names->want(threads({{5}, {6}}));
    it.names->want(threads({{5, 5, false, 2}, {6, 5, false, 2}}));
    it.namer->answer();
    it.names->collect();
    CHECK(!is_named(it, 5));
    CHECK(!is_named(it, 6));
}

TEST_CASE("another thread is asked about where the first one has gone, or sleeps elsewhere") {
    Names it;
    it.names->want(threads({{5}, {6}}));
    CHECK(it.namer->answer(Naming::Result::Partly) == 1);
    it.names->collect();
    SECTION("ended") {
        it.names->want(threads({{6}}));
    }
    SECTION("elsewhere") {
        it.names->want(threads({{5, 5, false}, {6}}));
    }
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 6));
}

TEST_CASE("a thread that ended before it was looked at says nothing of the others") {
    Names it;
    const Snapshot snapshot = threads({{5}, {6}});
    it.names->want(snapshot);
    CHECK(it.namer->answer(Naming::Result::Gone) == 1);
    it.names->collect();
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 1);
    it.names->collect();
    CHECK(is_named(it, 6));
}

TEST_CASE("a process that has another's pid and program number is asked about itself") {
    Names it;
    it.names->want(threads({{5}}));
    it.namer->answer();
    it.names->collect();
    it.names->want(threads({{.pid = 6}}));  // its first thread has ended, or is another's
    CHECK(it.namer->requests.size() == 1);
}

TEST_CASE("a trace of the module that is loaded again is not the one that had its id") {
    Names it;
    Snapshot snapshot = one_task(1, 1);
    it.names->want(snapshot);
    it.namer->answer();
    it.names->collect();
    snapshot.header.load = 2;
    const Task& task = snapshot.tasks.at(0);
    CHECK(it.names->find(stack_id(snapshot, task, snapshot.entries.at(0))) == nullptr);
    it.names->want(snapshot);
    CHECK(it.namer->answer() == 1);
}

TEST_CASE("names that many threads shared count whole while one of them is left") {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    constexpr std::uint32_t kThreads = 20;
    Names it;
    it.namer->path_bytes = kMiB;
    std::vector<Thread> left;
    std::size_t named = 0;
    for (std::uint32_t tgid = 100; tgid < 300 * 100; tgid += 200) {
        std::vector<Thread> all = left;
        for (std::uint32_t pid = tgid; pid < tgid + kThreads; ++pid)
            all.push_back({.pid = pid, .tgid = tgid});
        it.names->want(threads(all));
        it.namer->answer();
        it.names->collect();
        left.push_back(all.back());
    }
    for (const Thread& one : left)
        if (is_named(it, one.pid, one.tgid)) ++named;
    CHECK(left.size() == 150);
    CHECK(named > 100);  // of 2 MiB each
    CHECK(named < 128);
}

}  // namespace lattop::test
