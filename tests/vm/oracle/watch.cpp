// SPDX-License-Identifier: GPL-2.0-or-later
#include "watch.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "compare.h"
#include "invariants.h"
#include "run_queue_steps.h"
#include "totals.h"
#include "workload.h"

namespace oracle {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int sample_attempts = 8;
// A context switch may be half done on another CPU between the kernel's count and the hook: a
// deviation counts when it is found again.
constexpr int compare_attempts = 3;
// Looks that are so far apart cost little: then each compares run-queue delays, too.
constexpr double long_interval_s = 5;

void print_load(const Snapshot& snapshot) {
    const lt_header& head = snapshot.header();
    fmt::print("hook {}; {} tasks, {} entries, {} traces, {} exited, {} KB; lost:", head.hook,
               head.used[LT_LIMIT_TASKS], head.used[LT_LIMIT_ENTRIES], head.used[LT_LIMIT_TRACES],
               head.used[LT_LIMIT_EXITED], head.memory_bytes >> 10);
#define LT_LOST_PRINT(name, text) \
    if (head.lost[LT_LOST_##name]) fmt::print(" {}={}", #name, head.lost[LT_LOST_##name]);
    LT_LOST_LIST(LT_LOST_PRINT)
#undef LT_LOST_PRINT
    fmt::print("\n");
}

void watch_invariants(const WatchOptions& options, LattopFile& file, Workload& workload,
                      Invariants& invariants, RunQueueSteps& steps, Report& report) {
    const auto begin = Clock::now();
    const auto end = begin + Seconds(options.seconds);
    while (Clock::now() < end) {
        std::this_thread::sleep_for(Seconds(options.interval));
        if (!workload.running()) {
            report.fail("the workload ended by itself, status {}", workload.status());
            return;
        }
        invariants.check(file.read());
        if (options.interval >= long_interval_s)
            steps.look(take_samples(file, 1), Seconds(Clock::now() - begin).count());
    }
}

void compare_frozen(const Samples& baseline, LattopFile& file, const WatchOptions& options,
                    Report& report) {
    Report found(options.tolerance);
    Compared compared;
    for (int attempt = 0; attempt < compare_attempts; ++attempt) {
        found = Report(options.tolerance);
        compared = compare(baseline, take_samples(file, sample_attempts), found);
        if (found.failures() == 0) break;
    }
    report.absorb(found);
    fmt::print("compared {} tasks exactly and {} by bounds, {} sleeps\n", compared.exactly,
               compared.within_bounds, compared.sleeps);
    if (compared.lacking)
        fmt::print("{} tasks lack sleeps that had no record\n", compared.lacking);
    if (compared.exactly < options.least_tasks)
        report.fail("only {} tasks compared, at least {} expected", compared.exactly,
                    options.least_tasks);
    if (compared.sleeps < options.least_sleeps)
        report.fail("only {} sleeps compared, at least {} expected", compared.sleeps,
                    options.least_sleeps);
}

// Idle kworkers end by themselves, and take their counters away: then all is done once more.
constexpr int watch_attempts = 3;

/// False where a task has ended that was there at the beginning, which proves nothing.
bool watch_once(const WatchOptions& options, LattopFile& file, Invariants& invariants,
                Report& report) {
    const Samples baseline = take_samples(file, sample_attempts);
    const Totals totals = take_totals(file);
    Workload workload(options.command);
    RunQueueSteps steps;
    watch_invariants(options, file, workload, invariants, steps, report);
    print_load(file.read());
    workload.freeze();
    invariants.check(file.read());
    bool proved = true;
    if (options.totals)
        proved = compare_totals(totals, take_totals(file), report);
    else
        compare_frozen(baseline, file, options, report);
    invariants.check(file.read());
    if (report.failures()) steps.print();
    workload.thaw();
    return proved;
}

}  // namespace

int watch(const WatchOptions& options) {
    Report report(options.tolerance);
    Invariants invariants(report);
    LattopFile file(LT_TRACES_ALL);
    int attempt = 1;
    while (!watch_once(options, file, invariants, report)) {
        if (attempt++ == watch_attempts) {
            report.fail("a task that was there at the beginning had ended, each of {} times",
                        watch_attempts);
            break;
        }
        fmt::print("a task that was there at the beginning has ended: once more\n");
    }
    fmt::print("{} snapshots with {} tasks and {} entries held their invariants\n",
               invariants.snapshots(), invariants.tasks(), invariants.entries());
    return report.conclude() ? 0 : 1;
}

int check_now() {
    Report report(Tolerance{});
    Invariants invariants(report);
    LattopFile file(LT_TRACES_ALL);
    invariants.check(file.read());
    invariants.check(file.read());
    print_load(file.read());
    if (invariants.tasks() == 0) report.fail("no tasks in the snapshot");
    return report.conclude() ? 0 : 1;
}

}  // namespace oracle
