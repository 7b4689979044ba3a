// SPDX-License-Identifier: GPL-2.0-or-later
// What must hold within every snapshot, under any load, and from one snapshot to the next. Nothing
// here has a tolerance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "report.h"
#include "snapshot.h"

namespace oracle {

class Invariants {
public:
    explicit Invariants(Report& report) : report_(report) {}

    /// Checks one snapshot taken with LT_TRACES_ALL, and that nothing shrank since the last one.
    void check(const Snapshot& snapshot);

    /// The same but for what the header says was lost, which some work makes happen, and for growth.
    void check_records(const Snapshot& snapshot);

    [[nodiscard]] uint64_t snapshots() const { return snapshots_; }
    [[nodiscard]] uint64_t tasks() const { return tasks_; }
    [[nodiscard]] uint64_t entries() const { return entries_; }

private:
    struct Sums {
        uint64_t blocked_ns = 0;
        uint64_t ongoing_ns = 0;
        uint64_t sleeps = 0;
        uint64_t runq_ns = 0;
    };
    using Identity = std::pair<uint32_t, uint64_t>;  // pid, start_ns

    void check_task(const Snapshot& snapshot, const lt_task_rec& task);
    void check_histogram(const lt_task_rec& task, const lt_entry_rec& entry);
    void check_entry(const Snapshot& snapshot, const lt_task_rec& task, const lt_entry_rec& entry);
    void check_traces(const Snapshot& snapshot);
    void check_header(const Snapshot& snapshot);
    void check_growth(const Snapshot& snapshot);

    Report& report_;
    std::optional<Sums> last_total_;
    std::map<Identity, Sums> last_;
    uint64_t last_since_ns_ = 0;
    bool order_said_ = false;
    uint64_t snapshots_ = 0, tasks_ = 0, entries_ = 0;
};

}  // namespace oracle
