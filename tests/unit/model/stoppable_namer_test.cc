// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/stoppable_namer.h"

#include <algorithm>
#include <vector>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/fake_namer.h"

namespace lattop::test {

TEST_CASE("a wait for names ends when asked to, and what is found later is there later") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    std::vector<std::size_t> asked;
    StoppableNamer namer(std::move(owned), [&](std::size_t missing) {
        asked.push_back(missing);
        return asked.size() == 3;
    });
    namer.submit(std::vector<NameRequest>(2));
    CHECK(asked.empty());
    namer.wait();
    CHECK(asked == std::vector<std::size_t>{2, 2, 2});
    CHECK(namer.take().empty());
    worker.answer();
    CHECK(namer.take().size() == 2);
}

TEST_CASE("a wait for names ends when those of silent processes alone are missing") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    int asked = 0;
    StoppableNamer namer(std::move(owned), [&](std::size_t missing) {
        CHECK(missing == 2);
        if (++asked == 3) worker.silent_pids = {7, 8};
        return asked > 3;
    });
    namer.submit(std::vector<NameRequest>(2));
    namer.wait();
    CHECK(asked == 3);
    worker.silent_pids.clear();
    worker.answer();
    CHECK(namer.take().size() == 2);
}

TEST_CASE("names that are there are not asked about") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    std::size_t most = 0;
    StoppableNamer namer(std::move(owned), [&](std::size_t missing) {
        most = std::max(most, missing);
        worker.answer();
        return false;
    });
    namer.submit(std::vector<NameRequest>(5));
    namer.wait();
    CHECK(most == 5);
    CHECK(namer.take().size() == 5);
    namer.wait();
}

TEST_CASE("long names are handed over before all have come, and then waited for again") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    worker.path_bytes = std::size_t{1} << 20;
    int asked = 0;
    StoppableNamer namer(std::move(owned), [&](std::size_t missing) {
        CHECK(missing == 5);
        return ++asked > 1;
    });
    std::vector<NameRequest> requests(20);
    for (NameRequest& request : requests)
        request.addresses = {7};
    namer.submit(std::move(requests));
    worker.answer();
    namer.submit(std::vector<NameRequest>(5));
    CHECK(namer.wait());
    CHECK(asked == 1);
    CHECK(namer.take().size() == 20);
    worker.answer();
    CHECK(!namer.wait());
    CHECK(asked == 1);
    CHECK(namer.take().size() == 5);
}

TEST_CASE("names that come in parts are all there after a wait") {
    auto owned = std::make_unique<FakeNamer>();
    FakeNamer& worker = *owned;
    worker.path_bytes = std::size_t{1} << 20;
    int asked = 0;
    StackNames names(std::make_unique<StoppableNamer>(std::move(owned), [&](std::size_t) {
        ++asked;
        std::vector<NameRequest> later(worker.requests.begin() + 10, worker.requests.end());
        worker.requests.resize(10);
        worker.answer();
        worker.requests = std::move(later);
        return false;
    }));
    SnapshotBuilder builder;
    const auto trace = builder.add_trace({.id = 50, .user = {7, 8}});
    for (std::uint32_t pid = 1; pid <= 40; ++pid)
        builder.add_task({.pid = pid, .entries = {{.trace = trace}}});
    const Snapshot snapshot = builder.snapshot();
    names.want(snapshot);
    CHECK(names.wait());
    CHECK(asked == 4);
    for (const Task& task : snapshot.tasks)
        CHECK(names.find(stack_id(snapshot, task, snapshot.entries_of(task).front())) != nullptr);
}

}  // namespace lattop::test
