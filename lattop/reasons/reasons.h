// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reason of every sleep on the screen and in the exports: the table's
// decision for a trace, made once and kept. A trace's kernel part never
// changes, so it is decided once for all tasks; the names of the user part come
// later and may change, so what depends on them is kept with the version of the
// names it was decided by: names themselves are dropped by who bounds them. The module numbers
// traces anew with each load: what is kept of them goes when a snapshot of another load comes.
//
// Cost: deciding tries some 300 patterns on each frame, about 20 us a trace;
// a kept decision is a look-up in a hash.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lattop/model/user_stacks.h"
#include "lattop/reasons/table.h"
#include "unwind/bounded_cache.h"

namespace lattop {

class Reasons {
public:
    /// With lattop's own table.
    Reasons();
    explicit Reasons(ReasonTable table);
    Reasons(const Reasons&) = delete;
    Reasons& operator=(const Reasons&) = delete;
    ~Reasons() = default;

    /// Valid as long as this.
    const Reason& of(const Snapshot& snapshot, const Task& task, const Entry& entry,
                     const UserStacks& stacks);

    /// Of the entry that cost a task most. One without entries has a reason without
    /// a name, or [other] where it was blocked all the same.
    const Reason& of_worst(const Snapshot& snapshot, const Task& task, const UserStacks& stacks);

    /// At each refresh, with its snapshot of all: as many stay as that has, and 8,192 more.
    void forget_unseen(const Snapshot& snapshot);

    /// How many traces and stacks.
    [[nodiscard]] std::size_t remembered() const { return traces_.size() + stacks_.size(); }

private:
    struct ByKernel {
        const Reason* reason = nullptr;
        bool asks_for_user = false;
    };
    struct ByUser {
        std::uint64_t version = 0;  // of the names
        const Reason* reason = nullptr;
    };

    const ByKernel& by_kernel(const Snapshot& snapshot, const Trace& trace);
    const Reason& by_user(const Snapshot& snapshot, const Trace& trace, const StackId& id,
                          const UserStack& names);
    const Reason& function_name(const Snapshot& snapshot, const Trace& trace);

    ReasonTable table_;
    Reason other_{"[other]", false, ""};
    Reason none_{"", false, ""};
    std::unordered_map<std::string, Reason> functions_;  // where the table knows no reason
    std::uint64_t load_ = 0;
    BoundedCache<std::uint64_t, ByKernel> traces_;  // of load_, by id
    BoundedCache<StackId, ByUser, HashStackId> stacks_;
};

}  // namespace lattop
