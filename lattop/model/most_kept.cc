// SPDX-License-Identifier: GPL-2.0-or-later
//
// See most_kept.h.
#include "lattop/model/most_kept.h"

#include <unistd.h>

#include <algorithm>

namespace lattop {

std::uint64_t most_kept_on(std::uint64_t machine) {
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 30;
    constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
    return std::clamp(machine / 2, kLeast, kMost);
}

std::uint64_t most_kept_here() {
    const auto positive = [](long n) { return static_cast<std::uint64_t>(std::max(0L, n)); };
    return most_kept_on(positive(::sysconf(_SC_PHYS_PAGES)) * positive(::sysconf(_SC_PAGESIZE)));
}

}  // namespace lattop
