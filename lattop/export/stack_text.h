// SPDX-License-Identifier: GPL-2.0-or-later
//
// Merged stacks as text for people: the worst ones, with their figures. For
// `lattop report` and `lattop run`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "lattop/model/format.h"
#include "lattop/model/merged_stacks.h"

namespace lattop {

/// The first `limit` stacks (0: all): a line of figures each and, below it,
/// its frames, innermost first, and who ended its sleeps, by name.
std::string stacks_text(std::span<const MergedStack> stacks, std::size_t limit, Charset charset);

/// "a < b < c", innermost first, folded and indented to stand below the line of
/// a stack.
std::string frames_text(const MergedStack& stack, Charset charset);

}  // namespace lattop
