// SPDX-License-Identifier: GPL-2.0-or-later
//
// CPU time of image readers, which is in no clock of this process though it is work for it. Kept
// by ImageProcess, which starts and ends them; asked by any thread: WorkerNamer's watcher tells by
// it who is at work from who waits, and it is of lattop's own cost.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>

namespace lattop {

/// CPU time in ns, so far. Any thread may ask, also when what it is the time of is gone.
using ReadingTime = std::function<std::uint64_t()>;

/// Of readers one after the other. What it shows never goes back.
class ReaderClock {
public:
    ReaderClock();
    ReaderClock(const ReaderClock&) = delete;
    ReaderClock& operator=(const ReaderClock&) = delete;
    ~ReaderClock();

    /// A child of this process is the reader from now on.
    void begin(pid_t reader);

    /// It has ended, but is not reaped yet: until then its pid is nobody else's.
    void end();

    [[nodiscard]] std::uint64_t ns() const;

    /// Of all readers that this process has had.
    [[nodiscard]] static std::uint64_t all_ns();

private:
    [[nodiscard]] std::uint64_t sum() const;

    // Guarded by one lock for all clocks.
    std::optional<clockid_t> running_;
    std::uint64_t ended_ns_ = 0;
};

}  // namespace lattop
