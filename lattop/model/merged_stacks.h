// SPDX-License-Identifier: GPL-2.0-or-later
//
// Stacks over all tasks that share them, by names: the same stack of two
// threads, or of two runs of a program, is one. What report, diff and every
// export but JSON are made from.
//
// Whose stack it is is a name as well: of the thread in exports, which other
// tools show as their outermost frame; of the process in report and diff, for
// many a program gives each of its threads a name of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
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
    std::string command;              ///< comm of the tasks; of several "worker-3 +7"
    std::string process{};            ///< whose they are; "" where the command says it
    std::vector<MergedFrame> frames;  ///< outermost first; none for [other]
    std::string reason;
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t tasks = 0;           ///< that have slept there, each once
    std::vector<const Waker*> wakers;  ///< who ended its sleeps; of the snapshot

    /// "command;main;read_all;vfs_read_[k]": outermost first, kernel frames
    /// marked as perf does. Safe to split at ';': in names it becomes ':', and
    /// what is not printable '?'.
    [[nodiscard]] std::string folded() const;

    /// The same by the name of the process: what tells it from other stacks.
    [[nodiscard]] std::string identity() const;
};

/// What processes are called: as their leaders, of a snapshot that has these.
class ProcessNames {
public:
    explicit ProcessNames(const Snapshot& snapshot);

    /// Of a task's process; its own command where no leader is known.
    [[nodiscard]] std::string of(const Task& task) const;

private:
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> leaders_;  // by tgid and start
};

/// One entry of one task.
MergedStack merged_stack(const Snapshot& snapshot, const Task& task, const Entry& entry,
                         const UserStacks& names, Reasons& reasons);

/// All stacks of the snapshot's tasks, most blocked time first: of threads of
/// one name, or, with `processes`, of processes of one name. Their blocked_ns add
/// up to that of its entries. They point into the snapshot.
std::vector<MergedStack> merge_stacks(const Snapshot& snapshot, const UserStacks& names,
                                      Reasons& reasons, const ProcessNames* processes = nullptr,
                                      std::size_t max_bytes = kMaxMergedBytes);

}  // namespace lattop
