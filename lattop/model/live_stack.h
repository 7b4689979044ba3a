// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where a blocked thread stands now, by libunwind, without stopping it and
// without the module, which may tell more where it is loaded. Called by `lattop stack` and, for the
// pane of the live screen, by NameFinder; for `--json --objects`, by wait_objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lattop/model/wait_object.h"
#include "lattop/source/sleep_registers.h"
#include "unwind/live_unwind.h"
#include "unwind/process_code.h"

namespace lattop {

/// The stack of a thread at one moment.
struct LiveStack {
    enum class State {
        Blocked,  ///< walk is its stack: it did not run while it was read
        Runs,     ///< it ran each time it was looked at
        Gone,
        Refused,  ///< /proc does not let this user read it
    };
    State state = State::Gone;
    LiveWalk walk;
    std::string object;  ///< what it waits for: see wait_object.h
};

/// Walks the stack of thread `tid` of the process that `code` is of. Tries a
/// few times where it ran meanwhile, which its switch counts tell. `more` may
/// know bp, `name` what an address is called.
LiveStack live_stack(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                     ProcessCode& code, LiveUnwinder& unwinder, const RegisterReader& more,
                     const NameAddress& name = {});

/// What a thread waits for, without its stack: "" where nothing is known, or where
/// it ran meanwhile.
std::string live_object(const std::string& proc, std::uint32_t pid, std::uint32_t tid,
                        const NameAddress& name = {});

/// Voluntary and other context switches together, from the text of
/// /proc/PID/task/TID/status; nothing where it does not say.
std::optional<std::uint64_t> parse_switches(const std::string& status);

}  // namespace lattop
