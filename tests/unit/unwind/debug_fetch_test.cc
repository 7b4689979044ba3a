// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/debug_fetch.h"

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>

#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

UniqueFd some_file() {
    return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

/// Asks until the answer is another than Waiting.
DebugFetch::State settled(DebugFetch& fetch, const std::string& id) {
    for (int i = 0; i < 10'000; ++i) {
        const auto state = fetch.want(id, "label");
        if (state != DebugFetch::State::Waiting) return state;
        ::poll(nullptr, 0, 1);
    }
    return DebugFetch::State::Waiting;
}

}  // namespace

TEST_CASE("a debug file is fetched once and taken once") {
    std::atomic<int> fetched = 0;
    DebugFetch fetch([&](const std::string& id, const FetchProgress&) {
        ++fetched;
        return Fetched{.file = id == "ab" ? some_file() : UniqueFd()};
    });
    CHECK(!fetch.take("ab"));
    CHECK(settled(fetch, "ab") == DebugFetch::State::Here);
    CHECK(fetch.take("ab"));
    CHECK(!fetch.take("ab"));
    CHECK(settled(fetch, "cd") == DebugFetch::State::None);
    CHECK(settled(fetch, "cd") == DebugFetch::State::None);
    CHECK(fetched == 2);
}

TEST_CASE("progress names the file, how far it is, and how many wait") {
    std::promise<void> told;
    std::promise<void> go_on;
    auto wait = go_on.get_future();
    DebugFetch fetch([&](const std::string& id, const FetchProgress& progress) {
        if (id != "01") return Fetched{};
        CHECK(progress(34, 100));
        told.set_value();
        wait.wait();
        return Fetched{.file = some_file()};
    });
    CHECK(fetch.progress().empty());
    fetch.want("01", "libc.so.6");
    told.get_future().wait();
    CHECK(fetch.progress() == "debuginfod: libc.so.6 34%");
    fetch.want("02", "libm.so.6");
    CHECK(fetch.progress() == "debuginfod: libc.so.6 34%, 1 more to fetch");
    go_on.set_value();
    CHECK(settled(fetch, "02") == DebugFetch::State::None);
    CHECK(fetch.progress().empty());
}

TEST_CASE("a file that is too large to be read is not fetched, and not asked for again") {
    std::atomic<int> asked = 0;
    std::atomic<bool> went_on = false;
    DebugFetch fetch([&](const std::string& id, const FetchProgress& progress) {
        ++asked;
        const long all = id == "ab" ? 2L << 30 : 100;
        went_on = progress(10, all);
        return went_on ? Fetched{.file = some_file()} : Fetched{.error = EIO};
    });
    CHECK(settled(fetch, "ab") == DebugFetch::State::None);
    CHECK(!went_on);
    CHECK(settled(fetch, "cd") == DebugFetch::State::Here);
    CHECK(settled(fetch, "ab") == DebugFetch::State::None);
    CHECK(asked == 2);
}

TEST_CASE("what is fetched in all is bounded") {
    DebugFetch fetch([](const std::string&, const FetchProgress& progress) {
        return progress(900L << 20, 900L << 20) ? Fetched{.file = some_file()}
                                                : Fetched{.error = EIO};
    });
    int here = 0;
    for (int i = 0; i < 30; ++i)
        if (settled(fetch, std::to_string(i)) == DebugFetch::State::Here) ++here;
    CHECK(here == 18);
}

TEST_CASE("a server that could not say is asked again, later and later") {
    std::atomic<int> asked = 0;
    DebugFetch fetch(
        [&](const std::string&, const FetchProgress&) {
            return ++asked < 3 ? Fetched{.error = ECONNREFUSED} : Fetched{.file = some_file()};
        },
        std::chrono::milliseconds(40));
    const auto began = DebugFetch::Clock::now();
    CHECK(settled(fetch, "ab") == DebugFetch::State::Failed);
    CHECK(asked == 1);
    auto state = DebugFetch::State::Failed;
    for (int i = 0; i < 10'000 && state != DebugFetch::State::Here; ++i) {
        ::poll(nullptr, 0, 1);
        state = settled(fetch, "ab");
    }
    CHECK(state == DebugFetch::State::Here);
    CHECK(asked == 3);
    CHECK(DebugFetch::Clock::now() - began >= std::chrono::milliseconds(40 + 80));
    CHECK(fetch.progress().empty());
}

TEST_CASE("a failure is said until that file is fetched, whatever comes of others") {
    std::atomic<bool> reachable = false;
    DebugFetch fetch(
        [&](const std::string& id, const FetchProgress&) {
            if (id == "none") return Fetched{};
            return reachable ? Fetched{.file = some_file()} : Fetched{.error = EHOSTUNREACH};
        },
        std::chrono::seconds(2));
    const auto began = DebugFetch::Clock::now();
    CHECK(!fetch.retry_at("ab"));
    CHECK(settled(fetch, "ab") == DebugFetch::State::Failed);
    REQUIRE(fetch.retry_at("ab"));
    CHECK(*fetch.retry_at("ab") >= began + std::chrono::seconds(2));
    CHECK(settled(fetch, "none") == DebugFetch::State::None);
    CHECK(fetch.progress() == "debuginfod: label: No route to host");
    reachable = true;
    auto state = DebugFetch::State::Failed;
    for (int i = 0; i < 10'000 && state != DebugFetch::State::Here; ++i) {
        ::poll(nullptr, 0, 1);
        state = settled(fetch, "ab");
    }
    CHECK(state == DebugFetch::State::Here);
    CHECK(fetch.progress().empty());
}

TEST_CASE("a failure that nobody asks about any more is not said for ever") {
    DebugFetch fetch(
        [](const std::string&, const FetchProgress&) { return Fetched{.error = EHOSTUNREACH}; },
        std::chrono::milliseconds(1));
    CHECK(settled(fetch, "cd") == DebugFetch::State::Failed);
    for (int i = 0; i < 10'000 && !fetch.progress().empty(); ++i)
        ::poll(nullptr, 0, 1);
    CHECK(fetch.progress().empty());
}

TEST_CASE("a fetch under way is given up when lattop ends, and a failing one does no harm") {
    std::promise<void> begun;
    // Shared: a thread that is slow to give up is left behind.
    const auto gave_up = std::make_shared<std::atomic<bool>>(false);
    {
        DebugFetch fetch(
            [&begun, gave_up](const std::string& id, const FetchProgress& progress) -> Fetched {
                if (id == "bad") throw std::runtime_error("no memory");
                begun.set_value();
                while (progress(0, 0))
                    ::poll(nullptr, 0, 1);
                *gave_up = true;
                return {};
            });
        CHECK(settled(fetch, "bad") == DebugFetch::State::Failed);
        fetch.want("slow", "x");
        begun.get_future().wait();
    }
    CHECK(*gave_up);
}

}  // namespace lattop::test
