// SPDX-License-Identifier: GPL-2.0-or-later
//
// Percentiles from the module's histogram of powers of two. Used by the rows.
#pragma once

#include <cstdint>

#include "lattop/source/snapshot.h"

namespace lattop {

/// A length that at least `share` (0 to 1) of the ended sleeps stayed below or
/// met: the upper end of the bucket in which that sleep is, or `max_ns` where
/// that is less. The true percentile is between half of it and it. 0 where
/// no sleep has ended.
std::uint64_t percentile_bound(const Histogram& hist, double share, std::uint64_t max_ns);

/// Adds the counts of one to those of another.
void add_histogram(Histogram& to, const Histogram& from);

}  // namespace lattop
