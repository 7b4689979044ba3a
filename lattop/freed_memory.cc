// SPDX-License-Identifier: GPL-2.0-or-later
//
// See freed_memory.h.
#include "lattop/freed_memory.h"

#include <malloc.h>

namespace lattop {

/// The threshold that glibc begins with follows the largest block that was freed, up to 32 MiB;
/// one that is set stays. To map a block costs a page fault for each 4 KiB of it that is used.
void give_back_large_blocks() {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 512 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

bool FreedMemory::give_back(Time now) {
    if (now < next_) return false;
    next_ = now + std::chrono::minutes(1);
#ifdef M_TRIM_THRESHOLD
    malloc_trim(0);
#endif
    return true;
}

}  // namespace lattop
