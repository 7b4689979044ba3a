// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop report FILE`: a whole recording as text, or as one JSON document.
#pragma once

#include <string>

#include "lattop/model/format.h"
#include "lattop/model/longest_waits.h"
#include "lattop/verbs/arguments.h"
#include "lattop/verbs/profile.h"

namespace lattop {

struct ReportOptions {
    std::uint32_t tasks = 20;   ///< 0: all
    std::uint32_t stacks = 10;  ///< 0: all
};

/// The tasks with their worst stacks, then the worst stacks over all tasks of
/// each process. `processes` are those before tasks were left out; nullptr: of
/// the snapshot. `waits`: what their longest sleeps waited for; nullptr: not known.
std::string report_text(const Snapshot& snapshot, const UserStacks& names, Users& users,
                        Reasons& reasons, const std::string& clock, const ReportOptions& options,
                        Charset charset, const ProcessNames* processes = nullptr,
                        const LongestWaits* waits = nullptr);

/// The verb. Its exit status.
int report_command(Arguments& arguments);

}  // namespace lattop
