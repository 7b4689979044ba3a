// SPDX-License-Identifier: GPL-2.0-or-later
//
// What keys of several numbers are mixed with. Used by the hashes of ids.
#pragma once

#include <cstdint>

namespace lattop {

/// Of multiplicative hashing: 2^64 / the golden ratio (Knuth, The Art of
/// Computer Programming 3, 6.4).
inline constexpr std::uint64_t kHashMultiplier = 0x9e3779b97f4a7c15U;

}  // namespace lattop
