// SPDX-License-Identifier: GPL-2.0-or-later
//
// What `lattop --json` prints: docs/lattop.schema.json is its promise.
#include "lattop/batch.h"

#include <nlohmann/json.hpp>

#include "tests/unit/support/batch_run.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

}  // namespace

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

}  // namespace lattop::test
