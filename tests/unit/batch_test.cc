// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/batch.h"

#include <nlohmann/json.hpp>

#include "lattop/source/error.h"
#include "tests/unit/support/batch_run.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/errors_of.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

}  // namespace

TEST_CASE("the batch text looks as recorded") {
    BatchRun run;
    check_golden("batch.txt", run.go(batch(2)));
    CHECK(run.clock.slept == std::vector{2000ms});
}

TEST_CASE("a text waits for names of users, never beyond its next look, and once in vain") {
    BatchRun run;
    LateUsers users;
    const auto go = [&](std::uint64_t refreshes) {
        World world{run.source, run.stacks,   users,      run.cgroups,
                    run.clock,  run.learning, run.reasons};
        std::string printed;
        const std::string said = errors_of([&] {
            run_batch(batch(refreshes), world, Charset::Utf8, [&](std::string_view text) {
                printed += text;
                return true;
            });
        });
        return std::pair(printed, said);
    };
    SECTION("names that come are in it") {
        const auto [printed, said] = go(1);
        CHECK_THAT(printed, has_text("user-112"));
        CHECK(said.empty());
        CHECK(users.waited == std::vector{kUsersPatience});
    }
    SECTION("numbers are, where none come") {
        users.answers = false;
        const auto [printed, said] = go(3);
        CHECK_THAT(printed, has_text("1202 112 "));
        CHECK(
            said ==
            "lattop: the system does not say what 4 users are called: they are shown by number\n");
        CHECK(users.waited == std::vector<std::chrono::milliseconds>{2000ms});
        CHECK(run.clock.slept == std::vector{2000ms, 2000ms});
    }
}

TEST_CASE("whose names a refresh does not wait for is said when that changes") {
    BatchRun run;
    const std::vector<std::vector<std::uint32_t>> silent = {{1200, 1300}, {}, {1500}};
    std::size_t written = 0;
    run.stacks.silent_pids = {1200, 1300};
    const std::string said = errors_of([&] {
        run_batch(batch(6), run.world(), Charset::Utf8, [&](std::string_view) {
            run.stacks.silent_pids = silent.at(++written / 2 % silent.size());
            return true;
        });
    });
    CHECK(said ==
          "lattop: names are not waited for where memory or files do not answer (processes 1200, "
          "1300): stacks without them stay addresses\n"
          "lattop: names are not waited for where memory or files do not answer (process 1500): "
          "stacks without them stay addresses\n");
}

TEST_CASE("whose names are put off is said when that changes, too") {
    BatchRun run;
    run.stacks.put_off_pids.assign(20, 1200);
    const std::string said = errors_of([&] { run.go(batch(2)); });
    CHECK(said ==
          "lattop: names of users whose programs are slow to look at are put off (processes 1200, "
          "1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, "
          "1200, ...): stacks without them stay addresses\n");
}

TEST_CASE("the text is of what the filter's words name") {
    BatchRun run;
    Options options = batch(1);
    options.limit = 1;
    options.selection.waits.filter = "NGINX|futex";
    const std::string text = run.go(options);
    CHECK(run.source.queries.at(0).limit == LT_MAX_LIMIT);  // cut when filtered, not before
    CHECK_THAT(text, has_text("nginx"));
    CHECK_THAT(text, !has_text("kworker"));
}

TEST_CASE("what is learned stands in every refresh, why not in the first") {
    BatchRun run;
    run.learning.now = {LearningState::Kind::Runs, "", 3, 44, 0};
    const std::string line = "learning 0.0%); 44 rows from 3 misses\n";
    std::string text = run.go(batch(2));
    const std::size_t first = text.find(line);
    REQUIRE(first != std::string::npos);
    CHECK_THAT(text, has_text("own cost: 0.4% CPU (hooks 0.4%, " + line));
    CHECK(text.find(line, first + 1) != std::string::npos);

    const Json learning = Json::parse(run.go(json(1))).at("learning");
    CHECK(learning.at("running") == true);
    CHECK(learning.at("rows") == 44);

    run.learning.now = {LearningState::Kind::Refused, "only root may", 0, 0, 0};
    text = run.go(batch(2));
    CHECK_THAT(text, has_text("not learning: only root may\n"));
    CHECK(text.find("own cost") == text.rfind("own cost"));
}

TEST_CASE("a reader that goes away ends it") {
    BatchRun run;
    Options options = batch(1);
    options.refreshes.reset();
    run.go(options, 3);
    CHECK(run.source.taken == 3);
}

TEST_CASE("a large document is written as it is made, and no further when nobody reads it") {
    BatchRun run;
    FakeSource crowd([](std::uint64_t /*n*/) {
        SnapshotBuilder builder;
        const auto trace = builder.add_trace({.id = 1, .kernel = {"schedule", "pipe_read"}});
        for (std::uint32_t pid = 1; pid <= 2000; ++pid)
            builder.add_task({.pid = pid, .entries = {{.trace = trace}}});
        return builder.snapshot();
    });
    std::vector<std::size_t> pieces;
    std::string document;
    const auto write = [&](std::string_view text) {
        pieces.push_back(text.size());
        document += text;
        return true;
    };
    run_batch(json(1), run.with(crowd), Charset::Utf8, write);
    CHECK(Json::parse(document).at("tasks").size() == 2000);
    CHECK(pieces.size() > 10);
    CHECK(std::ranges::max(pieces) < 128U << 10);

    const std::size_t whole = pieces.size();
    pieces.clear();
    run_batch(json(5), run.with(crowd), Charset::Utf8, [&](std::string_view text) {
        write(text);
        return pieces.size() < 3;
    });
    CHECK(pieces.size() == 3);
    CHECK(pieces.size() < whole);
    CHECK(crowd.taken == 2);
}

TEST_CASE("reasons of what is gone are forgotten from one document to the next") {
    BatchRun run;
    constexpr std::uint64_t kTraces = 9'000;
    FakeSource crowd([](std::uint64_t n) {
        SnapshotBuilder builder;
        for (std::uint64_t i = 0; i < kTraces; ++i) {
            const auto trace =
                builder.add_trace({.id = 1 + n * kTraces + i, .kernel = {"schedule", "pipe_read"}});
            builder.add_task(
                {.pid = static_cast<std::uint32_t>(i + 1), .entries = {{.trace = trace}}});
        }
        return builder.snapshot();
    });
    run_batch(json(4), run.with(crowd), Charset::Utf8, [](std::string_view) { return true; });
    CHECK(run.reasons.remembered() >= kTraces);
    CHECK(run.reasons.remembered() <= 2 * kTraces + 8'192);
}

TEST_CASE("a source that ends ends it") {
    BatchRun run;
    run.source.most = 2;
    Options options = json(100);
    run.go(options);
    CHECK(run.source.taken == 2);
}

TEST_CASE("a read that fails in passing costs its refresh, which is said once") {
    BatchRun run;
    std::uint64_t failing = 2;
    FakeSource short_of_memory([&](std::uint64_t n) -> Snapshot {
        if (n > 0 && n <= failing) throw PassingError("cannot read /proc/lattop: no memory");
        return sample_machine(10 + n * 2).snapshot();
    });
    std::string printed;
    const auto go = [&] {
        return errors_of([&] {
            run_batch(json(2), run.with(short_of_memory), Charset::Utf8,
                      [&](std::string_view text) { return printed += text, true; });
        });
    };
    SECTION("and as many are printed as were asked for, with figures that are whole") {
        CHECK(go() == "lattop: cannot read /proc/lattop: no memory: tried again\n");
        CHECK(std::ranges::count(printed, '\n') == 2);
        const Json last = Json::parse(printed.substr(printed.find('\n') + 1));
        CHECK(last.at("interval_ns") == 6'000'000'000);
        CHECK(run.clock.slept == std::vector{2000ms, 2000ms, 2000ms});
    }
    SECTION("ten in a row end it") {
        failing = 1000;
        CHECK_THROWS_WITH(go(), has_text("no memory, 10 times in a row"));
        CHECK(std::ranges::count(printed, '\n') == 1);
    }
}

TEST_CASE("what the module can sort and cut, it is asked to") {
    BatchRun run;
    Options options = batch(1);
    SECTION("text holds the first thousand") {
        run.go(options);
        CHECK(run.source.queries.at(0).limit == LT_TEXT_TASKS);
        CHECK(run.source.queries.at(0).traces == LT_TRACES_WORST_AND_ONGOING);
    }
    SECTION("JSON holds all, with all traces") {
        options.json = true;
        run.go(options);
        CHECK(run.source.queries.at(0).limit == LT_MAX_LIMIT);
        CHECK(run.source.queries.at(0).traces == LT_TRACES_ALL);
    }
    SECTION("an order of our own needs all tasks, and is cut here") {
        options.sort = Column::Command;
        options.limit = 2;
        const std::string text = run.go(options);
        CHECK(run.source.queries.at(0).limit == LT_MAX_LIMIT);
        CHECK_THAT(text, has_text("showing 2 of 9 tasks"));
    }
    SECTION("pids and kernel threads are left to it") {
        options.selection.pids = {5};
        options.selection.hide_kernel_threads = true;
        run.go(options);
        CHECK(run.source.queries.at(0).flags == LT_Q_NO_KTHREADS);
        CHECK(run.source.queries.at(0).pids == options.selection.pids);
    }
}

}  // namespace lattop::test
