// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop` itself: live table, -b and --json, over the module or over a
// recording. Opens what the options need and runs it. Called by main and by
// `lattop replay`.
#pragma once

#include "lattop/options.h"

namespace lattop {

/// Throws Error.
void run_top(Options options);

}  // namespace lattop
