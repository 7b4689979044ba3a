// SPDX-License-Identifier: GPL-2.0-or-later
//
// The latest snapshot and what happened since the one before it. Commands feed
// it each refresh; views and exports read it.
//
// A delta exists only between figures of the same thing: a task is its pid and
// start time, an entry its trace and program. What was not in the snapshot
// before has a delta only if that snapshot held everything the query asked
// for, since then it is new. Before the first snapshot stands the load (or the
// last reset) of the module, when every figure was 0.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lattop/source/source.h"

namespace lattop {

/// Identity of a task or of one of the records that stand for several.
struct TaskId {
    std::uint32_t kind = LT_KIND_TASK;
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;
    std::uint64_t start_ns = 0;

    bool operator==(const TaskId&) const = default;
};

TaskId id_of(const Task& task);

/// Of one that is a task.
TaskId id_of(const Waker& waker);

/// Records that exited tasks merge into: they grow when that happens, not by
/// sleeps, so that they have no figures of an interval.
bool stands_for_exited(const Task& task);

struct HashTaskId {
    std::size_t operator()(const TaskId& id) const;
};

/// Identity of an entry within its task; `other` is the one without a trace.
struct EntryId {
    std::uint64_t trace_id = 0;
    std::uint32_t exec_id = 0;
    bool other = false;

    auto operator<=>(const EntryId&) const = default;
};

EntryId id_of(const Snapshot& snapshot, const Entry& entry);

struct HashEntryId {
    std::size_t operator()(const EntryId& id) const;
};

/// Figures of a task in one interval.
struct TaskDelta {
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t runq_ns = 0;
    std::uint64_t runs = 0;
};

/// Figures of an entry in one interval.
struct EntryDelta {
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    Histogram hist{};
};

class Model {
public:
    /// Takes the next snapshot and the query it answers.
    void update(Snapshot snapshot, const Query& query);

    [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }
    [[nodiscard]] bool empty() const { return !has_snapshot_; }

    /// Length of the interval that deltas are for.
    [[nodiscard]] std::uint64_t interval_ns() const { return interval_ns_; }

    /// Whether the interval begins at load or reset, not at a snapshot.
    [[nodiscard]] bool since_load() const { return since_load_; }

    /// Nothing where it is not known: the task was beyond the limit before, or
    /// stands for exited ones, whose figures move without a sleep.
    [[nodiscard]] const std::optional<TaskDelta>& delta(const Task& task) const;
    [[nodiscard]] const std::optional<EntryDelta>& delta(const Entry& entry) const;

    /// Nanoseconds a second, sleeps a second, over the interval.
    [[nodiscard]] double per_second(std::uint64_t figure) const;

private:
    struct EntryFigures {
        EntryId id;
        EntryDelta figures;
        bool still_there = false;  ///< in the latest snapshot
    };
    struct TaskFigures {
        TaskDelta figures{};
        std::vector<EntryFigures> entries{};  ///< in the order of their ids
        bool all_entries = false;
    };
    /// What entries have less of than before. The module walks a sleeper again when it has
    /// learned its code: then the ongoing sleep stands in another entry from its beginning on,
    /// and the one that it stood in has gone, or has less.
    struct Moved {
        std::uint64_t blocked_ns = 0;
        std::uint64_t sleeps = 0;

        void add(const EntryDelta& was, const EntryDelta& now) {
            blocked_ns += was.blocked_ns - now.blocked_ns;
            sleeps += was.sleeps - std::min(was.sleeps, now.sleeps);
        }
    };
    void remember();
    void compare_tasks();
    void compare_entries(const Task& task, TaskFigures& before);
    void take_moved(const Task& task, const Moved& moved);

    Snapshot snapshot_;
    Query query_;
    bool has_snapshot_ = false;
    std::uint64_t interval_ns_ = 0;
    bool since_load_ = true;

    // The snapshot before: figures by identity, and whether it held all that
    // its query matched.
    std::unordered_map<TaskId, TaskFigures, HashTaskId> before_;
    bool before_whole_ = true;

    std::vector<std::optional<TaskDelta>> task_deltas_;    // as snapshot_.tasks
    std::vector<std::optional<EntryDelta>> entry_deltas_;  // as snapshot_.entries
};

}  // namespace lattop
