// SPDX-License-Identifier: GPL-2.0-or-later
#include "invariants.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace oracle {

void Invariants::check(const Snapshot& snapshot) {
    ++snapshots_;
    tasks_ += snapshot.count(LT_SEC_TASKS);
    entries_ += snapshot.count(LT_SEC_ENTRIES);
    check_header(snapshot);
    check_records(snapshot);
    check_growth(snapshot);
}

void Invariants::check_records(const Snapshot& snapshot) {
    uint64_t before = UINT64_MAX;
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
        const lt_task_rec& task = snapshot.task(i);
        check_task(snapshot, task);
        if (task.blocked_ns > before)
            report_.fail("order: {} has {} ns, more than the {} before it", name_of(task),
                         task.blocked_ns, before);
        before = task.blocked_ns;
    }
    check_traces(snapshot);
}

void Invariants::check_header(const Snapshot& snapshot) {
    const lt_header& head = snapshot.header();
    // Once: they stay counted in every snapshot behind
    if (head.lost[LT_LOST_order] && !std::exchange(order_said_, true))
        report_.fail("{} sleeps whose begin or end was not seen", head.lost[LT_LOST_order]);
    if (head.lost[LT_LOST_memo_wrong])
        report_.fail("{} remembered traces were wrong", head.lost[LT_LOST_memo_wrong]);
    if (head.since_ns > head.time_ns)
        report_.fail("since {} is after now {}", head.since_ns, head.time_ns);
    // A record may be made between two counts: the limits bind, the total is only near
    for (const auto& [limit, name] :
         {std::pair{LT_LIMIT_TASKS, "tasks"}, std::pair{LT_LIMIT_ENTRIES, "entries"},
          std::pair{LT_LIMIT_TRACES, "traces"}, std::pair{LT_LIMIT_MEMOS, "memos"}})
        if (head.used[limit] > head.limit[limit])
            report_.fail("over a limit: {} {} of {}", name, head.used[limit], head.limit[limit]);
    if (head.tasks_matched != snapshot.count(LT_SEC_TASKS))
        report_.fail("{} tasks matched, {} in the snapshot", head.tasks_matched,
                     snapshot.count(LT_SEC_TASKS));
}

/// Bucket i holds sleeps of 2^i ns and more, below 2^(i+1); the first shorter ones too, the last longer ones.
void Invariants::check_histogram(const lt_task_rec& task, const lt_entry_rec& entry) {
    const uint64_t ended_ns = entry.blocked_ns - entry.ongoing_ns;
    uint64_t least_ns = 0, most_ns = 0, longest_least = 0, longest_most = 0;
    for (unsigned i = 0; i < LT_HIST_BUCKETS; ++i) {
        if (!entry.hist[i]) continue;
        longest_least = i ? uint64_t{1} << i : 0;
        longest_most = i + 1 < LT_HIST_BUCKETS ? (uint64_t{1} << (i + 1)) - 1 : ended_ns;
        least_ns += entry.hist[i] * longest_least;
        most_ns += entry.hist[i] * longest_most;
    }
    // The longest is in the last bucket that is not empty, or it is the one under way
    const bool longest_ended = entry.max_ns > entry.ongoing_ns;
    if (ended_ns < least_ns || ended_ns > most_ns || entry.max_ns < longest_least ||
        (longest_ended && entry.max_ns > longest_most))
        report_.fail(
            "{}: an entry of {} ns in ended sleeps, the longest {}: its histogram has {} to {}, "
            "the longest {} to {}",
            name_of(task), ended_ns, entry.max_ns, least_ns, most_ns, longest_least, longest_most);
}

void Invariants::check_entry(const Snapshot& snapshot, const lt_task_rec& task,
                             const lt_entry_rec& entry) {
    const bool ongoing = entry.flags & LT_E_ONGOING;
    const uint64_t ended =
        std::accumulate(std::begin(entry.hist), std::end(entry.hist), uint64_t{});
    check_histogram(task, entry);
    if (ended + (ongoing ? 1 : 0) != entry.sleeps)
        report_.fail("{}: an entry of {} sleeps, {} in its histogram, {}", name_of(task),
                     entry.sleeps, ended, ongoing ? "one ongoing" : "none ongoing");
    if (entry.trace != LT_TRACE_OTHER && entry.trace >= snapshot.count(LT_SEC_TRACES))
        report_.fail("{}: trace {} of {}", name_of(task), entry.trace,
                     snapshot.count(LT_SEC_TRACES));
    if (entry.ongoing_ns > entry.blocked_ns || entry.max_ns > entry.blocked_ns ||
        entry.max_ns < entry.ongoing_ns || (entry.ongoing_ns && !ongoing))
        report_.fail("{}: entry: blocked {} max {} ongoing {} flags {:#x}", name_of(task),
                     entry.blocked_ns, entry.max_ns, entry.ongoing_ns, entry.flags);
}

void Invariants::check_task(const Snapshot& snapshot, const lt_task_rec& task) {
    if (task.ongoing_ns > task.blocked_ns || (task.ongoing_ns && !(task.flags & LT_T_ASLEEP)))
        report_.fail("{}: blocked {} ongoing {} flags {:#x}", name_of(task), task.blocked_ns,
                     task.ongoing_ns, task.flags);
    if (task.kind == LT_KIND_OTHER) return;  // no traces
    if (task.n_entries != task.traces_total ||
        uint64_t{task.first_entry} + task.n_entries > snapshot.count(LT_SEC_ENTRIES)) {
        report_.fail("{}: {} entries of {} from {}, {} in all", name_of(task), task.n_entries,
                     task.traces_total, task.first_entry, snapshot.count(LT_SEC_ENTRIES));
        return;
    }
    Sums sums;
    uint64_t longest = 0, before = UINT64_MAX;
    for (uint32_t i = 0; i < task.n_entries; ++i) {
        const lt_entry_rec& entry = snapshot.entry(task.first_entry + i);
        check_entry(snapshot, task, entry);
        sums.blocked_ns += entry.blocked_ns;
        sums.ongoing_ns += entry.ongoing_ns;
        sums.sleeps += entry.sleeps;
        longest = std::max<uint64_t>(longest, entry.max_ns);
        if (entry.blocked_ns > before)
            report_.fail("{}: its entries are not in order of blocked time", name_of(task));
        before = entry.blocked_ns;
    }
    if (sums.blocked_ns != task.blocked_ns || sums.sleeps != task.sleeps ||
        sums.ongoing_ns != task.ongoing_ns || longest != task.max_ns)
        report_.fail(
            "{}: blocked {} ongoing {} max {} sleeps {}, its {} entries {} {} {} {}: {:+} ns, {:+} "
            "sleeps",
            name_of(task), task.blocked_ns, task.ongoing_ns, task.max_ns, task.sleeps,
            task.n_entries, sums.blocked_ns, sums.ongoing_ns, longest, sums.sleeps,
            static_cast<int64_t>(sums.blocked_ns - task.blocked_ns),
            static_cast<int64_t>(sums.sleeps - task.sleeps));
}

void Invariants::check_traces(const Snapshot& snapshot) {
    std::set<uint64_t> ids;
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TRACES); ++i) {
        const lt_trace_rec& trace = snapshot.trace(i);
        const uint64_t end = uint64_t{trace.first_frame} + trace.nr_kernel + trace.nr_user;
        if (end > snapshot.count(LT_SEC_FRAMES)) {
            report_.fail("trace {}: frames to {} of {}", trace.id, end,
                         snapshot.count(LT_SEC_FRAMES));
            continue;
        }
        if (!ids.insert(trace.id).second) report_.fail("trace {} stands there twice", trace.id);
        if (trace.nr_kernel == 0) report_.fail("trace {} has no kernel frames", trace.id);
        for (const std::string_view name : snapshot.kernel_frames(trace))
            if (name.empty()) report_.fail("trace {}: a kernel function without a name", trace.id);
    }
}

void Invariants::check_growth(const Snapshot& snapshot) {
    if (snapshot.header().since_ns != last_since_ns_) {  // the first one, or reset
        last_since_ns_ = snapshot.header().since_ns;
        last_total_.reset();
        last_.clear();
    }
    Sums total;
    std::map<Identity, Sums> now;
    for (uint32_t i = 0; i < snapshot.count(LT_SEC_TASKS); ++i) {
        const lt_task_rec& task = snapshot.task(i);
        total.blocked_ns += task.blocked_ns;
        total.sleeps += task.sleeps;
        total.runq_ns += task.runq_ns;
        if (task.kind != LT_KIND_TASK) continue;
        const Identity identity{task.pid, task.start_ns};
        const Sums mine{task.blocked_ns, task.ongoing_ns, task.sleeps, task.runq_ns};
        if (!now.emplace(identity, mine).second)
            report_.fail("{} started at {} has two records", name_of(task), task.start_ns);
        const auto before = last_.find(identity);
        if (before != last_.end() &&
            (mine.blocked_ns < before->second.blocked_ns || mine.sleeps < before->second.sleeps ||
             mine.runq_ns < before->second.runq_ns))
            report_.fail("{} shrank: blocked {} to {}, sleeps {} to {}, run queue {} to {}",
                         name_of(task), before->second.blocked_ns, mine.blocked_ns,
                         before->second.sleeps, mine.sleeps, before->second.runq_ns, mine.runq_ns);
    }
    if (last_total_ && (total.blocked_ns < last_total_->blocked_ns ||
                        total.sleeps < last_total_->sleeps || total.runq_ns < last_total_->runq_ns))
        report_.fail("the total shrank: blocked {} to {}, sleeps {} to {}, run queue {} to {}",
                     last_total_->blocked_ns, total.blocked_ns, last_total_->sleeps, total.sleeps,
                     last_total_->runq_ns, total.runq_ns);
    last_total_ = total;
    last_ = std::move(now);
}

}  // namespace oracle
