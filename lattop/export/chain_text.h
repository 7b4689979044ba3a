// SPDX-License-Identifier: GPL-2.0-or-later
//
// A chain of waits as text. For `lattop chain`.
#pragma once

#include <string>

#include "lattop/model/chain.h"
#include "lattop/model/format.h"

namespace lattop {

/// A numbered paragraph a step, most of its wakers on a line each, and how the chain ends.
std::string chain_text(const Snapshot& snapshot, const Chain& chain, const UserStacks& names,
                       Reasons& reasons, Charset charset);

}  // namespace lattop
