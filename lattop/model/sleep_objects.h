// SPDX-License-Identifier: GPL-2.0-or-later
//
// What sleeps waited for, kept by which sleep it was: of a recording, and of a command that is
// watched. Filled by recording/objects.h and `lattop run`, read by views.
//
// The sleep of a task is told by when it began, in ns: snapshots measure all sleeps under way to
// one moment, so that every one of them says the same of the same sleep. What it waits for may
// change while it goes on (another thread got the mutex first), so each object is of a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lattop/model/model.h"

namespace lattop {

struct SleepId {
    TaskId task;
    std::uint64_t begin_ns = 0;  ///< CLOCK_MONOTONIC

    bool operator==(const SleepId&) const = default;
};

/// The sleep that `task` of `snapshot` is in; nothing where it is in none.
std::optional<SleepId> sleep_of(const Snapshot& snapshot, const Task& task);

/// What some of a snapshot's sleeps wait for.
struct FoundObjects {
    struct Object {
        SleepId sleep;
        std::string text;  ///< see wait_object.h: any bytes
    };
    std::uint64_t time_ns = 0;  ///< of the snapshot
    std::vector<Object> objects;
};

class SleepObjects {
public:
    /// `most`: moments of all sleeps.
    explicit SleepObjects(std::size_t most = kMost) : most_(most) {}

    /// False where there is no room, or it is of an earlier sleep or moment than the last one of
    /// that task.
    bool add(std::uint64_t time_ns, const SleepId& sleep, std::string text);

    /// Each of them for which that is true.
    void add(const FoundObjects& found);

    /// At the time of a snapshot that shows the sleep: what was found by then or, where that
    /// was later, first. nullptr where nothing was.
    [[nodiscard]] const std::string* find(const SleepId& sleep, std::uint64_t time_ns) const;

    [[nodiscard]] const std::string* find(const Snapshot& snapshot, const Task& task) const;

    [[nodiscard]] bool empty() const { return tasks_.empty(); }

    /// Of 24 bytes each, beside their texts.
    static constexpr std::size_t kMost = std::size_t{1} << 22;

private:
    struct Moment {
        std::uint64_t begin_ns = 0;  // of the sleep
        std::uint64_t time_ns = 0;
        const std::string* text = nullptr;  // of texts_

        [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> order() const {
            return {begin_ns, time_ns};
        }
    };

    std::unordered_map<TaskId, std::vector<Moment>, HashTaskId> tasks_;  // each in order
    std::unordered_set<std::string> texts_;  // many threads wait for one lock
    std::size_t moments_ = 0;
    std::size_t most_;
};

}  // namespace lattop
