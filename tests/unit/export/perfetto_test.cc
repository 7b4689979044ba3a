// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/export/perfetto.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/unit/support/catch.h"
#include "tests/unit/support/sample.h"

namespace lattop::test {
namespace {

using Json = nlohmann::json;

/// One task that sleeps, seen at `now`: its `number`th sleep began at `began`.
Snapshot sleeper(std::uint64_t now, std::uint64_t number, std::uint64_t began,
                 const std::string& name = "sleeper") {
    SnapshotBuilder builder;
    builder.header.time_ns = now;
    const auto trace = builder.add_trace({.kernel = {"schedule", "futex_wait_queue"}});
    builder.add_task({.pid = 8,
                      .tgid = 7,
                      .comm = name,
                      .blocked_ns = now - kSecond,
                      .sleeps = number,
                      .ongoing_ns = now - began,
                      .entries = {{.trace = trace,
                                   .blocked_ns = now - kSecond,
                                   .sleeps = number,
                                   .ongoing_ns = now - began,
                                   .flags = LT_E_ONGOING}}});
    return builder.snapshot();
}

Json trace_of(std::vector<Snapshot> snapshots) {
    Reasons reasons;
    const SampleStacks stacks;
    PerfettoTrace trace(stacks, reasons);
    for (Snapshot& snapshot : snapshots)
        trace.add(std::move(snapshot));
    return Json::parse(trace.text("title"));
}

template <typename... Snapshots>
Json trace_of(Snapshots... snapshots) {
    std::vector<Snapshot> all;
    (all.push_back(std::move(snapshots)), ...);
    return trace_of(std::move(all));
}

std::vector<Json> events(const Json& trace, const std::string& kind) {
    std::vector<Json> found;
    for (const Json& event : trace.at("traceEvents"))
        if (event.at("ph") == kind) found.push_back(event);
    return found;
}

}  // namespace

TEST_CASE("perfetto: counters over time are what each process was blocked") {
    std::vector<Snapshot> snapshots;
    for (const std::uint64_t t : {10U, 12U, 14U, 16U})
        snapshots.push_back(sample_machine(t).snapshot());
    const double begin = static_cast<double>(snapshots.front().header.time_ns) / 1e3;
    const double end = static_cast<double>(snapshots.back().header.time_ns) / 1e3;
    std::map<std::uint32_t, double> blocked;
    for (const Task& task : snapshots.back().tasks)
        if (!stands_for_exited(task)) blocked[task.tgid] += static_cast<double>(task.blocked_ns);
    for (const Task& task : snapshots.front().tasks)
        if (!stands_for_exited(task)) blocked[task.tgid] -= static_cast<double>(task.blocked_ns);

    struct Last {
        double at = 0, value = 0;
    };
    std::map<std::pair<std::uint32_t, std::string>, Last> last;
    std::map<std::uint32_t, double> drawn;
    for (const Json& event : events(trace_of(std::move(snapshots)), "C")) {
        const auto pid = event.at("pid").get<std::uint32_t>();
        const double at = event.at("ts").get<double>();
        CHECK(at >= begin);
        CHECK(at <= end);
        Last& one = last[{pid, event.at("name").get<std::string>()}];
        CHECK(at >= one.at);
        drawn[pid] += one.value * (at - one.at) * 1e3;
        one = {at, event.at("args").at("tasks").get<double>()};
    }
    CHECK(last.size() > 4);
    for (const auto& [id, one] : last)
        CHECK(one.value == 0);  // each ends with the recording
    for (const auto& [pid, ns] : blocked) {
        INFO(pid);
        CHECK(std::abs(drawn[pid] - ns) <= 0.0005 * 6e9 * 3);  // rounded to thousandths
    }
}

TEST_CASE("perfetto: a sleep that two snapshots saw is a slice from where it began") {
    const Json trace =
        trace_of(sleeper(10 * kSecond, 4, 9 * kSecond), sleeper(12 * kSecond, 5, 11 * kSecond + 1),
                 sleeper(14 * kSecond, 5, 11 * kSecond + 1), sleeper(16 * kSecond, 6, 15 * kSecond),
                 sleeper(18 * kSecond, 8, 17 * kSecond));
    const auto slices = events(trace, "X");
    REQUIRE(slices.size() == 1);  // of the others nobody knows when they ended
    CHECK(slices[0].at("ts") == 11'000'000.001);
    CHECK(slices[0].at("dur") == 2'999'999.999);
    CHECK(slices[0].at("name") == "futex");
    CHECK(slices[0].at("pid") == 7);
    CHECK(slices[0].at("tid") == 8);
    CHECK_THAT(slices[0].at("args").at("kernel").get<std::string>(),
               has_text("schedule+0x10 < futex_wait_queue"));
    CHECK_THAT(slices[0].at("args").at("end").get<std::string>(), has_text("seen last"));
}

TEST_CASE("perfetto: what a task slept before the recording is said and not drawn") {
    const Json trace =
        trace_of(sleeper(10 * kSecond, 1, kSecond), sleeper(12 * kSecond, 1, kSecond));
    const auto slices = events(trace, "X");
    REQUIRE(slices.size() == 1);
    CHECK(slices[0].at("ts") == 10'000'000.0);
    CHECK(slices[0].at("dur") == 2'000'000.0);
    CHECK(slices[0].at("args").at("ns before the recording") == 9 * kSecond);
}

TEST_CASE("perfetto: what is not wanted is not drawn, what comes later is whole") {
    Reasons reasons;
    const SampleStacks stacks;
    const auto wanted = [](const Snapshot&, const Task& task, const Entry&) {
        return task.comm == "late";
    };
    const auto machine = [](std::uint64_t now, bool late) {
        SnapshotBuilder builder;
        builder.header.time_ns = now;
        const auto trace = builder.add_trace({.kernel = {"schedule", "futex_wait_queue"}});
        builder.add_task({.pid = 3,
                          .comm = "other",
                          .blocked_ns = now,
                          .sleeps = 1,
                          .entries = {{.trace = trace, .blocked_ns = now}}});
        if (late)
            builder.add_task({.pid = 4,
                              .comm = "late",
                              .blocked_ns = kSecond,
                              .sleeps = 1,
                              .start_ns = 2000,
                              .entries = {{.trace = trace, .blocked_ns = kSecond}}});
        return builder.snapshot();
    };
    PerfettoTrace drawn(stacks, reasons, wanted);
    drawn.add(machine(10 * kSecond, false));
    drawn.add(machine(12 * kSecond, true));
    const Json trace = Json::parse(drawn.text("title"));
    const auto counters = events(trace, "C");
    REQUIRE(!counters.empty());
    CHECK(counters[0].at("pid") == 4);
    CHECK(counters[0].at("args").at("tasks") == 0.5);
    for (const Json& counter : counters)
        CHECK(counter.at("pid") == 4);
    const auto names = events(trace, "M");
    REQUIRE(names.size() == 2);
    CHECK(names[0].at("args").at("name") == "late");
}

TEST_CASE("perfetto: one snapshot has no interval, and no name breaks the file") {
    Reasons reasons;
    const SampleStacks stacks;
    PerfettoTrace one(stacks, reasons);
    one.add(sleeper(10 * kSecond, 1, kSecond));
    CHECK(!one.has_interval());
    const std::string hostile = "bad\xff\"\x1b[2J\n</script>";
    const Json trace = trace_of(sleeper(10 * kSecond, 1, kSecond, hostile),
                                sleeper(12 * kSecond, 1, kSecond, hostile));
    const auto names = events(trace, "M");
    REQUIRE(names.size() == 1);
    CHECK(names[0].at("args").at("name") == "bad?\"?[2J?</scri");
}

TEST_CASE("perfetto: behind a reset counters are of the time since then") {
    const auto counters = events(trace_of(sleeper(10 * kSecond, 1, kSecond),
                                          [] {
                                              Snapshot reset =
                                                  sleeper(14 * kSecond, 1, 13 * kSecond);
                                              reset.header.since_ns = 13 * kSecond;
                                              reset.tasks[0].blocked_ns = kSecond;
                                              reset.entries[0].blocked_ns = kSecond;
                                              return reset;
                                          }()),
                                 "C");
    REQUIRE(counters.size() == 2);
    CHECK(counters[0].at("ts") == 13'000'000.0);
    CHECK(counters[0].at("args").at("tasks") == 1.0);
    CHECK(counters[1].at("ts") == 14'000'000.0);
    CHECK(counters[1].at("args").at("tasks") == 0.0);
}

TEST_CASE("perfetto: a task that has gone leaves its slice and nothing else") {
    Reasons reasons;
    const SampleStacks stacks;
    PerfettoTrace trace(stacks, reasons);
    trace.add(sleeper(10 * kSecond, 1, 9 * kSecond));
    trace.add(sleeper(12 * kSecond, 1, 9 * kSecond));
    SnapshotBuilder nobody;
    nobody.header.time_ns = 14 * kSecond;
    trace.add(nobody.snapshot());
    const std::uint64_t bytes = trace.bytes();
    nobody.header.time_ns = 16 * kSecond;
    trace.add(nobody.snapshot());
    CHECK(trace.bytes() == bytes);
    const auto slices = events(Json::parse(trace.text("title")), "X");
    REQUIRE(slices.size() == 1);
    CHECK(slices[0].at("dur") == 2'000'000.0);

    PerfettoTrace once(stacks, reasons);
    once.add(sleeper(10 * kSecond, 1, 9 * kSecond));
    const std::uint64_t held = once.bytes();
    nobody.header.time_ns = 12 * kSecond;
    once.add(nobody.snapshot());
    CHECK(once.bytes() < held);
    CHECK(events(Json::parse(once.text("title")), "X").empty());
}

TEST_CASE("perfetto: a timeline that takes more than it may ends, and says what to do") {
    Reasons reasons;
    const SampleStacks stacks;
    PerfettoTrace trace(stacks, reasons, {}, 100'000);
    const auto go_on = [&] {
        for (std::uint64_t i = 1; i < 10'000; ++i)
            trace.add(sleeper(i * kSecond, i, i * kSecond, std::to_string(i)));
    };
    CHECK_THROWS_WITH(go_on(), has_text("snapshots takes") && has_text("of memory"));
    CHECK(trace.bytes() < 110'000);
}

}  // namespace lattop::test
