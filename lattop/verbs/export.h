// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop export FILE|live --format FORMAT`: the figures of a recording, or of
// this machine, for other tools.
#pragma once

#include "lattop/verbs/arguments.h"

namespace lattop {

/// The verb. Its exit status.
int export_command(Arguments& arguments);

}  // namespace lattop
