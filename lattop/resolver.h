// SPDX-License-Identifier: GPL-2.0-or-later
//
// Answers the module's misses: builds the rows that its walks lack and teaches
// them. Called by ResolverWorker, for `lattop daemon` and for the live screen.
//
// A miss names one pc. Teaching that row alone would cost a miss for each frame
// of each stack, and the next miss comes with the next sleep. So the stack is
// walked on from there, in the sleeper's own memory and without stopping it.
// It may run meanwhile and the walk go astray; a row depends on the pc alone,
// so what is taught is right all the same, at worst for code nobody blocks in.
//
// All of it is bounded: misses a step, frames a walk and a step, processes and
// files held, their bytes. Nothing that a process does to its memory or its
// files costs more than its own walks.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lattop/resolver_door.h"
#include "lattop/resolver_watch.h"
#include "lattop/second_tries.h"
#include "unwind/bounded_cache.h"
#include "unwind/process_code.h"
#include "unwind/row_walk.h"

namespace lattop {

struct ResolverLimits {
    std::size_t file_bytes = std::size_t{256} << 20;    ///< call-frame information of all files
    std::size_t files = 16384;                          ///< held
    std::size_t processes = 192;                        ///< held open, two descriptors each
    std::size_t process_bytes = std::size_t{64} << 20;  ///< maps of all processes
    std::size_t step_frames = 65536;                    ///< walked in one step
    std::chrono::milliseconds patience{10'000};         ///< with one process, of ResolverWorker
    std::chrono::milliseconds unnoted{1'000};           ///< of a look
    unsigned left_alone = 60;                           ///< so many times as long as that took
};

/// No more than this process has descriptors for.
ResolverLimits limits_here();

/// What there is room for, in bytes, while others hold theirs: of each no more than its limit.
struct ResolverRoom {
    std::size_t files = SIZE_MAX;
    std::size_t processes = SIZE_MAX;
};

/// What a resolver has done since it began. Sums.
struct ResolverStats {
    std::uint64_t misses = 0;      ///< taken from the module
    std::uint64_t gone = 0;        ///< of them: the process had ended, or may not be read
    std::uint64_t left_alone = 0;  ///< of them: it or its user's programs kept who looked waiting
    std::uint64_t walks = 0;
    std::uint64_t frames = 0;
    std::array<std::uint64_t, static_cast<std::size_t>(WalkEnd::Count)> ends{};  ///< of walks
    std::uint64_t rows = 0;                                                      ///< taught
    std::uint64_t inherited = 0;  ///< of them: at first sight, for files that others run too
    std::array<std::uint64_t, static_cast<std::size_t>(CannotCause::Count)> causes{};  ///< of rows
    std::uint64_t unopened =
        0;  ///< frames not taught: no descriptor or memory for their process or file
    std::uint64_t failed_reads = 0;  ///< of the module, in passing
    std::uint64_t lessons = 0;       ///< calls of LT_IOC_TEACH
    std::uint64_t stale = 0;         ///< lessons refused: the program had changed or ended
    std::uint64_t full = 0;          ///< lessons refused: max_rows
    std::uint64_t refused = 0;       ///< lessons refused otherwise
    int last_error = 0;              ///< errno of the last of those
    std::size_t files = 0;           ///< held now
    std::size_t processes = 0;       ///< held now
};

class Resolver {
public:
    /// `so_far`: what an earlier one did, to be added to. `watch`: is told which
    /// process it is at; lives longer.
    explicit Resolver(ResolverDoor& door, const ResolverLimits& limits = {},
                      std::string proc = "/proc", const ResolverStats& so_far = {},
                      ResolverWatch* watch = nullptr);

    /// Resolves the misses there are; how many. Throws what the door throws, and counts
    /// PassingErrors. Left behind by its watch, it lets go of the rest at once.
    std::size_t step();

    /// Holds no more than this from now on, and as many fewer descriptors. A file that needs
    /// more by itself is not read where that is less than the limit.
    void hold(const ResolverRoom& room);

    /// Teaches a first row to every process that sleeps under a stack that is
    /// not whole; the module walks its tasks again and misses what it lacks.
    /// Called at the start, and again when some may have been lost. How many
    /// tasks there were.
    std::size_t introduce();

    /// Tries those again whom it could not teach for the moment, and whose time has come. How
    /// many there were.
    std::size_t try_again();
    [[nodiscard]] std::optional<SecondTries::Time> next_try() const { return second_tries_.next(); }

    [[nodiscard]] const ResolverStats& stats() const { return stats_; }

private:
    using ProcessId = ProgramId;
    struct HashProcessId {
        std::size_t operator()(const ProcessId& id) const {
            return std::uint64_t{id.tgid} << 32 | id.exec_id;
        }
    };
    /// Rows by what they are for: pc, and whether it is exact.
    using Lesson = std::map<std::pair<std::uint64_t, std::uint32_t>, PlacedRow>;

    [[nodiscard]] bool left() const { return watch_ != nullptr && watch_->left(); }
    std::vector<lt_miss> ask(std::vector<lt_miss> (ResolverDoor::*what)());
    void resolve(const std::vector<lt_miss>& misses);
    bool resolve_process(const ProcessId& id, const std::vector<lt_miss>& misses,
                         std::size_t& budget);
    [[nodiscard]] std::size_t cost_of(const ProcessCode& process) const;
    /// Of a miss; `left_alone`: there is one, but its user's programs are left alone.
    struct Found {
        ProcessCode* code = nullptr;
        bool left_alone = false;
    };
    [[nodiscard]] bool may_look(const ProcessCode& process) const {
        return watch_ == nullptr || watch_->is_of(process.payer());
    }
    Found find_process(const ProcessId& id, const lt_miss& miss, Lesson& lesson);
    void add_walk(const Walk& walk, const ProcessId& id, Lesson& lesson);
    bool in_doubt(const ProcessId& id, const PlacedRow& placed);
    void try_later(const lt_miss& miss);
    bool teach(const std::vector<lt_miss>& misses, const Lesson& lesson);
    int teach_part(const std::vector<lt_miss>& misses, const std::vector<lt_row>& rows,
                   const std::vector<lt_row_range>& ranges);

    ResolverDoor& door_;
    ResolverLimits limits_;
    std::string proc_;
    CodeFiles files_;
    BoundedCache<ProcessId, ProcessCode, HashProcessId> processes_;
    BoundedCache<std::uint64_t, unsigned> doubts_;  // by address and process
    SecondTries second_tries_;
    ResolverStats stats_;
    ResolverWatch* watch_;
};

}  // namespace lattop
