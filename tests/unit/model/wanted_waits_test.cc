// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/wanted_waits.h"

#include <nlohmann/json.hpp>

#include "lattop/export/json.h"
#include "lattop/export/text.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

/// A server that mostly waits for work, a spinner that never slept, and what
/// found no room.
Snapshot server() {
    SnapshotBuilder builder;
    const auto epoll = builder.add_trace({.id = 1, .kernel = {"schedule", "ep_poll"}});
    const auto pipe = builder.add_trace({.id = 2, .kernel = {"schedule", "pipe_read"}});
    const auto disk = builder.add_trace({.id = 3, .kernel = {"io_schedule", "filemap_fault"}});
    builder.add_task({.pid = 7,
                      .comm = "server",
                      .blocked_ns = 1000,
                      .sleeps = 12,
                      .max_ns = 600,
                      .ongoing_ns = 50,
                      .runq_ns = 5,
                      .entries = {{.trace = epoll,
                                   .blocked_ns = 700,
                                   .sleeps = 7,
                                   .max_ns = 600,
                                   .ongoing_ns = 50,
                                   .flags = LT_E_ONGOING},
                                  {.trace = pipe, .blocked_ns = 200, .sleeps = 3, .max_ns = 90},
                                  {.trace = disk, .blocked_ns = 100, .sleeps = 2, .max_ns = 80}}});
    builder.add_task({.pid = 8, .comm = "spinner", .runq_ns = 6, .state = 'R', .flags = 0});
    builder.add_task({.pid = 0, .blocked_ns = 9, .sleeps = 1, .kind = LT_KIND_OTHER, .flags = 0});
    return builder.snapshot();
}

struct Sources {
    Snapshot kept(const WantedWaits& wanted) {
        Snapshot snapshot = server();
        keep_wanted(snapshot, wanted, stacks, users, reasons, cgroups);
        return snapshot;
    }
    SampleStacks stacks;
    SampleUsers users;
    Reasons reasons;
    SystemCgroups cgroups;
};

nlohmann::json json_of(const TableContext& context, const RowOptions& options) {
    std::string document;
    write_refresh_json(context, options, 0, 0, {}, {}, [&](std::string_view text) {
        document += text;
        return true;
    });
    return nlohmann::json::parse(document);
}

}  // namespace

TEST_CASE("what is left without waits for work adds up, and records without stacks stay") {
    Sources sources;
    const Snapshot all = sources.kept({});
    CHECK(all.tasks.size() == 3);
    CHECK(all.entries.size() == 3);
    const Snapshot busy = sources.kept({.hide_idle = true});
    REQUIRE(busy.tasks.size() == 3);
    CHECK(busy.header.tasks_matched == 3);
    const Task& task = busy.tasks[0];
    CHECK(task.blocked_ns == 300);
    CHECK(task.sleeps == 5);
    CHECK(task.max_ns == 90);
    CHECK(task.ongoing_ns == 0);
    CHECK(!task.asleep());
    CHECK(task.runq_ns == 5);
    CHECK(task.traces_total == 2);
    REQUIRE(busy.entries_of(task).size() == 2);
    CHECK(busy.entries_of(task)[0].blocked_ns == 200);
    CHECK(busy.tasks[1].runq_ns == 6);
    CHECK(busy.tasks[2].blocked_ns == 9);
}

TEST_CASE("a filter chooses stacks by their own reason, tasks by what they are called") {
    Sources sources;
    const Snapshot pipes = sources.kept({.filter = "Pipe Read"});
    REQUIRE(pipes.tasks.size() == 1);
    CHECK(pipes.tasks[0].blocked_ns == 200);
    CHECK(pipes.tasks[0].sleeps == 3);
    CHECK(pipes.header.tasks_matched == 1);
    const Snapshot named = sources.kept({.filter = "SERVER|spin"});
    REQUIRE(named.tasks.size() == 2);
    CHECK(named.tasks[0].blocked_ns == 1000);
    CHECK(named.tasks[0].asleep());
    CHECK(sources.kept({.filter = "server", .hide_idle = true}).tasks[0].blocked_ns == 300);
    CHECK(sources.kept({.filter = "nobody is called so"}).tasks.empty());
    CHECK(wanted_text({}).empty());
    CHECK(wanted_text({.filter = "x", .hide_idle = true}) == ", no waits for work, filter x");
}

TEST_CASE("a filter knows a stack by any function that is in it, whoever's, also an inlined one") {
    SnapshotBuilder builder;
    const auto log = builder.add_trace(
        {.id = 1,
         .kernel = {"io_schedule", "jbd2_log_wait_commit", "ext4_sync_file", "do_syscall_64"}});
    const auto pool =
        builder.add_trace({.id = 2, .kernel = {"schedule", "futex_wait"}, .user = {0x4000}});
    builder.add_task({.pid = 7,
                      .comm = "server",
                      .blocked_ns = 900,
                      .sleeps = 9,
                      .entries = {{.trace = log, .blocked_ns = 700, .sleeps = 7},
                                  {.trace = pool, .blocked_ns = 200, .sleeps = 2}}});
    builder.add_task({.pid = 8, .comm = "nobody", .blocked_ns = 5, .entries = {{.blocked_ns = 5}}});
    UserFrame frame{"shop::Pool::take(Budget const&) const", 0x10, "shop", "", "", 0, {}};
    frame.inlined = {{"std::mutex::lock()", "", 0}, {"shop::Gate::enter(int)", "", 0}};
    const OneStack stacks(frame, std::nullopt, 0);
    SampleUsers users;
    Reasons reasons;
    SystemCgroups cgroups;
    const auto blocked = [&](const char* filter) {
        Snapshot snapshot = builder.snapshot();
        keep_wanted(snapshot, {.filter = filter}, stacks, users, reasons, cgroups);
        return snapshot.tasks.empty() ? 0 : snapshot.tasks[0].blocked_ns;
    };
    CHECK(blocked("EXT4_sync") == 700);    // an outer one of the kernel's
    CHECK(blocked("io_schedule") == 700);  // one that all stacks for a disk have
    CHECK(blocked("pool::take") == 200);
    CHECK(blocked("gate::enter") == 200);  // the top frame
    CHECK(blocked("mutex::lock") == 200);  // of the C++ library
    CHECK(blocked("Budget") == 0);         // a parameter is no function
    CHECK(blocked("64") == 0);             // digits are a pid's, not do_syscall_64's
    CHECK(blocked("7") == 900);

    Model model;
    model.update(builder.snapshot(), {});
    const TableContext context{model, stacks, users, reasons, cgroups};
    for (const View view : {View::Tasks, View::Processes, View::Stacks, View::Reasons}) {
        const auto rows = make_rows(context, {.view = view, .waits = {.filter = "mutex::lock"}});
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].total.blocked_ns == 200);
    }
    const auto document = json_of(context, {.waits = {.filter = "ext4_sync"}});
    REQUIRE(document.at("tasks").size() == 1);
    CHECK(document.at("tasks")[0].at("traces").size() == 1);
    CHECK(document.at("tasks")[0].at("blocked_ns") == 700);
}

TEST_CASE("text and JSON without waits for work show the stack and the figures that are left") {
    Sources sources;
    Model model;
    model.update(server(), {});
    const TableContext context{model, sources.stacks, sources.users, sources.reasons,
                               sources.cgroups};
    TextOptions options;
    options.rows.waits.hide_idle = true;
    const std::string text = refresh_text(context, options, "", "");
    CHECK_THAT(text, has_text("showing 3 of 3 tasks that match"));
    CHECK_THAT(text, has_text("in all, no waits for work"));
    CHECK_THAT(text, has_text("66.7% of it in 3 sleeps"));
    CHECK_THAT(text, has_text("pipe_read"));
    CHECK_THAT(text, !has_text("ep_poll"));
    const auto document = json_of(context, options.rows);
    const auto& task = document.at("tasks").at(0);
    CHECK(task.at("comm") == "server");
    CHECK(task.at("blocked_ns") == 300);
    CHECK(task.at("sleeps") == 5);
    CHECK(task.at("max_ns") == 90);
    CHECK(task.at("ongoing_ns") == 0);
    CHECK(task.at("asleep") == false);
    CHECK(task.at("traces").size() == 2);
    CHECK(task.at("traces_total") == 2);
    CHECK(document.at("tasks_matched") == 3);
    CHECK(document.at("selection").at("no_idle") == true);
}

}  // namespace lattop::test
