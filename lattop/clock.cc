// SPDX-License-Identifier: GPL-2.0-or-later
//
// See clock.h.
#include "lattop/clock.h"

#include <fmt/format.h>

#include <ctime>
#include <thread>

#include "unwind/nanoseconds.h"
#include "unwind/reader_clock.h"

namespace lattop {

Clock::Time SystemClock::now() const {
    return std::chrono::steady_clock::now();
}

void SystemClock::sleep_until(Time time) {
    std::this_thread::sleep_until(time);
}

std::uint64_t SystemClock::realtime_ns() const {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count());
}

std::uint64_t SystemClock::cpu_ns() const {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ReaderClock::all_ns();
}

std::string SystemClock::local_time() const {
    return local_time_at(realtime_ns());
}

std::string local_time_at(std::uint64_t realtime_ns) {
    const auto time = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
    std::tm local{};
    ::localtime_r(&time, &local);
    return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

}  // namespace lattop
