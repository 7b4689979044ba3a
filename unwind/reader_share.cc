// SPDX-License-Identifier: GPL-2.0-or-later
//
// See reader_share.h.
#include "unwind/reader_share.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace lattop {
namespace {

/// For all images together, a fourth of it (Symbolizer), and one that is read, its debug
/// information compressed and not.
constexpr std::uint64_t kMostMemory = std::uint64_t{2} << 30;
constexpr std::uint64_t kLeastMemory = std::uint64_t{512} << 20;

/// Enough for what most programs have; a reader itself takes 11 MiB.
constexpr std::uint64_t kLeastShare = std::uint64_t{128} << 20;

struct TakenPlaces {
    std::mutex lock;
    std::set<unsigned> places;
};

/// Never destroyed: threads that were left behind may end after all that is.
TakenPlaces& taken_places() {
    static auto& taken = *new TakenPlaces;
    return taken;
}

std::uint64_t machine_memory() {
    const auto positive = [](long n) { return static_cast<std::uint64_t>(std::max(0L, n)); };
    return positive(::sysconf(_SC_PHYS_PAGES)) * positive(::sysconf(_SC_PAGESIZE));
}

}  // namespace

ReaderShare::ReaderShare() {
    TakenPlaces& taken = taken_places();
    const std::lock_guard lock(taken.lock);
    while (!taken.places.insert(place_).second)
        ++place_;
    memory_ = reader_memory(machine_memory(), place_);
}

ReaderShare::~ReaderShare() {
    TakenPlaces& taken = taken_places();
    const std::lock_guard lock(taken.lock);
    taken.places.erase(place_);
}

std::uint64_t reader_memory(std::uint64_t machine, unsigned place) {
    constexpr unsigned kMostHalvings = 8;
    const std::uint64_t first = std::clamp(machine / 4, kLeastMemory, kMostMemory);
    return std::max(first >> std::min(place, kMostHalvings), kLeastShare);
}

}  // namespace lattop
