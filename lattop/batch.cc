// SPDX-License-Identifier: GPL-2.0-or-later
//
// See batch.h.
#include "lattop/batch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lattop/export/json.h"
#include "lattop/export/text.h"
#include "lattop/freed_memory.h"
#include "lattop/model/model.h"
#include "lattop/model/own_cost.h"
#include "lattop/model/sleep_objects.h"
#include "lattop/model/wait_objects.h"
#include "lattop/output.h"
#include "lattop/source/passing_errors.h"

namespace lattop {
namespace {

/// Tasks in the text unless --limit says otherwise: as many as the module's own
/// text holds. JSON, read by programs, holds all.
constexpr std::uint32_t kTextLimit = LT_TEXT_TASKS;

std::uint32_t limit_of(const Options& options) {
    if (options.limit) return *options.limit;
    return options.json ? 0 : kTextLimit;
}

Query make_query(const Options& options) {
    Query query;
    query.pids = options.selection.pids;
    query.traces = options.json ? LT_TRACES_ALL : traces_needed(row_options(options));
    if (options.selection.hide_kernel_threads) query.flags |= LT_Q_NO_KTHREADS;
    const ModuleSort sort = module_sort(options.sort);
    query.sort = sort.sort;
    // What the module does not know, an order or a filter, is of all tasks.
    query.limit = sort.exact && options.selection.waits.all() ? limit_of(options) : 0;
    if (query.limit == 0) query.limit = LT_MAX_LIMIT;
    return query;
}

/// For the text: each time while something is learned, else once.
std::string cost_line(const OwnCost& cost, bool first) {
    const bool runs = cost.learning.kind == LearningState::Kind::Runs;
    return runs || first ? own_cost_text(cost) : "";
}

/// Nanoseconds since the epoch: now, or when it was recorded.
std::uint64_t realtime_of(const World& world) {
    return world.source.realtime_ns().value_or(world.clock.realtime_ns());
}

/// What is found in time of those that sleep in a snapshot; also of what the one before asked for,
/// where it was too late for that.
WaitObjects find_objects(const Snapshot& snapshot, ObjectFinder& finder,
                         std::chrono::milliseconds patience) {
    SleepObjects objects;
    finder.want(snapshot);
    for (const FoundObjects& found : finder.wait(patience))
        objects.add(found);
    return known_objects(snapshot, [&](const Task& task) { return objects.find(snapshot, task); });
}

/// What a recording has is shown unasked. Of what runs: nothing where the options do not ask.
FindObjects objects_finder(const Options& options, const TableContext& context, const World& world,
                           std::chrono::milliseconds patience) {
    if (!world.source.live())
        return [&](std::span<const Task* const> /*tasks*/) {
            const Snapshot& snapshot = context.model.snapshot();
            return known_objects(
                snapshot, [&](const Task& task) { return world.stacks.object(snapshot, task); });
        };
    if (!options.objects || world.objects == nullptr) return {};
    return [&, patience](std::span<const Task* const> tasks) {
        Snapshot shown;
        shown.header.time_ns = context.model.snapshot().header.time_ns;
        for (const Task* task : tasks)
            shown.tasks.push_back(*task);
        return find_objects(shown, *world.objects, patience);
    };
}

/// What a refresh is besides what `context` holds.
struct Refresh {
    Charset charset;
    OwnCost cost;
    bool first;
    bool last;
    std::chrono::milliseconds objects_patience;
};

/// False when nobody reads any more.
bool write_refresh(const Options& options, const TableContext& context, const World& world,
                   const Refresh& refresh, const Output& output) {
    const RowOptions rows = row_options(options);
    if (options.json)
        return write_refresh_json(
            context, rows, limit_of(options), realtime_of(world), refresh.cost.learning,
            objects_finder(options, context, world, refresh.objects_patience), output);
    TextOptions text;
    text.rows = rows;
    text.limit = limit_of(options);
    text.charset = refresh.charset;
    const auto recorded = world.source.realtime_ns();
    return output(refresh_text(context, text,
                               recorded ? local_time_at(*recorded) : world.clock.local_time(),
                               cost_line(refresh.cost, refresh.first)) +
                  (refresh.last ? "" : "\n"));
}

/// Refreshes of what happens now, from start to start.
class Pace {
public:
    Pace(const Options& options, const World& world)
        : world_(world), delay_(options.delay), next_(world.clock.now()) {}

    /// Waits for the next one, so that a slow refresh does not shift the rest;
    /// one slower than the delay is not caught up with.
    void wait() {
        if (!world_.source.live()) return;  // it waited while it was recorded
        next_ = std::max(next_ + delay_, world_.clock.now());
        world_.clock.sleep_until(next_);
    }

    /// How long until then.
    [[nodiscard]] std::chrono::milliseconds left() const {
        const auto left = next_ + delay_ - world_.clock.now();
        return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left),
                        std::chrono::milliseconds{});
    }

private:
    const World& world_;
    std::chrono::milliseconds delay_;
    Clock::Time next_;
};

/// Until the next look, within bounds; for those of the last document as long as may be.
std::chrono::milliseconds objects_patience(const Pace& pace, bool last) {
    constexpr std::chrono::milliseconds kMost{5000};
    return last ? kMost : std::clamp(pace.left(), kObjectsPatience, kMost);
}

/// Tries again at the next refreshes where a read fails in passing.
Snapshot take_patiently(const Query& query, const World& world, Pace& pace) {
    for (PassingErrors errors;;) {
        try {
            return world.source.take(query, Moment::Next);
        } catch (const PassingError& error) {
            if (errors.add(error, world.clock.now())) complain(passing_error_text(error));
        }
        pace.wait();
    }
}

}  // namespace

bool wait_for_users(Users& users, std::chrono::milliseconds patience) {
    const std::size_t missing = users.wait(patience);
    if (missing == 0) return true;
    complain(fmt::format(
        "the system does not say what {} users are called: they are shown by number", missing));
    return false;
}

void complain_of_silent(std::span<const std::uint32_t> pids) {
    if (pids.empty()) return;
    complain(
        fmt::format("names are not waited for where memory or files do not answer (process{} "
                    "{}): stacks without them stay addresses",
                    pids.size() == 1 ? "" : "es", fmt::join(pids, ", ")));
}

void complain_of_put_off(std::span<const std::uint32_t> pids) {
    constexpr std::size_t kNamed = 16;
    if (pids.empty()) return;
    complain(
        fmt::format("names of users whose programs are slow to look at are put off (process{} "
                    "{}): stacks without them stay addresses",
                    pids.size() == 1 ? "" : "es", format_pids(pids, kNamed)));
}

void run_batch(const Options& options, World world, Charset charset, const Output& output) {
    const Query query = make_query(options);
    Model model;
    const TableContext context{model, world.stacks, world.users, world.reasons, world.cgroups};
    CostMeter meter(world.clock, world.learning);
    Pace pace(options, world);
    FreedMemory freed;
    bool wait = true;  // for users; once in vain is enough
    std::vector<std::uint32_t> silent, put_off;
    for (std::uint64_t n = 1;; ++n) {
        model.update(take_patiently(query, world, pace), query);
        want_users(world.users, model.snapshot());
        world.stacks.want(model.snapshot());
        world.reasons.forget_unseen(model.snapshot());
        if (options.command_lines || command_lines_needed(row_options(options)))
            want_command_lines(model.snapshot(), world.stacks);
        world.stacks.wait();
        if (auto now = world.stacks.silent(); now != silent)
            complain_of_silent(silent = std::move(now));
        if (auto now = world.stacks.put_off(); now != put_off)
            complain_of_put_off(put_off = std::move(now));
        const bool last = n == options.refreshes || !world.source.more();
        world.users.collect();
        // Not beyond the next look.
        if (wait)
            wait = wait_for_users(world.users,
                                  last ? kUsersPatience : std::min(kUsersPatience, pace.left()));
        const Refresh refresh{charset, meter.measure(model.snapshot().header), n == 1, last,
                              objects_patience(pace, last)};
        if (!write_refresh(options, context, world, refresh, output) || last) return;
        freed.give_back(world.clock.now());
        pace.wait();
    }
}

}  // namespace lattop
