// SPDX-License-Identifier: GPL-2.0-or-later
//
// What happened between the first and the last of many snapshots, as one
// snapshot: its figures count from the first on. Fed by report, export, diff
// and run; read by the same code as any snapshot.
//
// Tasks that end keep their record for a while, then merge into an [exited]
// one. Here they stay as they were seen last; what [exited] records grew by
// beyond that belongs to tasks, or ends of tasks, that no snapshot showed, and
// stands under [exited], its stacks under [other]. So the sum over all is exact,
// and what is not known by name says so. Where all counts that came before the
// first snapshot, the [exited] records it has count with their stacks.
//
// A task with three stacks takes about 4 KiB here, for as long as the period goes on: a day of a
// machine on which ten tasks a second are seen to come and go, 3.5 GiB. What a hostile recording
// makes up comes faster, so there is a limit: by memory, since no number of tasks is too many.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lattop/model/model.h"
#include "lattop/model/most_kept.h"
#include "lattop/model/trace_store.h"

namespace lattop {

class Period {
public:
    enum class Begin {
        AtFirst,    ///< the first snapshot's figures are what came before
        AtNothing,  ///< all that the first snapshot has counts too
    };

    /// `most`: of bytes().
    explicit Period(Begin begin = Begin::AtFirst, std::uint64_t most = most_kept_here())
        : begin_(begin), most_(most) {}

    /// The next snapshot of the same machine, with all traces. After a reset
    /// in between, figures go on from where they were. Throws Error where those before it take
    /// more than they may; what they say stays.
    void add(const Snapshot& snapshot);

    /// What all that is known takes, about.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_ + traces_.bytes(); }

    [[nodiscard]] bool empty() const { return round_ == 0; }

    /// Tasks that blocked, ran late or slept in it, by descending blocked time.
    [[nodiscard]] Snapshot snapshot() const;

private:
    struct KnownWaker {
        Waker last;  ///< as the module counts it; those that a reader cannot tell apart as one
        Waker sum;   ///< in the period; traces are the store's
        std::uint64_t kept_max_ns = 0;  ///< before the last reset

        /// Known for the whole life only: never too low.
        [[nodiscard]] std::uint64_t longest_ns() const;
    };
    struct EntrySum {
        Entry last;  ///< as the module counts it; its trace is the store's
        Entry sum;   ///< in the period
        std::uint64_t first_max_ns = 0;
        std::uint64_t kept_max_ns = 0;  ///< of the period, before the last reset
        std::uint64_t round = 0;        ///< that showed it last
        std::uint64_t grown_ns = 0;     ///< in this round
        std::uint64_t shrunk_ns = 0, shrunk_sleeps = 0;
        std::vector<KnownWaker> wakers;

        [[nodiscard]] std::uint64_t longest_ns() const;
    };
    struct TaskSum {
        Task last;
        Task sum;
        std::uint64_t round = 0;  ///< that showed it last
        std::vector<EntrySum> entries;
        std::unordered_map<EntryId, std::size_t, HashEntryId> places;  ///< in entries
    };

    void forget_figures();
    TaskSum& add_task(const Snapshot& snapshot, const Task& task);
    void add_entry(const Snapshot& snapshot, const Entry& entry, TaskSum& of, bool first);
    void add_wakers(const Snapshot& snapshot, const Entry& entry, EntrySum& of, bool first);
    TraceIndex keep(const Snapshot& snapshot, TraceIndex trace);
    void follow_moved_sleep(TaskSum& of) const;
    void add_exited(const TaskDelta& exited);

    Begin begin_;
    std::uint64_t most_;
    std::uint64_t bytes_ = 0;  ///< of tasks_ and what they have
    std::uint64_t first_time_ns_ = 0;
    Header last_;
    std::uint64_t round_ = 0;  ///< snapshots so far
    TraceStore traces_;
    std::unordered_map<TaskId, TaskSum, HashTaskId> tasks_;
    std::vector<const TaskSum*> shown_;  ///< by the last snapshot; [exited] ones are not among them
    std::uint64_t hooks_ns_ = 0;
    decltype(Header::lost) lost_{};
    TaskDelta exited_before_;
    TaskDelta unseen_;
};

}  // namespace lattop
