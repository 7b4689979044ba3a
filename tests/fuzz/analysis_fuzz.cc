// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is made of a recording's snapshots: tables (replay), the figures of all of them (report,
// diff, export), chains, what was waited for longest. Whatever the records say, what comes out has
// no more tasks, stacks and wakers than went in, shows no more than all of it, points at what is
// there, and costs in proportion.
//
//	analysis: a snapshot as the module gives it, and behind it what the next ones differ by
//
// Four bytes each: where (u16), the byte that stands there, whether a snapshot ends here (odd).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "lattop/export/chain_text.h"
#include "lattop/model/groups.h"
#include "lattop/model/longest_waits.h"
#include "lattop/model/period.h"
#include "lattop/model/rows.h"
#include "lattop/model/wanted_waits.h"
#include "lattop/recording/checksum.h"
#include "lattop/recording/names.h"
#include "lattop/source/decoder.h"
#include "lattop/source/error.h"
#include "lattop/verbs/diff.h"
#include "lattop/verbs/report.h"
#include "tests/fuzz/require.h"

namespace {

using namespace lattop;

constexpr std::size_t kMostSnapshots = 4;
/// Of each kind so many are looked at closer, which takes as long again.
constexpr std::size_t kLookedAt = 4;
/// Whole reports take ten times as long as figures: of one input in so many.
constexpr std::uint32_t kReportedOneIn = 16;

struct Change {
    std::uint16_t where;
    std::uint8_t byte;
    std::uint8_t end;
};
static_assert(sizeof(Change) == 4);

std::vector<Snapshot> snapshots_of(std::span<const std::byte> input) {
    std::vector<Snapshot> snapshots;
    snapshots.push_back(decode(input));
    const auto size = static_cast<std::size_t>(total_bytes(input));
    std::vector<std::byte> bytes(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size));
    for (input = input.subspan(size); input.size() >= sizeof(Change);
         input = input.subspan(sizeof(Change))) {
        Change change{};
        std::memcpy(&change, input.data(), sizeof(change));
        bytes[change.where % size] = std::byte{change.byte};
        if (change.end % 2 == 0) continue;
        snapshots.push_back(decode(bytes));
        if (snapshots.size() == kMostSnapshots) break;
    }
    return snapshots;
}

/// Of all snapshots together.
struct Parts {
    std::size_t tasks = 0, entries = 0, wakers = 0, traces = 0;

    void add(const Snapshot& snapshot) {
        tasks += snapshot.tasks.size();
        entries += snapshot.entries.size();
        wakers += snapshot.wakers.size();
        traces += snapshot.traces.size();
    }
};

void use(const Snapshot& snapshot, TraceIndex index) {
    const Trace* trace = snapshot.trace_at(index);
    if (trace == nullptr) return;
    std::size_t bytes = 0;
    for (const KernelFrame& frame : snapshot.kernel_frames(*trace))
        bytes += std::string(frame.symbol.name).size() + std::string(frame.symbol.module).size();
    for (const std::uint64_t frame : snapshot.user_frames(*trace))
        bytes += frame % 2;
    static_cast<void>(bytes);
}

/// What a period says, which is a snapshot like any.
void check(const Snapshot& snapshot, const Parts& all) {
    // One for those that no snapshot showed
    REQUIRE(snapshot.tasks.size() <= all.tasks + 1);
    REQUIRE(snapshot.entries.size() <= all.entries + 1);
    REQUIRE(snapshot.wakers.size() <= all.wakers);
    REQUIRE(snapshot.traces.size() <= all.traces);
    REQUIRE(snapshot.header.tasks_total == snapshot.tasks.size());
    REQUIRE(std::ranges::is_sorted(snapshot.tasks, std::greater{}, &Task::blocked_ns));
    std::size_t entries = 0;
    std::size_t wakers = 0;
    for (const Task& task : snapshot.tasks) {
        REQUIRE(task.ongoing_ns <= task.blocked_ns);
        entries += snapshot.entries_of(task).size();
        for (const Entry& entry : snapshot.entries_of(task)) {
            REQUIRE(entry.ongoing_ns <= entry.blocked_ns);
            wakers += snapshot.wakers_of(entry).size();
            use(snapshot, entry.trace);
            for (const Waker& waker : snapshot.wakers_of(entry)) {
                REQUIRE(waker.sleeps != 0);
                use(snapshot, waker.trace);
                use(snapshot, waker.waited_trace);
            }
        }
    }
    REQUIRE(entries == snapshot.entries.size());
    REQUIRE(wakers == snapshot.wakers.size());
}

/// Sleeps under way wait for something, each for another.
SleepObjects objects_of(const std::vector<Snapshot>& snapshots) {
    SleepObjects objects;
    for (const Snapshot& snapshot : snapshots)
        for (const Task& task : snapshot.tasks)
            if (const auto sleep = sleep_of(snapshot, task))
                objects.add(snapshot.header.time_ns, *sleep,
                            "fd " + std::to_string(sleep->begin_ns));
    return objects;
}

std::size_t use_longest(const LongestWaits& waits, const Snapshot& snapshot) {
    std::size_t found = 0;
    for (const Task& task : snapshot.tasks)
        for (const Entry& entry : snapshot.entries_of(task))
            if (const LongestWait* wait = waits.find(snapshot, task, entry)) {
                REQUIRE(wait->ns != 0 && wait->object != nullptr && wait->object->size() > 3);
                ++found;
            }
    return found;
}

void check_rows(const TableContext& context, const RowOptions& options) {
    const Snapshot& snapshot = context.model.snapshot();
    const std::vector<Row> rows = make_rows(context, options);
    REQUIRE(rows.size() <= 2 * snapshot.tasks.size() + snapshot.entries.size());
    std::uint64_t tasks = 0;
    for (const Row& row : rows) {
        REQUIRE(row.task != nullptr && row.reason != nullptr);
        REQUIRE((row.entry == nullptr) == (row.slept == nullptr));
        REQUIRE(row.tasks <= snapshot.tasks.size() && row.asleep <= row.tasks);
        tasks += row.tasks;
    }
    if (options.view == View::Tasks) REQUIRE(tasks == rows.size());
    if (options.view == View::Cgroups) REQUIRE(tasks <= snapshot.tasks.size());
    for (const Row& row : std::span(rows).first(std::min(rows.size(), kLookedAt))) {
        for (const Column column : all_columns(options.view))
            static_cast<void>(cell_text(context, row, column).size());
        static_cast<void>(row_contains(context, row, "futex"));
        const auto stacks = stacks_of_row(context, options, row.id);
        REQUIRE(stacks.size() <= snapshot.entries.size() + 1);
        std::size_t asleep = 0;
        for (const StackSum& stack : stacks) {
            REQUIRE(stack.task != nullptr && stack.tasks <= snapshot.tasks.size());
            asleep += stack.asleep.size();
        }
        REQUIRE(asleep <= snapshot.entries.size());
        REQUIRE(tasks_of_row(context, options, row.id).size() <= snapshot.tasks.size());
    }
}

/// Which rows, by what the input is.
RowOptions options_of(std::uint32_t hash) {
    const auto bit = [&](unsigned n) { return (hash >> n & 1U) != 0; };
    RowOptions options;
    options.sort = static_cast<Column>(hash % 20);
    options.invert = bit(8);
    options.interval = bit(9);
    options.hide_kernel_threads = bit(10);
    options.hide_exited = bit(11);
    options.only_active = bit(12);
    options.tree = bit(13);
    options.waits.hide_idle = bit(14);
    if (bit(15)) options.waits.filter = "futex|s";
    return options;
}

void check_tables(const Model& model, recording::RecordedNames& names, Reasons& reasons,
                  std::uint32_t hash) {
    for (const ViewInfo& view : views()) {
        RowOptions options = options_of(hash);
        options.view = view.id;
        options.sort = column_in(view.id, options.sort);
        check_rows({model, names, names, reasons, names, options.interval}, options);
    }
    for (const Task& task : model.snapshot().tasks)
        if (const auto& delta = model.delta(task))
            static_cast<void>(model.per_second(delta->blocked_ns));
}

void check_chains(const Snapshot& snapshot, recording::RecordedNames& names, Reasons& reasons) {
    const auto follow = [&](const Task& task, const Entry& entry) {
        const Chain chain = follow_chain(snapshot, task, entry);
        REQUIRE(!chain.steps.empty() && chain.steps.size() <= kMaxChainSteps);
        REQUIRE(chain.end != ChainEnd::Again || chain.again < chain.steps.size());
        REQUIRE(!chain_text(snapshot, chain, names, reasons, Charset::Ascii).empty());
    };
    const FoundWait worst = find_wait({snapshot, names, names, names}, {}, reasons);
    REQUIRE((worst.task == nullptr) == (worst.entry == nullptr));
    if (worst.entry != nullptr) follow(*worst.task, *worst.entry);
    std::size_t left = kLookedAt;
    for (const Task& task : snapshot.tasks)
        for (const Entry& entry : snapshot.entries_of(task))
            if (entry.n_wakers != 0 && left > 0) {
                follow(task, entry);
                --left;
            }
}

void check_report(const Snapshot& snapshot, recording::RecordedNames& names, Reasons& reasons,
                  const LongestWaits& waits) {
    REQUIRE(!report_text(snapshot, names, names, reasons, "", {.tasks = 0, .stacks = 0},
                         Charset::Utf8, nullptr, &waits)
                 .empty());
    const auto stacks = merge_stacks(snapshot, names, reasons);
    const auto changes = diff_stacks({}, 1, stacks, 1);
    REQUIRE(changes.size() <= stacks.size());
    static_cast<void>(diff_text(changes, 0, Charset::Utf8).size());
}

void analyse(std::span<const std::byte> input) {
    const std::uint32_t hash = recording::crc32c(input);
    std::vector<Snapshot> snapshots = snapshots_of(input);
    recording::RecordedNames names;
    Reasons reasons;
    const SleepObjects objects = objects_of(snapshots);
    Parts all;
    Period period(hash % 2 == 0 ? Period::Begin::AtFirst : Period::Begin::AtNothing);
    LongestWaits longest;
    for (const Snapshot& snapshot : snapshots) {
        all.add(snapshot);
        period.add(snapshot);
        longest.add(snapshot, objects);
    }
    Snapshot sum = period.snapshot();
    check(sum, all);
    REQUIRE(use_longest(longest, sum) <= all.tasks);
    check_chains(sum, names, reasons);
    if (hash / 2 % kReportedOneIn == 0) check_report(sum, names, reasons, longest);
    const RowOptions options = options_of(hash);
    const std::size_t before = sum.tasks.size();
    keep_wanted(sum, options.waits, names, names, reasons, names);
    REQUIRE(sum.tasks.size() <= before);

    Model model;
    for (Snapshot& snapshot : snapshots)
        model.update(std::move(snapshot), {});
    check_tables(model, names, reasons, hash);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        analyse(std::as_bytes(std::span(data, size)));
    } catch (const lattop::Error&) {
    }
    return 0;
}
