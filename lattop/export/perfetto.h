// SPDX-License-Identifier: GPL-2.0-or-later
//
// A recording as a timeline for Perfetto: Chrome's trace event format, as JSON
// (https://perfetto.dev/docs/getting-started/other-formats). Called by
// `lattop export`.
//
// Snapshots do not say when each sleep was, so no slice is made up. What they
// do say is drawn: how many tasks of a process waited for each reason, on
// average between two snapshots, as counters; and as slices those sleeps that
// two snapshots or more have seen, which begin when they began and end where
// they were seen last.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lattop/model/model.h"
#include "lattop/model/most_kept.h"
#include "lattop/model/user_stacks.h"
#include "lattop/reasons/reasons.h"

namespace lattop {

class PerfettoTrace {
public:
    using Wanted = std::function<bool(const Snapshot&, const Task&, const Entry&)>;

    /// `wanted`: which sleeps are drawn; all without it. `most`: of bytes().
    explicit PerfettoTrace(const UserStacks& names, Reasons& reasons, Wanted wanted = {},
                           std::uint64_t most = most_kept_here())
        : names_(names), reasons_(reasons), wanted_(std::move(wanted)), most_(most) {}

    /// The next snapshot of a recording, with all traces. Throws Error where the timeline takes
    /// more than it may.
    void add(Snapshot snapshot);

    /// What is drawn and what is kept for it take, about.
    [[nodiscard]] std::uint64_t bytes() const;

    /// Whether there were two snapshots at least: one has no interval.
    [[nodiscard]] bool has_interval() const { return first_ns_ != last_ns_; }

    /// The whole trace; the last call.
    std::string text(const std::string& title);

private:
    using CounterId = std::pair<std::uint32_t, std::string>;  // process, reason
    struct Counter {
        double shown = 0;  ///< as written last
        std::uint64_t grown_ns = 0;
    };
    struct LongSleep {
        std::uint64_t number = 0;  ///< which of the task's sleeps
        std::uint64_t begin_ns = 0, seen_ns = 0;
        unsigned times_seen = 0;
        std::uint64_t round = 0;  ///< that showed its task last
        std::string event{};      ///< as JSON, but for where it ends
    };

    [[nodiscard]] bool wanted(const Task& task, const Entry& entry) const {
        return !wanted_ || wanted_(model_.snapshot(), task, entry);
    }
    void name_task(const Task& task);
    void count_intervals(std::uint64_t begin_ns);
    void write_counters(std::uint64_t at_ns, std::uint64_t interval_ns);
    void see_sleep(const Task& task);
    void end_sleep(LongSleep& sleep);
    void forget_gone();
    void draw(std::string_view event);
    void check_room() const;

    const UserStacks& names_;
    Reasons& reasons_;
    Wanted wanted_;
    std::uint64_t most_;
    std::uint64_t round_ = 0;  ///< snapshots so far
    Model model_;
    std::uint64_t first_ns_ = 0, last_ns_ = 0;
    std::map<CounterId, Counter> counters_;
    std::unordered_map<TaskId, LongSleep, HashTaskId> sleeps_;
    std::unordered_map<TaskId, std::string, HashTaskId> named_;
    std::uint64_t held_bytes_ = 0;  ///< of events in sleeps_, and names in counters_
    std::string events_;            ///< as JSON, a comma between two
};

}  // namespace lattop
