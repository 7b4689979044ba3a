// SPDX-License-Identifier: GPL-2.0-or-later
//
// The seam between whoever records what sleeps wait for and whoever finds it, beside the
// snapshots. Asked by record, run and `--json --objects`; ObjectWorker is the real one.
#pragma once

#include <chrono>
#include <vector>

#include "lattop/model/sleep_objects.h"

namespace lattop {

class ObjectFinder {
public:
    ObjectFinder() = default;
    ObjectFinder(const ObjectFinder&) = delete;
    ObjectFinder& operator=(const ObjectFinder&) = delete;
    virtual ~ObjectFinder() = default;

    /// Asks for some of those that sleep in `snapshot`, which was just taken. Does not wait.
    virtual void want(const Snapshot& snapshot) = 0;

    /// What was found since the last call. Does not wait.
    virtual std::vector<FoundObjects> take() = 0;

    /// The same, once all that was asked for is found, or that time is over.
    virtual std::vector<FoundObjects> wait(std::chrono::milliseconds patience) = 0;
};

/// How long the last snapshot's objects are waited for.
inline constexpr std::chrono::milliseconds kObjectsPatience{1000};

}  // namespace lattop
