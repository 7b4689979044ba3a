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

#include "lattop/live_world.h"
#include "lattop/reasons/reasons.h"
#include "lattop/recording/recording_source.h"
#include "lattop/source/snapshot.h"
#include "lattop/verbs/arguments.h"

namespace lattop {

class Profile {
public:
    /// Reads the recording `input`. One of a single snapshot counts from load
    /// on. Damage is said to standard error. Throws Error.
    static Profile recorded(const std::string& input, const Selection& selection);

    /// This machine: the next `duration`, or, without one, since load or reset.
    static Profile live(const Selection& selection,
                        std::optional<std::chrono::milliseconds> duration);

    [[nodiscard]] const UserStacks& names() const { return *names_; }
    [[nodiscard]] Users& users() const { return *users_; }
    [[nodiscard]] Reasons& reasons() const { return *reasons_; }

    Snapshot snapshot;
    std::string title;              ///< of what machine, when, how long
    std::uint64_t realtime_ns = 0;  ///< at its end

private:
    Profile() = default;

    std::unique_ptr<recording::RecordingSource> recording_;
    std::unique_ptr<Reasons> recorded_reasons_;
    std::unique_ptr<LiveWorld> world_;
    const UserStacks* names_ = nullptr;
    Users* users_ = nullptr;
    Reasons* reasons_ = nullptr;
};

}  // namespace lattop
