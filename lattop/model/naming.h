// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which of the stacks that a row stands for it is named by: its reason, its top
// frame and, of a task, its percentiles are that one's. Asked by rows.cc and groups.cc.
#pragma once

#include <compare>
#include <cstdint>

#include "lattop/model/rows.h"

namespace lattop {

/// Of a stack, over the tasks that a row stands for, in nanoseconds. The heaviest names the row.
struct NamingWeight {
    /// In rows by the length of the ongoing sleep: of the longest that is in it. In rows of an
    /// interval: the time blocked in it.
    std::uint64_t first = 0;
    std::uint64_t blocked_ns = 0;  ///< since load or reset

    auto operator<=>(const NamingWeight&) const = default;

    /// Takes the sleeps of one more task into account.
    void add(const TableContext& context, const RowOptions& options, const Entry& entry);
};

}  // namespace lattop
