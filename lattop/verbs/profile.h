// SPDX-License-Identifier: GPL-2.0-or-later
//
// What report, export and diff work on: the figures of a whole recording, or
// of this machine, as one snapshot with its names.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lattop/live_world.h"
#include "lattop/model/longest_waits.h"
#include "lattop/model/merged_stacks.h"
#include "lattop/model/wait_objects.h"
#include "lattop/output.h"
#include "lattop/recorded_world.h"
#include "lattop/source/snapshot.h"
#include "lattop/verbs/arguments.h"
#include "lattop/verbs/gathering.h"

namespace lattop {

class Profile {
public:
    /// Reads the recording `input`. One of a single snapshot counts from load
    /// on. Damage is said to standard error. Throws Error.
    static Profile recorded(const std::string& input, const Selection& selection);

    /// This machine: the next `duration`, or, without one, since load or reset.
    /// ^C ends the one, or the search for names behind it: see gathering.h.
    /// `wanted`: what will be looked for in it, which may need command lines.
    static Profile live(const Selection& selection, const WantedWaits& wanted,
                        std::optional<std::chrono::milliseconds> duration);

    [[nodiscard]] bool of_recording() const { return recorded_ != nullptr; }
    [[nodiscard]] const UserStacks& names() const { return world().stacks; }
    [[nodiscard]] Users& users() const { return world().users; }
    [[nodiscard]] CgroupNames& cgroups() const { return world().cgroups; }
    [[nodiscard]] Reasons& reasons() const { return world().reasons; }

    Snapshot snapshot;
    std::string title;                      ///< of what machine, when, how long
    std::uint64_t realtime_ns = 0;          ///< at its end
    WantedWaits waits;                      ///< all that the snapshot has are wanted by these
    std::optional<ProcessNames> processes;  ///< also of leaders that are not wanted
    LongestWaits longest;                   ///< of a recording
    WaitObjects objects;                    ///< of the sleeps under way at a recording's end

private:
    Profile() = default;

    void keep(const WantedWaits& wanted) {
        processes.emplace(snapshot);
        keep_wanted(snapshot, wanted, names(), users(), reasons(), cgroups());
        title += wanted_text(wanted);
        waits = wanted;
    }

    [[nodiscard]] World world() const {
        return recorded_ != nullptr ? recorded_->world() : live_->world();
    }

    std::unique_ptr<Gathering> gathering_;  // of live_
    // One of both.
    std::unique_ptr<RecordedWorld> recorded_;
    std::unique_ptr<LiveWorld> live_;
};

/// One document, as `lattop --json` prints; `limit` tasks at most, 0 for all. Takes the snapshot.
/// False when nobody reads any more.
bool write_profile_json(Profile& profile, std::uint32_t limit, const Output& output);

/// A verb's arguments that say which: FILE, which may be the word live, and
/// --duration.
class ProfileInput {
public:
    void declare(Arguments& arguments);

    /// After they were parsed. Throws UsageError.
    void check(std::string_view verb);

    [[nodiscard]] bool live() const { return file_ == "live"; }
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] Profile open(const Selection& selection) const;

    /// For who chooses of all waits himself.
    [[nodiscard]] Profile open(const Selection& selection, const WantedWaits& wanted) const;

private:
    std::string file_, duration_text_;
    std::optional<std::chrono::milliseconds> duration_;
};

}  // namespace lattop
