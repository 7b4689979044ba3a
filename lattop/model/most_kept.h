// SPDX-License-Identifier: GPL-2.0-or-later
//
// How much memory may be taken by what a recording's snapshots, of which there may be any number,
// come to. Asked by Period and by the timeline of perfetto.h.
#pragma once

#include <cstdint>

namespace lattop {

/// Bytes, on a machine that has so many of memory: half of them, 1 GiB at least. 16 GiB at most: so
/// there are fewer frames than their numbers reach.
std::uint64_t most_kept_on(std::uint64_t machine);

/// The same of this machine.
std::uint64_t most_kept_here();

}  // namespace lattop
