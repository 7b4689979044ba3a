// SPDX-License-Identifier: GPL-2.0-or-later
//
// See snapshot.h.
#include "lattop/source/snapshot.h"

#include <algorithm>

namespace lattop {

const Entry* Snapshot::ongoing_entry(const Task& task) const {
    const auto its = entries_of(task);
    const auto found = std::ranges::find_if(its, &Entry::asleep);
    return found == its.end() ? nullptr : &*found;
}

std::vector<KernelFrame> Snapshot::kernel_frames(const Trace& trace) const {
    std::vector<KernelFrame> result;
    result.reserve(trace.nr_kernel);
    for (const std::uint64_t frame : std::span(frames).subspan(trace.first_frame, trace.nr_kernel))
        result.push_back({ksyms[frame >> kKsymShift], static_cast<std::uint32_t>(frame)});
    return result;
}

}  // namespace lattop
