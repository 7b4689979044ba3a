// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop replay FILE`: the live table over a recording, with keys to go back
// and on in time.
#pragma once

#include "lattop/verbs/arguments.h"

namespace lattop {

/// The verb. Its exit status.
int replay_command(Arguments& arguments);

}  // namespace lattop
