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

}  // namespace lattop::test
