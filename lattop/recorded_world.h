// SPDX-License-Identifier: GPL-2.0-or-later
//
// A recording as commands use it: its snapshots and names, and this user's
// reasons. What LiveWorld is for this machine.
#pragma once

#include <functional>
#include <string>

#include "lattop/batch.h"
#include "lattop/recording/recording_source.h"

namespace lattop {

class RecordedWorld {
public:
    /// Opens the recording at `path`. Damage is said to standard error. Throws
    /// Error.
    explicit RecordedWorld(const std::string& path);

    /// Gives all snapshots that are still to come; where that takes long, how far it is is said.
    void take_all(const Query& query, const std::function<void(Snapshot)>& use);

    /// Says how many stacks had no room for names, and sleepers for objects. Known at the
    /// recording's end.
    void complain_of_unnamed();

    [[nodiscard]] recording::RecordingSource& source() { return source_; }
    [[nodiscard]] recording::Reader& reader() { return source_.reader(); }
    [[nodiscard]] World world() {
        recording::RecordedNames& names = reader().names();
        return {source_, names, names, names, clock_, learning_, reasons_};
    }

private:
    std::string path_;
    recording::RecordingSource source_;
    SystemClock clock_;
    NoLearning learning_;
    Reasons reasons_;
};

}  // namespace lattop
