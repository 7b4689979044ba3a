// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop chain FILE|live`: what a wait waited for, waker by waker.
#pragma once

#include "lattop/verbs/arguments.h"

namespace lattop {

/// The verb. Its exit status.
int chain_command(Arguments& arguments);

}  // namespace lattop
