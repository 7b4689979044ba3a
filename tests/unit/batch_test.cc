// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/batch.h"

#include <nlohmann/json.hpp>

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/errors_of.h"
#include "tests/unit/support/fake_world.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

struct BatchRun : FakeWorld {
    /// What it prints; the reader goes after `writes` writes.
    std::string go(const Options& options, int writes = 1000) {
        std::string printed;
        run_batch(options, world(), Charset::Utf8, [&](std::string_view text) {
            printed += text;
            return --writes > 0;
        });
        return printed;
    }
};

Options batch(std::uint64_t refreshes) {
    Options options;
    options.batch = true;
    options.refreshes = refreshes;
    return options;
}

Options json(std::uint64_t refreshes) {
    Options options = batch(refreshes);
    options.json = true;
    return options;
}

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

TEST_CASE("the JSON document looks as recorded") {
    BatchRun run;
    Options options = json(1);
    options.selection.pids = {1200, 1500};
    const std::string line = run.go(options);
    CHECK(std::ranges::count(line, '\n') == 1);
    auto document = nlohmann::ordered_json::parse(line);
    document.at("lost").erase("causes");  // grows with the module; tested below
    check_golden("refresh.json", document.dump(1) + "\n");
}

TEST_CASE("every key of the promise is there, with its type") {
    BatchRun run;
    const Json document = Json::parse(run.go(json(1)));
    CHECK(document.at("version") == 1);
    CHECK(document.at("hook") == "tracepoint");
    for (const char* key : {"time_ns", "interval_ns"})
        CHECK(document.at(key).is_number_unsigned());
    for (const char* key : {"tasks", "traces", "misses"})
        CHECK(document.at("lost").at(key).is_number_unsigned());
    REQUIRE(document.at("tasks").size() == 9);
    std::size_t user_frames = 0;
    for (const Json& task : document.at("tasks")) {
        for (const char* key : {"pid", "tgid", "uid", "blocked_ns", "ongoing_ns", "sleeps",
                                "max_ns", "runq_ns", "runs"})
            CHECK(task.at(key).is_number_unsigned());
        for (const char* key : {"comm", "state"})
            CHECK(task.at(key).is_string());
        CHECK(task.at("exited").is_boolean());
        for (const Json& trace : task.at("traces")) {
            for (const char* key : {"blocked_ns", "sleeps", "max_ns"})
                CHECK(trace.at(key).is_number_unsigned());
            CHECK(trace.at("hist_log2_ns").is_array());
            CHECK(trace.at("reason").is_string());
            CHECK(trace.at("idle").is_boolean());
            CHECK(trace.at("complete").is_boolean());
            for (const Json& frame : trace.at("kernel"))
                CHECK((frame.at("sym").is_string() && frame.at("off").is_number_unsigned()));
            for (const Json& frame : trace.at("user")) {
                ++user_frames;
                for (const char* key : {"sym", "module", "file"})
                    CHECK(frame.at(key).is_string());
                CHECK((frame.at("off").is_number_unsigned() &&
                       frame.at("line").is_number_unsigned()));
                CHECK(frame.at("inlined").is_boolean());
            }
        }
    }
    CHECK(user_frames > 20);
}

TEST_CASE("without waits for work the figures are of the other sleeps") {
    BatchRun run;
    Options options = json(1);
    options.selection.waits.hide_idle = true;
    const Json tasks = Json::parse(run.go(options)).at("tasks");
    REQUIRE(!tasks.empty());
    for (const Json& task : tasks) {
        std::uint64_t blocked_ns = 0;
        for (const Json& trace : task.at("traces")) {
            CHECK(trace.at("idle") == false);
            blocked_ns += trace.at("blocked_ns").get<std::uint64_t>();
        }
        CHECK(task.at("comm") != "nginx");  // in epoll alone
        if (task.at("traces_total") != 0) CHECK(task.at("blocked_ns") == blocked_ns);
    }
    options.json = false;
    const std::string text = run.go(options);
    CHECK(run.source.queries.back().traces == LT_TRACES_ALL);
    CHECK_THAT(text, has_text("dbserver"));
    CHECK_THAT(text, !has_text("nginx"));
}

TEST_CASE("JSON has command lines where they are asked for and known, and a filter asks for them") {
    BatchRun run;
    Options options = json(1);
    options.selection.pids = {1200, 877};
    Json document = Json::parse(run.go(options));
    CHECK(!document.at("tasks")[0].contains("cmdline"));
    CHECK(run.stacks.lines_wanted.empty());
    run.stacks.command_lines = {{1200, "dbserver --workers 16\n\x1b[2J"}};
    options.command_lines = true;
    document = Json::parse(run.go(options));
    CHECK(run.stacks.lines_wanted.size() == 4);
    REQUIRE(document.at("tasks").size() == 4);
    for (const Json& task : document.at("tasks"))
        if (task.at("tgid") == 1200)
            CHECK(task.at("cmdline") == "dbserver --workers 16\n\x1b[2J");
        else
            CHECK(!task.contains("cmdline"));
    options.command_lines = false;
    options.selection.waits.filter = "--workers";
    run.stacks.lines_wanted.clear();
    document = Json::parse(run.go(options));
    CHECK(run.stacks.lines_wanted.size() == 4);
    CHECK(document.at("tasks").size() == 3);
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

TEST_CASE("an inlined function is a frame of its own, before the one it is in") {
    UserFrame frame;
    frame.symbol = "outer(int)";
    frame.offset = 7;
    frame.module = "server";
    frame.file = "a.cc";
    frame.line = 9;
    frame.inlined = {{"inner()", "b.h", 3}};
    OneStack stacks(frame);
    BatchRun run;
    Options options = json(1);
    options.selection.pids = {2001};
    std::string printed;
    const auto print = [&](std::string_view text) {
        printed = text;
        return true;
    };
    run_batch(options,
              {run.source, stacks, run.users, run.cgroups, run.clock, run.learning, run.reasons},
              Charset::Utf8, print);
    const Json user = Json::parse(printed).at("tasks").at(0).at("traces").at(0).at("user");
    REQUIRE(user.size() == 2);
    CHECK(user[0].at("sym") == "inner()");
    CHECK(user[0].at("inlined") == true);
    CHECK(user[0].at("file") == "b.h");
    CHECK(user[0].at("module") == "server");
    CHECK(user[1].at("sym") == "outer(int)");
    CHECK(user[1].at("inlined") == false);
    CHECK(user[1].at("line") == 9);
    options.json = false;
    run_batch(options,
              {run.source, stacks, run.users, run.cgroups, run.clock, run.learning, run.reasons},
              Charset::Utf8, print);
    CHECK_THAT(printed, has_text("inner (inlined) server b.h:3 < outer+0x7 server a.cc:9"));
}

TEST_CASE("wakers stand with what they ended, the most first, where the module accounts them") {
    BatchRun run;
    FakeSource source([](std::uint64_t) {
        SnapshotBuilder builder;
        builder.header.limit[LT_LIMIT_WAKERS] = 100;
        const auto wait = builder.add_trace({.id = 7, .kernel = {"pipe_read"}});
        const auto wake =
            builder.add_trace({.id = 8, .kernel = {"pipe_write"}, .user = {0x401000}});
        builder.add_task({.pid = 11,
                          .entries = {{.trace = wait,
                                       .wakers = {{.kind = LT_WAKER_HIDDEN, .blocked_ns = 5},
                                                  {.trace = wake,
                                                   .pid = 12,
                                                   .comm = "writer",
                                                   .blocked_ns = 30,
                                                   .sleeps = 2}}}}});
        return builder.snapshot();
    });
    std::string printed;
    run_batch(json(1), run.with(source), Charset::Utf8, [&](std::string_view text) {
        printed = text;
        return true;
    });
    const Json wakers = Json::parse(printed).at("tasks").at(0).at("traces").at(0).at("wakers");
    REQUIRE(wakers.size() == 2);
    CHECK(wakers[0].at("kind") == "task");
    CHECK(wakers[0].at("pid") == 12);
    CHECK(wakers[0].at("comm") == "writer");
    CHECK(wakers[0].at("blocked_ns") == 30);
    CHECK(wakers[0].at("sleeps") == 2);
    CHECK(wakers[0].at("kernel").at(0).at("sym") == "pipe_write");
    CHECK(wakers[0].at("user").at(0).at("addr") == 0x401000);
    CHECK(wakers[1].at("kind") == "hidden");
    CHECK(wakers[1].at("kernel").empty());

    const Json without = Json::parse(run.go(json(1)));
    CHECK(!without.at("tasks").at(0).at("traces").at(0).contains("wakers"));
}

TEST_CASE("names that are not UTF-8 leave the JSON valid") {
    BatchRun run;
    const Json document = Json::parse(run.go(json(1)));
    bool found = false;
    for (const Json& task : document.at("tasks"))
        if (task.at("pid") == 2001) {
            found = true;
            CHECK(task.at("comm") == "evil\x1b[2J\xef\xbf\xbd");
        }
    CHECK(found);
}

TEST_CASE("each refresh is a document of its own, with deltas of its interval") {
    BatchRun run;
    const std::string lines = run.go(json(3));
    CHECK(std::ranges::count(lines, '\n') == 3);
    const Json last = Json::parse(lines.substr(lines.rfind('\n', lines.size() - 2) + 1));
    CHECK(last.at("interval_ns") == 2'000'000'000);
    for (const Json& task : last.at("tasks")) {
        if (task.at("pid") == 877) CHECK(task.at("delta").at("sleeps") == 8200);
        if (task.at("kind") == "exited") CHECK(task.at("delta").is_null());
    }
}

TEST_CASE("loss counters are summed by what was lost, and named") {
    FakeSource source([](std::uint64_t) {
        SnapshotBuilder builder = sample_machine(1);
        builder.header.lost[LT_LOST_task_limit] = 1;
        builder.header.lost[LT_LOST_task_pool] = 2;
        builder.header.lost[LT_LOST_entry_limit] = 10;
        builder.header.lost[LT_LOST_entry_pool] = 20;
        builder.header.lost[LT_LOST_trace_limit] = 30;
        builder.header.lost[LT_LOST_trace_pool] = 40;
        builder.header.lost[LT_LOST_user_miss] = 7;
        builder.header.lost[LT_LOST_task_user] = 4;
        builder.header.lost[LT_LOST_entry_user] = 50;
        builder.header.lost[LT_LOST_trace_user] = 60;
        return builder.snapshot();
    });
    BatchRun run;
    std::string printed;
    run_batch(json(1), run.with(source), Charset::Utf8, [&](std::string_view text) {
        printed = text;
        return true;
    });
    const Json lost = Json::parse(printed).at("lost");
    CHECK(lost.at("tasks") == 7);
    CHECK(lost.at("traces") == 210);
    CHECK(lost.at("misses") == 7);
    CHECK(lost.at("causes").at("entry_pool") == 20);
    for (const LostCause& cause : kLostCauses)
        CHECK(lost.at("causes").contains(std::string(cause.name)));
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
