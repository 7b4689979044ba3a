// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop record`: snapshots and names into a file, until the time is over, a
// signal asks to end, or the command given has ended.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lattop/batch.h"
#include "lattop/recording/writer.h"
#include "lattop/verbs/arguments.h"

namespace lattop {

struct RecordPlan {
    Selection selection;
    std::chrono::milliseconds delay{1000};
    std::optional<std::chrono::milliseconds> duration{};  ///< nothing: until asked to end
};

/// Waits until the time given at most; true when asked to end.
using WaitForEnd = std::function<bool(Clock::Time)>;

/// Called after each snapshot; after the first one, a command to be recorded
/// may begin.
using Progress = std::function<void(const recording::Writer&)>;

/// Records, the last snapshot at the very end. Says where a read fails in passing, and goes on.
/// Throws Error, NoModuleError where the module is unloaded meanwhile: what was written until
/// then is a whole recording.
void record(const RecordPlan& plan, World world, recording::Writer& writer, const WaitForEnd& wait,
            const Progress& progress);

/// What a recording says about itself; `command` may be empty.
recording::Info recording_info(const std::vector<std::string>& command);

/// The verb. Its exit status.
int record_command(Arguments& arguments);

}  // namespace lattop
