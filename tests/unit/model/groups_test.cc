// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/groups.h"

#include <map>
#include <numeric>

#include "lattop/model/percentile.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

struct Tables {
    TableContext context() { return {model, stacks, users, reasons, cgroups}; }
    std::vector<Row> rows(View view) {
        options.view = view;
        return make_rows(context(), options);
    }
    /// The row whose cell of `column` is `text`.
    Row row(View view, Column column, const std::string& text) {
        for (Row& one : rows(view))
            if (cell_text(context(), one, column) == text) return one;
        FAIL("no row has " << text);
        return {};
    }

    Model model;
    SampleStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    Reasons reasons;
    RowOptions options;
};

/// Of the sample machine after 12 seconds, two seconds after the first look.
struct SampleTables : Tables {
    SampleTables() {
        model.update(sample_machine(10).snapshot(), {});
        model.update(sample_machine(12).snapshot(), {});
    }
};

std::uint64_t blocked(const std::vector<Row>& rows) {
    return std::accumulate(
        rows.begin(), rows.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Row& row) { return sum + row.total.blocked_ns; });
}

}  // namespace

TEST_CASE("every view adds up to the same blocked time and sleeps") {
    SampleTables world;
    const std::uint64_t all = blocked(world.rows(View::Tasks));
    CHECK(all > 0);
    for (const View view : {View::Processes, View::Stacks, View::Reasons, View::Cgroups})
        CHECK(blocked(world.rows(view)) == all);
}

TEST_CASE("a cgroup is its tasks added up, though they never slept, without those below it") {
    SnapshotBuilder builder;
    const auto wait = builder.add_trace({.id = 1, .kernel = {"schedule", "pipe_read"}});
    builder.add_task({.pid = 7,
                      .blocked_ns = 30,
                      .sleeps = 1,
                      .runq_ns = 5,
                      .cgroup = "/web",
                      .entries = {{.trace = wait, .blocked_ns = 30}}});
    builder.add_task({.pid = 8, .runq_ns = 6, .state = 'R', .flags = 0, .cgroup = "/web"});
    builder.add_task({.pid = 9, .runq_ns = 7, .state = 'R', .flags = 0, .cgroup = "/web/worker"});
    builder.add_task({.pid = 0, .tgid = 0, .runq_ns = 8, .kind = LT_KIND_OTHER, .flags = 0});
    Tables world;
    world.model.update(builder.snapshot(), {});
    const Row web = world.row(View::Cgroups, Column::Cgroup, "/web");
    CHECK(web.tasks == 2);
    CHECK(web.asleep == 0);
    CHECK(web.total.blocked_ns == 30);
    CHECK(web.total.runq_ns == 11);
    CHECK(web.reason->name == "pipe read");
    CHECK(world.row(View::Cgroups, Column::Cgroup, "/web/worker").total.runq_ns == 7);
    CHECK(world.row(View::Cgroups, Column::Cgroup, "-").total.runq_ns == 8);
    CHECK(tasks_of_row(world.context(), world.options, web.id).size() == 2);
    CHECK(stacks_of_row(world.context(), world.options, web.id).size() == 1);

    world.options.waits.filter = "WORKER";
    CHECK(world.rows(View::Cgroups).size() == 1);
    SampleTables docker;
    docker.options.waits.filter = "dddddddddddddd";  // of its id, more than the name has
    CHECK(docker.rows(View::Cgroups).size() == 1);
    world.options.waits.filter = "";
    world.options.sort = Column::Cgroup;
    const auto rows = world.rows(View::Cgroups);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].id.cgroup.empty());  // "-"
    CHECK(rows[1].id.cgroup == "/web");
}

TEST_CASE("a process is its threads added up, named by its leader") {
    SampleTables world;
    const Row row = world.row(View::Processes, Column::Pid, "1200");
    CHECK(row.tasks == 3);
    CHECK(row.asleep == 3);
    CHECK(row.task->comm == "dbserver");
    CHECK(row.total.sleeps == 3 * (129 * 12 + 2));
    CHECK(row.total.runq_ns == 3 * 2 * kMs * 12);
    CHECK(row.max_ns == 180 * kMs);
    CHECK(row.ongoing_ns == 12 * kMs);
    CHECK(row.reason->name == "futex");
    REQUIRE(row.delta);
    CHECK(row.delta->sleeps == 3 * 129 * 2);
    CHECK(cell_text(world.context(), row, Column::Command) == "dbserver +2");
    // 600, 601, 602 ms a second in the lock, 250 ms each in reads, of 2 s.
    CHECK(cell_text(world.context(), row, Column::Waiting) == "2.55");
    // What exited of a process that has no thread left is a process all the same.
    CHECK(cell_text(world.context(), world.row(View::Processes, Column::Pid, "1500"),
                    Column::Command) == "cc1plus [exited]");
}

TEST_CASE("a process counts each thread and its run queue once, whether it slept or not") {
    const auto spinning = [](std::uint64_t runq_ns) {
        SnapshotBuilder builder;
        for (const std::uint32_t pid : {70U, 71U, 72U, 73U})
            builder.add_task(
                {.pid = pid, .tgid = 70, .runq_ns = runq_ns, .state = 'R', .flags = 0});
        builder.header.time_ns += runq_ns;
        return builder.snapshot();
    };
    Tables world;
    world.model.update(spinning(10 * kMs), {});
    world.model.update(spinning(15 * kMs), {});
    const Row row = world.row(View::Processes, Column::Pid, "70");
    CHECK(row.tasks == 4);
    CHECK(row.asleep == 0);
    CHECK(row.total.runq_ns == 60 * kMs);
    REQUIRE(row.delta);
    CHECK(row.delta->runq_ns == 20 * kMs);
    CHECK(row.reason->name.empty());
    CHECK(tasks_of_row(world.context(), world.options, row.id).size() == 4);
    CHECK(stacks_of_row(world.context(), world.options, row.id).empty());
    CHECK(world.rows(View::Stacks).empty());
    CHECK(world.rows(View::Reasons).empty());
}

TEST_CASE("sleeps that are hidden or filtered out leave a process its run queue") {
    SnapshotBuilder builder;
    const auto work = builder.add_trace({.id = 1, .kernel = {"schedule", "ep_poll"}});
    const auto disk = builder.add_trace({.id = 2, .kernel = {"io_schedule", "filemap_read"}});
    const auto task = [&](std::uint32_t pid, std::uint32_t tgid, std::uint32_t trace) {
        builder.add_task({.pid = pid,
                          .tgid = tgid,
                          .blocked_ns = 9,
                          .sleeps = 1,
                          .runq_ns = pid,
                          .entries = {{.trace = trace, .blocked_ns = 9}}});
    };
    task(70, 70, disk);
    task(71, 70, work);
    task(80, 80, work);
    Tables world;
    world.model.update(builder.snapshot(), {});
    world.options.waits.hide_idle = true;
    auto rows = world.rows(View::Processes);
    REQUIRE(rows.size() == 1);  // the other one only waited for work
    CHECK(rows[0].tasks == 2);
    CHECK(rows[0].total.runq_ns == 70 + 71);
    CHECK(rows[0].total.blocked_ns == 9);
    // A word that a thread is not known by leaves that thread out.
    world.options.waits.filter = "disk";
    rows = world.rows(View::Processes);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].tasks == 1);
    CHECK(rows[0].total.runq_ns == 70);
}

TEST_CASE("a command that does not fit loses letters, never digits of the count") {
    Task task;
    task.comm = "b\u00e4\u00e4ckerei";
    Row row;
    row.task = &task;
    row.tasks = 18;
    CHECK(command_text(row, 40) == "b\u00e4\u00e4ckerei +17");
    CHECK(command_text(row, 9) == "b\u00e4\u00e4 +17");
    CHECK(command_text(row, 8) == "b\u00e4 +17");
    CHECK(command_text(row, 7) == task.comm);
    row.tasks = 1;
    CHECK(command_text(row, 2) == task.comm);
}

TEST_CASE("a stack is one row for all tasks that share it") {
    SampleTables world;
    const Row row = world.row(View::Stacks, Column::TopFrame, "db::BufferPool::acquire");
    CHECK(row.tasks == 3);
    CHECK(row.total.blocked_ns == (600 + 601 + 602) * kMs * 12);
    CHECK(row.task->pid == 1202);  // blocked longest
    const Row idle = world.row(View::Stacks, Column::Reason, "idle");
    CHECK(idle.tasks == 2);
    // What has no trace of its own, and what a record without stacks has.
    CHECK(world.row(View::Stacks, Column::Reason, "[other]").tasks == 4);
}

TEST_CASE("a reason is one row for all its stacks, a task counts once") {
    SnapshotBuilder builder;
    const auto one = builder.add_trace({.id = 1, .kernel = {"schedule", "pipe_read"}});
    const auto two = builder.add_trace({.id = 2, .kernel = {"schedule", "pipe_read", "vfs_read"}});
    builder.add_task({.pid = 7,
                      .blocked_ns = 30,
                      .sleeps = 3,
                      .entries = {{.trace = one, .blocked_ns = 20, .sleeps = 2, .max_ns = 15},
                                  {.trace = two, .blocked_ns = 10, .max_ns = 10}}});
    builder.add_task({.pid = 8,
                      .blocked_ns = 15,
                      .sleeps = 1,
                      .entries = {{.trace = two, .blocked_ns = 15, .max_ns = 15}}});
    Tables world;
    world.model.update(builder.snapshot(), {});
    const auto rows = world.rows(View::Reasons);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].tasks == 2);
    CHECK(rows[0].total.blocked_ns == 45);
    CHECK(rows[0].total.sleeps == 4);
    CHECK(rows[0].max_ns == 15);
    // Of both tasks together the second stack cost most, of one task the first.
    CHECK(world.model.snapshot().trace_of(*rows[0].entry)->id == 2);
    CHECK(rows[0].task->pid == 7);

    const auto stacks = stacks_of_row(world.context(), world.options, rows[0].id);
    REQUIRE(stacks.size() == 2);
    CHECK(stacks[0].sum.blocked_ns == 25);
    CHECK(stacks[0].tasks == 2);
    CHECK(stacks[0].task->pid == 8);
    CHECK(stacks[1].tasks == 1);
    const auto tasks = tasks_of_row(world.context(), world.options, rows[0].id);
    REQUIRE(tasks.size() == 2);
    CHECK(tasks[0].task->pid == 7);
    CHECK(tasks[0].blocked_ns == 30);
}

TEST_CASE("the frame of a group is named by the task whose stack it is") {
    SampleTables world;
    const Row row = world.row(View::Processes, Column::Pid, "1200");
    CHECK(row.slept->tgid == 1200);
    CHECK(cell_text(world.context(), row, Column::TopFrame) == "db::BufferPool::acquire");
}

TEST_CASE("without waits for work a task is what is left of it") {
    SnapshotBuilder builder;
    const auto work = builder.add_trace({.id = 1, .kernel = {"schedule", "ep_poll"}});
    const auto disk = builder.add_trace({.id = 2, .kernel = {"io_schedule", "filemap_read"}});
    builder.add_task({.pid = 7,
                      .blocked_ns = 110,
                      .sleeps = 5,
                      .max_ns = 100,
                      .ongoing_ns = 50,
                      .entries = {{.trace = work,
                                   .blocked_ns = 100,
                                   .sleeps = 3,
                                   .max_ns = 100,
                                   .ongoing_ns = 50,
                                   .flags = LT_E_ONGOING},
                                  {.trace = disk, .blocked_ns = 10, .sleeps = 2, .max_ns = 8}}});
    builder.add_task({.pid = 8,
                      .blocked_ns = 100,
                      .sleeps = 1,
                      .entries = {{.trace = work, .blocked_ns = 100}}});
    builder.add_task({.pid = 9, .blocked_ns = 5, .sleeps = 1});
    Tables world;
    world.options.waits.hide_idle = true;
    world.model.update(builder.snapshot(), {});
    const auto rows = world.rows(View::Tasks);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].task->pid == 7);
    CHECK(rows[0].total.blocked_ns == 10);
    CHECK(rows[0].total.sleeps == 2);
    CHECK(rows[0].max_ns == 8);
    CHECK(rows[0].ongoing_ns == 0);
    CHECK(rows[0].reason->name == "disk read");
    CHECK(cell_text(world.context(), rows[0], Column::Ongoing) == "-");
    CHECK(rows[1].task->pid == 9);  // it has no stacks to tell
}

TEST_CASE("the state of a task says whether the sleep is for I/O") {
    SnapshotBuilder builder;
    builder.add_task({.pid = 7, .state = 'D', .flags = LT_T_ASLEEP | LT_T_IOWAIT});
    builder.add_task({.pid = 8, .state = 'S', .flags = LT_T_ASLEEP | LT_T_IOWAIT});
    builder.add_task({.pid = 9, .state = 'D'});
    builder.add_task({.pid = 10, .state = 'T', .flags = LT_T_ASLEEP | LT_T_IOWAIT});
    Tables world;
    world.model.update(builder.snapshot(), {});
    std::map<std::uint32_t, std::string> states;
    for (const Row& row : world.rows(View::Tasks))
        states[row.task->pid] = cell_text(world.context(), row, Column::State);
    CHECK(states == std::map<std::uint32_t, std::string>{{7, "d"}, {8, "s"}, {9, "D"}, {10, "T"}});
}

TEST_CASE("sums of an interval are shown only where all their parts are known") {
    Tables world;
    Query worst;
    Query all;
    all.traces = LT_TRACES_ALL;
    SnapshotBuilder before;
    const auto trace = before.add_trace({.id = 1, .kernel = {"schedule", "pipe_read"}});
    before.add_task({.traces_total = 2, .entries = {{.trace = trace, .blocked_ns = 5}}});
    SnapshotBuilder after;
    const auto one = after.add_trace({.id = 1, .kernel = {"schedule", "pipe_read"}});
    const auto two = after.add_trace({.id = 2, .kernel = {"schedule", "pipe_read", "x"}});
    after.add_task({.entries = {{.trace = one, .blocked_ns = 9}, {.trace = two, .blocked_ns = 4}}});
    after.header.time_ns = before.header.time_ns + 10;
    world.model.update(before.snapshot(), worst);
    world.model.update(after.snapshot(), all);
    CHECK(!world.rows(View::Reasons).at(0).delta);
    CHECK(cell_text(world.context(), world.rows(View::Reasons).at(0), Column::Waiting) == "-");
    after.header.time_ns += 10;
    world.model.update(after.snapshot(), all);
    CHECK(world.rows(View::Reasons).at(0).delta);
}

TEST_CASE("what a record without stacks grew by in the interval counts in every view") {
    const auto machine = [](std::uint64_t seconds) {
        SnapshotBuilder builder;
        builder.add_task({.pid = 0,
                          .tgid = 0,
                          .blocked_ns = 100 * seconds,
                          .sleeps = 10 * seconds,
                          .kind = LT_KIND_OTHER,
                          .flags = 0});
        builder.header.time_ns += seconds * kSecond;
        return builder.snapshot();
    };
    Tables world;
    world.model.update(machine(3), {});
    world.model.update(machine(5), {});
    for (const ViewInfo& view : views()) {
        INFO(view.name);
        const auto rows = world.rows(view.id);
        REQUIRE(rows.size() == 1);
        REQUIRE(rows[0].delta);
        CHECK(rows[0].delta->blocked_ns == 200);
        CHECK(rows[0].delta->sleeps == 20);
        if (view.id == View::Tasks) continue;
        TableContext interval = world.context();
        interval.interval = true;
        const auto stacks = stacks_of_row(interval, world.options, rows[0].id);
        REQUIRE(stacks.size() == 1);
        CHECK(stacks[0].known);
        CHECK(stacks[0].sum.blocked_ns == 200);
        CHECK(stacks[0].sum.sleeps == 20);
        CHECK(tasks_of_row(interval, world.options, rows[0].id).at(0).blocked_ns == 200);
    }
}

TEST_CASE(
    "where a record without stacks was not in the snapshot before, its interval is not known") {
    SnapshotBuilder before, after;
    before.add_task({.pid = 7, .blocked_ns = 9, .sleeps = 1});
    before.header.tasks_matched = 2;  // the other one was beyond the limit
    after.add_task(
        {.pid = 0, .tgid = 0, .blocked_ns = 9, .sleeps = 1, .kind = LT_KIND_OTHER, .flags = 0});
    after.header.time_ns = before.header.time_ns + 10;
    Tables world;
    world.model.update(before.snapshot(), {});
    world.model.update(after.snapshot(), {});
    const Row row = world.rows(View::Stacks).at(0);
    CHECK(!row.delta);
    TableContext interval = world.context();
    interval.interval = true;
    CHECK(!stacks_of_row(interval, world.options, row.id).at(0).known);
}

TEST_CASE("a percentile is the upper end of its bucket, or the longest sleep") {
    Histogram hist{};
    CHECK(percentile_bound(hist, 0.5, 100) == 0);
    hist[10] = 98;  // 1024 up to 2048
    hist[20] = 1;
    hist[39] = 1;
    CHECK(percentile_bound(hist, 0.5, UINT64_MAX) == 2048);
    CHECK(percentile_bound(hist, 0.5, 1500) == 1500);
    CHECK(percentile_bound(hist, 0.98, UINT64_MAX) == 2048);
    CHECK(percentile_bound(hist, 0.99, UINT64_MAX) == 2U << 20U);
    CHECK(percentile_bound(hist, 1.0, 7'000'000'000'000) == 7'000'000'000'000);
    Histogram one{};
    one[0] = 1;
    CHECK(percentile_bound(one, 0.99, 1) == 1);
}

TEST_CASE("percentiles of a group are of all its sleeps, of a task of its worst stack") {
    SampleTables world;
    const Row task = world.row(View::Tasks, Column::Pid, "1202");
    const Row process = world.row(View::Processes, Column::Pid, "1200");
    // In the lock 20 of 30 sleeps are of 8.4 to 16.8 ms; with the reads most are of 2.1 to 4.2.
    CHECK(task.total.p50_ns == 1U << 24U);
    CHECK(process.total.p50_ns == 1U << 22U);
    CHECK(task.total.p99_ns == 180 * kMs);
    REQUIRE(task.delta);
    CHECK(task.delta->p50_ns == 1U << 24U);
}

TEST_CASE("every view is ordered by each of its columns, and the other way round") {
    SampleTables world;
    for (const ViewInfo& view : views())
        for (const Column column : view.shown) {
            world.options.sort = column;
            world.options.invert = false;
            const auto rows = world.rows(view.id);
            world.options.invert = true;
            const auto inverted = world.rows(view.id);
            INFO(view.name << " by " << column_info(column).name);
            CHECK(cell_text(world.context(), rows.front(), column) ==
                  cell_text(world.context(), inverted.back(), column));
        }
}

TEST_CASE("a column that a view lacks is the one that says the same, or blocked time") {
    CHECK(column_in(View::Stacks, Column::Share) == Column::Waiting);
    CHECK(column_in(View::Tasks, Column::Waiting) == Column::Share);
    CHECK(column_in(View::Stacks, Column::Pid) == Column::Blocked);
    CHECK(column_in(View::Reasons, Column::Max) == Column::Max);
}

}  // namespace lattop::test
