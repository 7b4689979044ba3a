// SPDX-License-Identifier: GPL-2.0-or-later
//
// Times of the kernel as one number.
#pragma once

#include <cstdint>
#include <ctime>

namespace lattop {

constexpr std::int64_t nanoseconds(const timespec& time) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    return time.tv_sec * kSecond + time.tv_nsec;
}

/// What a clock that never was before 0 shows, such as a CPU clock; 0 where it
/// is gone.
inline std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    if (::clock_gettime(clock, &now) != 0) return 0;
    return static_cast<std::uint64_t>(nanoseconds(now));
}

}  // namespace lattop
