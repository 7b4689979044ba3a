// SPDX-License-Identifier: GPL-2.0-or-later
//
// See reader_clock.h.
#include "unwind/reader_clock.h"

#include <mutex>
#include <set>

#include "unwind/nanoseconds.h"

namespace lattop {
namespace {

struct AllClocks {
    std::mutex lock;
    std::set<const ReaderClock*> clocks;
    std::uint64_t gone_ns = 0;  // of clocks that are no more
};

/// Never destroyed: threads that were left behind may end after all that is.
AllClocks& all_clocks() {
    static auto& all = *new AllClocks;
    return all;
}

}  // namespace

ReaderClock::ReaderClock() {
    const std::lock_guard lock(all_clocks().lock);
    all_clocks().clocks.insert(this);
}

ReaderClock::~ReaderClock() {
    const std::lock_guard lock(all_clocks().lock);
    all_clocks().gone_ns += sum();
    all_clocks().clocks.erase(this);
}

void ReaderClock::begin(pid_t reader) {
    clockid_t clock{};
    if (::clock_getcpuclockid(reader, &clock) != 0) return;
    const std::lock_guard lock(all_clocks().lock);
    running_ = clock;
}

void ReaderClock::end() {
    const std::lock_guard lock(all_clocks().lock);
    ended_ns_ = sum();
    running_.reset();
}

/// With the lock held.
std::uint64_t ReaderClock::sum() const {
    return ended_ns_ + (running_ ? clock_ns(*running_) : 0);
}

std::uint64_t ReaderClock::ns() const {
    const std::lock_guard lock(all_clocks().lock);
    return sum();
}

std::uint64_t ReaderClock::all_ns() {
    AllClocks& all = all_clocks();
    const std::lock_guard lock(all.lock);
    std::uint64_t ns = all.gone_ns;
    for (const ReaderClock* clock : all.clocks)
        ns += clock->sum();
    return ns;
}

}  // namespace lattop
