// SPDX-License-Identifier: GPL-2.0-or-later
//
// The commands `lattop -b` and `lattop --json`. Called by main.
#pragma once

#include <cstdint>
#include <span>

#include "lattop/clock.h"
#include "lattop/model/cgroup_names.h"
#include "lattop/model/format.h"
#include "lattop/model/learning.h"
#include "lattop/model/object_finder.h"
#include "lattop/model/user_stacks.h"
#include "lattop/model/users.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/reasons/reasons.h"
#include "lattop/source/source.h"

namespace lattop {

/// What a command works with; all of it outlives the command.
struct World {
    Source& source;
    UserStacks& stacks;
    Users& users;
    CgroupNames& cgroups;
    Clock& clock;
    const Learning& learning;
    Reasons& reasons;
    ObjectFinder* objects = nullptr;  ///< of sleeps; nullptr where nobody asks for them
};

/// Waits for the names of users that were asked for, as long as `patience` says. Says
/// how many are numbers, and false, where the system does not give them.
bool wait_for_users(Users& users, std::chrono::milliseconds patience = kUsersPatience);

/// Says whose names are not waited for, as their memory or files do not answer; nothing for nobody.
void complain_of_silent(std::span<const std::uint32_t> pids);

/// Likewise, whose names nobody looks for at the moment.
void complain_of_put_off(std::span<const std::uint32_t> pids);

/// Prints refreshes until there were as many as asked for, the source has no
/// more, or nobody reads. Throws Error.
void run_batch(const Options& options, World world, Charset charset, const Output& output);

}  // namespace lattop
