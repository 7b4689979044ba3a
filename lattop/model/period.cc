// SPDX-License-Identifier: GPL-2.0-or-later
//
// See period.h.
#include "lattop/model/period.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "lattop/model/format.h"
#include "lattop/model/wakers.h"
#include "lattop/source/error.h"

namespace lattop {
namespace {

std::uint64_t excess(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
}

void add(TaskDelta& to, const Task& task) {
    to.blocked_ns += task.blocked_ns;
    to.sleeps += task.sleeps;
    to.runq_ns += task.runq_ns;
    to.runs += task.runs;
}

void add(Waker& to, const Waker& waker) {
    to.blocked_ns += waker.blocked_ns;
    to.sleeps += waker.sleeps;
    to.max_ns = std::max(to.max_ns, waker.max_ns);
    to.waited_ns += waker.waited_ns;
}

/// The longest sleep is known for the whole life only. Where it did not change
/// since the period began, the histogram says between which powers of two the
/// longest one lies: its upper end, which is never too low. No part of a sleep
/// that lies before the period counts.
std::uint64_t longest_of(const Entry& last, const Entry& sum, std::uint64_t first_max_ns) {
    if (last.max_ns > first_max_ns) return std::min(last.max_ns, sum.blocked_ns);
    std::uint64_t longest = sum.ongoing_ns;
    for (std::size_t i = sum.hist.size(); i-- > 0;) {
        if (sum.hist[i] == 0) continue;
        // The last bucket has no upper end
        const bool last_one = i + 1 == sum.hist.size();
        longest = std::max(longest, last_one ? UINT64_MAX : (std::uint64_t{2} << i) - 1);
        break;
    }
    return std::min({last.max_ns, longest, sum.blocked_ns});
}

}  // namespace

std::uint64_t Period::EntrySum::longest_ns() const {
    return std::max(kept_max_ns, longest_of(last, sum, first_max_ns));
}

std::uint64_t Period::KnownWaker::longest_ns() const {
    return std::max(kept_max_ns, std::min(last.max_ns, sum.blocked_ns));
}

/// After a reset every figure begins at 0 again.
void Period::forget_figures() {
    for (auto& [id, task] : tasks_) {
        task.last.blocked_ns = task.last.sleeps = task.last.runq_ns = task.last.runs = 0;
        for (EntrySum& entry : task.entries) {
            entry.kept_max_ns = entry.longest_ns();
            entry.first_max_ns = 0;
            entry.last.blocked_ns = entry.last.sleeps = entry.last.max_ns = 0;
            entry.last.hist = {};
            for (KnownWaker& waker : entry.wakers) {
                waker.kept_max_ns = waker.longest_ns();
                waker.last.blocked_ns = waker.last.sleeps = waker.last.waited_ns = 0;
                waker.last.max_ns = 0;
            }
        }
    }
    exited_before_ = {};
    last_.hooks_ns = 0;
    last_.lost = {};
}

void Period::add_entry(const Snapshot& snapshot, const Entry& entry, TaskSum& of, bool first) {
    const auto [place, added] = of.places.try_emplace(id_of(snapshot, entry), of.entries.size());
    if (added) {
        // Half as much again, for vectors have room for up to twice as many
        bytes_ += sizeof(EntrySum) * 3 / 2 + sizeof(*place) + kMapNodeBytes;
        EntrySum& fresh = of.entries.emplace_back();
        if (first) fresh.last = entry;
        fresh.first_max_ns = first ? entry.max_ns : 0;
        fresh.sum.trace = keep(snapshot, entry.trace);
        fresh.sum.exec_id = entry.exec_id;
    }
    EntrySum& its = of.entries[place->second];
    Entry& sum = its.sum;
    const Entry& last = its.last;
    its.round = round_ + 1;
    its.grown_ns = excess(entry.blocked_ns, last.blocked_ns);
    its.shrunk_ns = excess(last.blocked_ns, entry.blocked_ns);
    its.shrunk_sleeps = excess(last.sleeps, entry.sleeps);
    sum.blocked_ns += excess(entry.blocked_ns, last.blocked_ns);
    sum.sleeps += excess(entry.sleeps, last.sleeps);
    for (std::size_t i = 0; i < sum.hist.size(); ++i)
        sum.hist[i] += excess(entry.hist[i], last.hist[i]);
    sum.flags = entry.flags;
    sum.ongoing_ns = std::min(entry.ongoing_ns, sum.blocked_ns);
    its.last = entry;
    add_wakers(snapshot, entry, its, first);
}

TraceIndex Period::keep(const Snapshot& snapshot, TraceIndex trace) {
    const Trace* its = snapshot.trace_at(trace);
    return its == nullptr ? kOtherTrace : traces_.keep(snapshot, *its);
}

void Period::add_wakers(const Snapshot& snapshot, const Entry& entry, EntrySum& of, bool first) {
    std::vector<Waker> now;
    std::unordered_map<WakerId, std::size_t, HashWakerId> places;
    for (Waker waker : snapshot.wakers_of(entry)) {
        waker.trace = keep(snapshot, waker.trace);
        waker.waited_trace = keep(snapshot, waker.waited_trace);
        const auto [same, added] = places.try_emplace(waker_id(waker), now.size());
        if (added)
            now.push_back(std::move(waker));
        else
            lattop::add(now[same->second], waker);
    }
    // Who is not named any more, having exec'd or gone for good, stands among the hidden ones.
    Waker gone;
    std::unordered_map<WakerId, std::size_t, HashWakerId> known;
    for (KnownWaker& waker : of.wakers) {
        const WakerId id = waker_id(waker.sum);
        known.try_emplace(id, known.size());
        if (places.contains(id)) continue;
        lattop::add(gone, waker.last);
        waker.last.blocked_ns = waker.last.sleeps = waker.last.waited_ns = 0;
    }
    for (Waker& waker : now) {
        const auto [place, added] = known.try_emplace(waker_id(waker), of.wakers.size());
        if (added) {
            bytes_ += sizeof(KnownWaker) * 3 / 2;
            Waker& sum = of.wakers.emplace_back().sum;
            sum = waker;
            sum.blocked_ns = sum.sleeps = sum.max_ns = sum.waited_ns = 0;
            if (first) of.wakers.back().last = waker;
        }
        KnownWaker& its = of.wakers[place->second];
        if (waker.kind == LT_WAKER_HIDDEN) lattop::add(its.last, gone);
        its.sum.blocked_ns += excess(waker.blocked_ns, its.last.blocked_ns);
        its.sum.sleeps += excess(waker.sleeps, its.last.sleeps);
        // What a hidden one had waited is not told
        if (waker.kind != LT_WAKER_HIDDEN)
            its.sum.waited_ns += excess(waker.waited_ns, its.last.waited_ns);
        its.last = std::move(waker);
    }
}

/// The module walks a sleeper again when it has learned its code: then the
/// ongoing sleep stands in another trace from its beginning on, and the one it
/// stood in has gone, or has less. What lay before the period is the new one's.
void Period::follow_moved_sleep(TaskSum& of) const {
    Entry too_much;
    for (EntrySum& entry : of.entries) {
        if (entry.round != round_ + 1) {
            entry.shrunk_ns = entry.last.blocked_ns;
            entry.shrunk_sleeps = entry.last.sleeps;
            entry.grown_ns = 0;
            entry.last.blocked_ns = entry.last.sleeps = 0;
            entry.sum.ongoing_ns = entry.sum.flags = 0;
        }
        too_much.blocked_ns += excess(entry.shrunk_ns, entry.sum.blocked_ns);
        too_much.sleeps += excess(entry.shrunk_sleeps, entry.sum.sleeps);
        entry.sum.blocked_ns -= std::min(entry.sum.blocked_ns, entry.shrunk_ns);
        entry.sum.sleeps -= std::min(entry.sum.sleeps, entry.shrunk_sleeps);
        entry.sum.ongoing_ns = std::min(entry.sum.ongoing_ns, entry.sum.blocked_ns);
    }
    if (of.entries.empty()) return;
    Entry& taker = std::ranges::max_element(of.entries, {}, &EntrySum::grown_ns)->sum;
    taker.blocked_ns -= std::min(taker.blocked_ns, too_much.blocked_ns);
    taker.sleeps -= std::min(taker.sleeps, too_much.sleeps);
    taker.ongoing_ns = std::min(taker.ongoing_ns, taker.blocked_ns);
}

Period::TaskSum& Period::add_task(const Snapshot& snapshot, const Task& task) {
    const bool first = round_ == 0 && begin_ == Begin::AtFirst;
    const auto [found, fresh] = tasks_.try_emplace(id_of(task));
    TaskSum& of = found->second;
    if (fresh) bytes_ += sizeof(*found) + kMapNodeBytes;
    bytes_ += task.cgroup().size() - of.last.cgroup().size();
    if (fresh && first) of.last = task;
    Task& sum = of.sum;
    sum.blocked_ns += excess(task.blocked_ns, of.last.blocked_ns);
    sum.sleeps += excess(task.sleeps, of.last.sleeps);
    sum.runq_ns += excess(task.runq_ns, of.last.runq_ns);
    sum.runs += excess(task.runs, of.last.runs);
    of.last = task;
    of.round = round_ + 1;
    for (const Entry& entry : snapshot.entries_of(task))
        add_entry(snapshot, entry, of, first && fresh);
    follow_moved_sleep(of);
    return of;
}

/// What [exited] records grew by, less the tasks that have merged into them.
void Period::add_exited(const TaskDelta& exited) {
    TaskDelta known;
    for (const TaskSum* task : shown_)
        if (task->round == round_) lattop::add(known, task->last);
    const auto beyond = [](std::uint64_t now, std::uint64_t before, std::uint64_t its) {
        return excess(excess(now, before), its);
    };
    if (round_ > 0) {
        unseen_.blocked_ns +=
            beyond(exited.blocked_ns, exited_before_.blocked_ns, known.blocked_ns);
        unseen_.sleeps += beyond(exited.sleeps, exited_before_.sleeps, known.sleeps);
        unseen_.runq_ns += beyond(exited.runq_ns, exited_before_.runq_ns, known.runq_ns);
        unseen_.runs += beyond(exited.runs, exited_before_.runs, known.runs);
    }
    exited_before_ = exited;
}

void Period::add(const Snapshot& snapshot) {
    if (bytes() > most_)
        throw Error(
            fmt::format("the sleeps of {} tasks in {} snapshots take {} of memory, which is "
                        "more than the {} that they may have here",
                        with_commas(tasks_.size()), with_commas(round_), format_bytes(bytes()),
                        format_bytes(most_)),
            "ask for some of them with -p or -k, or use a machine with more memory; "
            "lattop replay shows a recording's snapshots one by one");
    if (round_ == 0) first_time_ns_ = snapshot.header.time_ns;
    if (round_ > 0 && snapshot.header.since_ns != last_.since_ns) forget_figures();
    if (round_ > 0 || begin_ == Begin::AtNothing) {
        hooks_ns_ += excess(snapshot.header.hooks_ns, last_.hooks_ns);
        for (std::size_t i = 0; i < lost_.size(); ++i)
            lost_[i] += excess(snapshot.header.lost[i], last_.lost[i]);
    }
    last_ = snapshot.header;
    TaskDelta exited;
    std::vector<const TaskSum*> shown;
    for (const Task& task : snapshot.tasks) {
        if (!stands_for_exited(task)) {
            shown.push_back(&add_task(snapshot, task));
            continue;
        }
        lattop::add(exited, task);
        if (round_ == 0 && begin_ == Begin::AtNothing) add_task(snapshot, task);
    }
    // Those of this round have round_ + 1 by now: what is left at round_ has gone.
    add_exited(exited);
    shown_ = std::move(shown);
    ++round_;
}

Snapshot Period::snapshot() const {
    Snapshot result;
    result.header = last_;
    result.header.hooks_ns = hooks_ns_;
    result.header.lost = lost_;
    if (begin_ == Begin::AtFirst) result.header.since_ns = first_time_ns_;
    for (const auto& [id, of] : tasks_) {
        if (of.sum.blocked_ns == 0 && of.sum.sleeps == 0 && of.sum.runq_ns == 0) continue;
        Task task = of.last;
        const bool gone = of.round != round_;
        task.blocked_ns = of.sum.blocked_ns;
        task.sleeps = of.sum.sleeps;
        task.runq_ns = of.sum.runq_ns;
        task.runs = of.sum.runs;
        if (gone) {
            task.state = 'X';
            task.flags = (task.flags & ~std::uint32_t{LT_T_ASLEEP}) | LT_T_EXITED;
        }
        task.ongoing_ns = gone ? 0 : std::min(task.ongoing_ns, task.blocked_ns);
        task.first_entry = static_cast<std::uint32_t>(result.entries.size());
        task.max_ns = 0;
        for (const EntrySum& entry : of.entries) {
            Entry sum = entry.sum;
            if (sum.blocked_ns == 0 && sum.sleeps == 0) continue;
            sum.max_ns = entry.longest_ns();
            if (gone) sum.ongoing_ns = sum.flags = 0;
            task.max_ns = std::max(task.max_ns, sum.max_ns);
            sum.first_waker = static_cast<std::uint32_t>(result.wakers.size());
            for (const KnownWaker& waker : entry.wakers) {
                if (waker.sum.sleeps == 0) continue;
                result.wakers.emplace_back(waker.sum).max_ns = waker.longest_ns();
            }
            sum.n_wakers = static_cast<std::uint32_t>(result.wakers.size()) - sum.first_waker;
            result.entries.push_back(sum);
        }
        task.n_entries = static_cast<std::uint32_t>(result.entries.size()) - task.first_entry;
        task.traces_total = task.n_entries;
        if (task.n_entries == 0) task.max_ns = std::min(of.last.max_ns, task.blocked_ns);
        std::ranges::sort(std::span(result.entries).subspan(task.first_entry), std::greater{},
                          &Entry::blocked_ns);
        result.tasks.push_back(std::move(task));
    }
    if (unseen_.blocked_ns != 0 || unseen_.sleeps != 0) {
        Task rest;
        rest.kind = LT_KIND_EXITED_ALL;
        rest.state = 'X';
        rest.flags = LT_T_EXITED;
        rest.blocked_ns = unseen_.blocked_ns;
        rest.sleeps = unseen_.sleeps;
        rest.runq_ns = unseen_.runq_ns;
        rest.runs = unseen_.runs;
        rest.first_entry = static_cast<std::uint32_t>(result.entries.size());
        rest.n_entries = rest.traces_total = 1;
        Entry& entry = result.entries.emplace_back();
        entry.blocked_ns = rest.blocked_ns;
        entry.sleeps = rest.sleeps;
        result.tasks.push_back(std::move(rest));
    }
    std::ranges::sort(result.tasks, [](const Task& a, const Task& b) {
        return a.blocked_ns != b.blocked_ns ? a.blocked_ns > b.blocked_ns : a.pid < b.pid;
    });
    traces_.fill(result);
    result.header.used[LT_LIMIT_WAKERS] = static_cast<std::uint32_t>(result.wakers.size());
    result.header.tasks_total = result.header.tasks_matched =
        static_cast<std::uint32_t>(result.tasks.size());
    return result;
}

}  // namespace lattop
