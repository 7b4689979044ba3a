// SPDX-License-Identifier: GPL-2.0-or-later
//
// Stacks over all tasks that share them, by names: the same stack of two
// threads, or of two runs of a program, is one. What report, diff and every
// export but JSON are made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lattop/model/user_stacks.h"
#include "lattop/reasons/reasons.h"
#include "lattop/source/snapshot.h"

namespace lattop {

/// A recording may be anybody's. Of a stack as many innermost frames are kept,
/// "[more]" stands for the rest, and of a name as many bytes; a stack that
/// exceeds what all may take has no frames, as [other].
inline constexpr std::size_t kMaxMergedFrames = 2048;
inline constexpr std::size_t kMaxMergedName = std::size_t{1} << 14;
inline constexpr std::size_t kMaxMergedBytes = std::size_t{1} << 29;

struct MergedFrame {
    std::string name;  ///< without parameters; "libc.so.6+0x8a1b3" where there is none
    std::string file;  ///< source file, "" where not known
    std::uint32_t line = 0;
    bool kernel = false;
};

struct MergedStack {
    std::string command;              ///< comm of the tasks
    std::vector<MergedFrame> frames;  ///< outermost first; none for [other]
    std::string reason;
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t tasks = 0;
    std::vector<const Waker*> wakers;  ///< who ended its sleeps; of the snapshot

    /// "command;main;read_all;vfs_read_[k]": outermost first, kernel frames
    /// marked as perf does. Safe to split at ';': in names it becomes ':', and
    /// what is not printable '?'.
    [[nodiscard]] std::string folded() const;
};

/// One entry of one task.
MergedStack merged_stack(const Snapshot& snapshot, const Task& task, const Entry& entry,
                         const UserStacks& names, Reasons& reasons);

/// All stacks of the snapshot's tasks, most blocked time first. Their
/// blocked_ns add up to that of its entries. They point into the snapshot.
std::vector<MergedStack> merge_stacks(const Snapshot& snapshot, const UserStacks& names,
                                      Reasons& reasons, std::size_t max_bytes = kMaxMergedBytes);

}  // namespace lattop
