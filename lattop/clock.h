// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam to time: commands ask it, tests fake it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lattop {

class Clock {
public:
    using Time = std::chrono::steady_clock::time_point;

    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;

    [[nodiscard]] virtual Time now() const = 0;
    virtual void sleep_until(Time time) = 0;

    /// Nanoseconds since the epoch.
    [[nodiscard]] virtual std::uint64_t realtime_ns() const = 0;

    /// CPU time so far of this process, all its threads, and of its image readers.
    [[nodiscard]] virtual std::uint64_t cpu_ns() const = 0;

    /// The wall clock, local: "12:34:56".
    [[nodiscard]] virtual std::string local_time() const = 0;
};

class SystemClock final : public Clock {
public:
    [[nodiscard]] Time now() const override;
    void sleep_until(Time time) override;
    [[nodiscard]] std::uint64_t realtime_ns() const override;
    [[nodiscard]] std::uint64_t cpu_ns() const override;
    [[nodiscard]] std::string local_time() const override;
};

/// The same for another moment, in nanoseconds since the epoch.
std::string local_time_at(std::uint64_t realtime_ns);

}  // namespace lattop
