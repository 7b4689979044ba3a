// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the parts of the front end cost: a snapshot decoded, its figures
// aggregated into rows, stacks merged, drawn, and addresses named. Machines of
// 200, 2,000 and 10,000 threads, each asleep at one of 64 traces of 8 kernel and
// 10 user frames. tests/bench/user-space runs it in a guest under -icount, where
// a nanosecond is an instruction.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "lattop/model/merged_stacks.h"
#include "lattop/source/decoder.h"
#include "lattop/view/screen.h"
#include "tests/unit/support/child.h"
#include "tests/unit/support/sample.h"
#include "unwind/symbolizer.h"

namespace lattop::test {
namespace {

constexpr int kTraces = 64;
constexpr int kKernelFrames = 8;
constexpr int kUserFrames = 10;

/// The machine after `seconds` seconds; each thread sleeps half of the time.
std::vector<std::byte> machine(std::uint32_t threads, std::uint64_t seconds) {
    SnapshotBuilder builder;
    builder.header.since_ns = kSecond;
    builder.header.time_ns = (seconds + 1) * kSecond;
    builder.header.tasks_total = builder.header.tasks_matched = threads;
    std::vector<std::uint32_t> traces;
    for (std::uint64_t id = 0; id < kTraces; ++id) {
        TraceSpec spec{.id = id + 1};
        for (int frame = 0; frame < kKernelFrames; ++frame)
            spec.kernel.push_back("wait_" + std::to_string(id % 16) + "_" + std::to_string(frame));
        for (std::uint64_t frame = 0; frame < kUserFrames; ++frame)
            spec.user.push_back(0x400000 + id * 0x1000 + frame * 0x40);
        traces.push_back(builder.add_trace(spec));
    }
    for (std::uint32_t i = 0; i < threads; ++i) {
        const std::uint64_t sleeps = seconds * (10 + i % 90);
        EntrySpec entry{.trace = traces[i % kTraces],
                        .blocked_ns = seconds * kSecond / 2 + i,
                        .sleeps = sleeps,
                        .max_ns = kMs * (1 + i % 50)};
        entry.hist[20] = sleeps;
        builder.add_task({.pid = 1000 + i,
                          .tgid = 1000 + i / 20 * 20,
                          .comm = "worker-" + std::to_string(i % 7),
                          .blocked_ns = entry.blocked_ns,
                          .sleeps = sleeps,
                          .max_ns = entry.max_ns,
                          .runq_ns = seconds * kMs,
                          .runs = sleeps,
                          .entries = {entry}});
    }
    return builder.bytes();
}

/// Two snapshots of a machine, ten seconds apart.
const std::array<std::vector<std::byte>, 2>& snapshots(const benchmark::State& state) {
    static std::map<std::int64_t, std::array<std::vector<std::byte>, 2>> made;
    auto& its = made[state.range(0)];
    const auto threads = static_cast<std::uint32_t>(state.range(0));
    if (its[0].empty()) its = {machine(threads, 10), machine(threads, 20)};
    return its;
}

/// A screen that knows both snapshots.
struct Watched {
    explicit Watched(const benchmark::State& state)
        : screen({}, stacks, users, cgroups, reasons) {
        for (const auto& bytes : snapshots(state))
            screen.update(decode(bytes), screen.query());
    }

    SampleStacks stacks;
    SampleUsers users;
    SystemCgroups cgroups;
    Reasons reasons;
    Screen screen;
};

void decode_snapshot(benchmark::State& state) {
    const auto& bytes = snapshots(state)[0];
    for (auto _ : state)
        benchmark::DoNotOptimize(decode(bytes));
}

/// Rows of a view, from a snapshot and the one before: sums, percentiles,
/// reasons, order.
void aggregate(benchmark::State& state, View view) {
    SampleStacks stacks;
    SampleUsers users;
    Reasons reasons;
    SystemCgroups cgroups;
    Model model;
    for (const auto& bytes : snapshots(state))
        model.update(decode(bytes), {});
    const TableContext context{model, stacks, users, reasons, cgroups, true};
    for (auto _ : state)
        benchmark::DoNotOptimize(make_rows(context, {.view = view, .interval = true}));
}

void merge(benchmark::State& state) {
    SampleStacks stacks;
    Reasons reasons;
    const Snapshot snapshot = decode(snapshots(state)[0]);
    for (auto _ : state)
        benchmark::DoNotOptimize(merge_stacks(snapshot, stacks, reasons));
}

void draw(benchmark::State& state, Size size) {
    Watched watched(state);
    Canvas canvas(size, Charset::Utf8);
    for (auto _ : state)
        watched.screen.draw(canvas, "12:34:56");
}

/// All that a refresh is but the reading and the terminal.
void refresh(benchmark::State& state) {
    Watched watched(state);
    std::size_t next = 0;
    Canvas canvas({120, 40}, Charset::Utf8);
    for (auto _ : state) {
        watched.screen.update(decode(snapshots(state).at(next)), watched.screen.query());
        watched.screen.draw(canvas, "12:34:56");
        next = 1 - next;
    }
}

TaskRef self() {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    return {pid, pid, start_ns_of(::getpid()), 1};
}

/// Ten functions of libc, as return addresses.
std::array<std::uint64_t, 10> addresses() {
    const auto behind = [](auto* function) { return reinterpret_cast<std::uint64_t>(function) + 1; };
    return {behind(&::printf), behind(&::malloc), behind(&::free),   behind(&::qsort),
            behind(&::fopen),  behind(&::fclose), behind(&::setenv), behind(&::strtol),
            behind(&::getpid), behind(&::usleep)};
}

/// From nothing: maps read, files opened, their tables sorted.
void symbolize_first(benchmark::State& state) {
    const auto stack = addresses();
    for (auto _ : state) {
        Symbolizer symbolizer;
        benchmark::DoNotOptimize(symbolizer.name(self(), stack, 1));
    }
}

/// Files and maps are known.
void symbolize_again(benchmark::State& state) {
    const auto stack = addresses();
    Symbolizer symbolizer;
    symbolizer.name(self(), stack, 1);
    for (auto _ : state)
        benchmark::DoNotOptimize(symbolizer.name(self(), stack, 1));
}

void of_machines(benchmark::internal::Benchmark* bench) {
    bench->Arg(200)->Arg(2000)->Arg(10000);
}

BENCHMARK(decode_snapshot)->Apply(of_machines);
BENCHMARK_CAPTURE(aggregate, tasks, View::Tasks)->Apply(of_machines);
BENCHMARK_CAPTURE(aggregate, processes, View::Processes)->Apply(of_machines);
BENCHMARK_CAPTURE(aggregate, stacks, View::Stacks)->Apply(of_machines);
BENCHMARK_CAPTURE(aggregate, reasons, View::Reasons)->Apply(of_machines);
BENCHMARK(merge)->Apply(of_machines);
BENCHMARK_CAPTURE(draw, 80x24, Size{80, 24})->Apply(of_machines);
BENCHMARK_CAPTURE(draw, 300x100, Size{300, 100})->Apply(of_machines);
BENCHMARK(refresh)->Apply(of_machines);
BENCHMARK(symbolize_first);
BENCHMARK(symbolize_again);

}  // namespace
}  // namespace lattop::test

BENCHMARK_MAIN();
