// SPDX-License-Identifier: GPL-2.0-or-later
//
// See freed_memory.h.
#include "lattop/freed_memory.h"

#include <malloc.h>

namespace lattop {

/// The thresholds that glibc begins with follow the largest block that was freed, up to 32 MiB, and
/// twice that; those that are set stay. To map a block costs a page fault for each 4 KiB of it that
/// is used. What the heap may keep free at its end is two blocks that are not mapped, not 64 MiB.
void give_back_large_blocks() {
    mallopt(M_MMAP_THRESHOLD, 512 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
}

bool FreedMemory::give_back(Time now) {
    if (now < next_) return false;
    next_ = now + std::chrono::minutes(1);
    malloc_trim(0);
    return true;
}

}  // namespace lattop
