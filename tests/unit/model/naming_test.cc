// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which stack a row is named by: a thread that locked for long, long ago, and now reads a pipe.
#include "lattop/model/naming.h"

#include "lattop/source/select.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

struct NamedRow {
    /// Two seconds apart: it has slept `naps` more, and is in the pipe for `ongoing_ns`.
    static SnapshotBuilder machine(std::uint64_t seconds, std::uint64_t naps,
                                   std::uint64_t ongoing_ns) {
        SnapshotBuilder builder;
        builder.header.time_ns = builder.header.since_ns + seconds * kSecond;
        const auto lock = builder.add_trace({.id = 1, .kernel = {"schedule", "futex_wait"}});
        const auto nap = builder.add_trace({.id = 2, .kernel = {"schedule", "do_nanosleep"}});
        const auto pipe = builder.add_trace({.id = 3, .kernel = {"schedule", "pipe_read"}});
        std::vector<EntrySpec> entries{{.trace = lock, .blocked_ns = 500 * kSecond}};
        if (naps != 0) entries.push_back({.trace = nap, .blocked_ns = naps * kMs, .sleeps = naps});
        if (ongoing_ns != 0)
            entries.push_back({.trace = pipe,
                               .blocked_ns = ongoing_ns,
                               .ongoing_ns = ongoing_ns,
                               .flags = LT_E_ONGOING});
        builder.add_task({.pid = 7,
                          .comm = "worker",
                          .blocked_ns = 500 * kSecond + naps * kMs + ongoing_ns,
                          .sleeps = 2 + naps,
                          .ongoing_ns = ongoing_ns,
                          .flags = ongoing_ns != 0 ? std::uint32_t{LT_T_ASLEEP} : 0U,
                          .entries = entries});
        return builder;
    }

    void look(const SnapshotBuilder& builder) {
        Snapshot snapshot = builder.snapshot();
        const Query query{.traces = traces};
        apply_query(snapshot, query);
        model.update(std::move(snapshot), query);
    }

    std::string name(View view) {
        options.view = view;
        const TableContext context{model, stacks, users, reasons, cgroups};
        const std::vector<Row> rows = make_rows(context, options);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].slept == &model.snapshot().tasks[0]);
        return rows[0].reason->name;
    }

    Model model;
    SampleStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    Reasons reasons;
    RowOptions options;
    lt_traces traces = LT_TRACES_WORST_AND_ONGOING;
};

}  // namespace

TEST_CASE("figures since load are named by the stack that cost most") {
    NamedRow world;
    world.look(NamedRow::machine(600, 0, 0));
    world.look(NamedRow::machine(602, 10, 1500 * kMs));
    for (const View view : {View::Tasks, View::Processes, View::Cgroups})
        CHECK(world.name(view) == "futex");
}

TEST_CASE("figures of an interval are named by what it was blocked in then") {
    NamedRow world;
    world.options.interval = true;
    world.look(NamedRow::machine(600, 0, 0));
    world.look(NamedRow::machine(602, 10, 1500 * kMs));
    CHECK(world.name(View::Tasks) == "pipe read");
    CHECK(world.name(View::Processes) == "pipe read");

    world.traces = LT_TRACES_ALL;
    world.look(NamedRow::machine(604, 10, 0));
    world.look(NamedRow::machine(606, 900, 20 * kMs));
    CHECK(world.name(View::Tasks) == "sleep");
    CHECK(world.name(View::Cgroups) == "sleep");

    world.look(NamedRow::machine(608, 900, 0));  // blocked in nothing: what it is known by
    CHECK(world.name(View::Tasks) == "futex");
}

TEST_CASE("rows in order of the ongoing sleep are named by that") {
    NamedRow world;
    world.options.sort = Column::Ongoing;
    world.look(NamedRow::machine(602, 10, 20 * kMs));
    for (const View view : {View::Tasks, View::Processes, View::Cgroups})
        CHECK(world.name(view) == "pipe read");
    world.look(NamedRow::machine(604, 10, 0));
    for (const View view : {View::Tasks, View::Processes, View::Cgroups})
        CHECK(world.name(view) == "futex");
}

TEST_CASE("a filter counts the sleeps that it is for, whichever cost most") {
    NamedRow world;
    world.traces = traces_needed({.waits = {.filter = "sleep"}});
    world.look(NamedRow::machine(602, 10, 20 * kMs));
    world.options.waits.filter = "sleep";
    CHECK(world.name(View::Tasks) == "sleep");
    const TableContext context{world.model, world.stacks, world.users, world.reasons,
                               world.cgroups};
    const Row row = make_rows(context, world.options).at(0);
    CHECK(row.total.blocked_ns == 10 * kMs);
    CHECK(row.total.sleeps == 10);
    CHECK(row.ongoing_ns == 0);
    world.options.waits.filter = "worker";
    CHECK(make_rows(context, world.options).at(0).total.blocked_ns == 500 * kSecond + 30 * kMs);
    world.options.waits.filter = "disk";
    CHECK(make_rows(context, world.options).empty());
}

TEST_CASE("a recording is asked for the worst stack and the ongoing sleep's as the module is") {
    for (const std::uint64_t naps : {0U, 10U}) {
        Snapshot snapshot = NamedRow::machine(602, naps, 20 * kMs).snapshot();
        apply_query(snapshot, {.traces = LT_TRACES_WORST_AND_ONGOING});
        const auto entries = snapshot.entries_of(snapshot.tasks[0]);
        REQUIRE(entries.size() == 2);
        CHECK(snapshot.trace_of(entries[0])->id == 1);
        CHECK(snapshot.trace_of(entries[1])->id == 3);
    }
    Snapshot awake = NamedRow::machine(602, 10, 0).snapshot();
    apply_query(awake, {.traces = LT_TRACES_WORST_AND_ONGOING});
    CHECK(awake.entries_of(awake.tasks[0]).size() == 1);
}

}  // namespace lattop::test
