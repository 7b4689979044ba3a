// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam between the front end and where snapshots come from: the module
// (ProcSource), a recording (RecordingSource), or a test's fake.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lattop/source/snapshot.h"

namespace lattop {

/// What a snapshot shall hold: struct lt_query in C++.
struct Query {
    lt_sort sort = LT_SORT_BLOCKED;
    lt_traces traces = LT_TRACES_WORST;
    std::uint32_t limit = 0;            ///< tasks at most; 0 is LT_TEXT_TASKS
    std::uint32_t flags = 0;            ///< LT_Q_*
    std::vector<std::uint32_t> pids{};  ///< pids or tgids; empty is all
    std::uint64_t min_blocked_ns = 0;

    bool operator==(const Query&) const = default;
};

/// Which moment a snapshot shows.
enum class Moment {
    Next,  ///< now; a recording goes on to its next snapshot
    Same,  ///< the one taken last, where the source can: a second look in one refresh
};

class Source {
public:
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;

    /// A snapshot. Throws Error.
    virtual Snapshot take(const Query& query, Moment moment) = 0;

    /// Clears the module's figures. Throws Error where it is not permitted.
    virtual void reset() = 0;

    /// Whether the tasks are those of this machine now, so that their
    /// addresses and uids can be looked up here.
    [[nodiscard]] virtual bool live() const = 0;

    /// Whether there will be another snapshot; a recording ends.
    [[nodiscard]] virtual bool more() const { return true; }

    /// The wall clock of the snapshot given last, nanoseconds since the epoch;
    /// nothing where that is now.
    [[nodiscard]] virtual std::optional<std::uint64_t> realtime_ns() const { return std::nullopt; }

    /// Goes `snapshots` on (below 0: back) from the one given last, to the first
    /// or the last one at most. As many take()s of Moment::Next as it says lead
    /// there: two, where one before it is to be compared with; 0 where there is
    /// no time to travel in.
    virtual int travel(std::int64_t /*snapshots*/) { return 0; }

    /// What travel() moves in, for people: "snapshot 3 of 120"; "" for nothing.
    [[nodiscard]] virtual std::string position() const { return ""; }

    /// How many snapshots there are to travel in; 0 for none.
    [[nodiscard]] virtual std::size_t size() const { return 0; }
};

}  // namespace lattop
