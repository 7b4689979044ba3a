// SPDX-License-Identifier: GPL-2.0-or-later
//
// Memory that was freed goes back to the kernel. A refresh takes and frees blocks of megabytes,
// each time of another size: among what stays they would leave holes, which grow for hours. And a
// thread that ends leaves what it had to the C library. Called by main(), and by what goes on for
// long: the live table, -b and --json, record, the daemon.
#pragma once

#include <chrono>

namespace lattop {

/// Large blocks are mapped by themselves from now on, where the heap has no free room that holds
/// one: M_MMAP_THRESHOLD of mallopt(3).
void give_back_large_blocks();

/// Gives back each whole page that is free, once a minute at most: malloc_trim(3) goes by all free
/// blocks, for a millisecond or some.
class FreedMemory {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Whether it was time to.
    bool give_back(Time now);

private:
    Time next_{};
};

}  // namespace lattop
