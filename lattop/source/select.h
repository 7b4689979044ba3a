// SPDX-License-Identifier: GPL-2.0-or-later
//
// A query applied to a snapshot in user space, as the module would have: for
// sources that hold whole snapshots (recordings, fakes in tests).
#pragma once

#include "lattop/source/source.h"

namespace lattop {

/// Keeps the tasks that `query` asks for, in its order, up to its limit, and
/// of each the entries it asks for.
void apply_query(Snapshot& snapshot, const Query& query);

}  // namespace lattop
