// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop diff A B`: what got slower from one recording to another, by stack.
#pragma once

#include <string>
#include <vector>

#include "lattop/model/format.h"
#include "lattop/model/merged_stacks.h"
#include "lattop/verbs/arguments.h"

namespace lattop {

/// A stack of either recording, per second of each.
struct StackChange {
    MergedStack stack;                           ///< of B, or of A where B has none
    double before_ns = 0, after_ns = 0;          ///< blocked, a second
    double before_sleeps = 0, after_sleeps = 0;  ///< begun, a second
};

/// The stacks of both by what they changed, the largest growth first. Stacks
/// are the same where their names are, so that the programs may have been
/// restarted, or be on two machines.
std::vector<StackChange> diff_stacks(const std::vector<MergedStack>& before, double before_seconds,
                                     const std::vector<MergedStack>& after, double after_seconds);

/// The `limit` stacks (0: all) that grew most, then as many that shrank most.
std::string diff_text(const std::vector<StackChange>& changes, std::size_t limit, Charset charset);

/// The verb. Its exit status.
int diff_command(Arguments& arguments);

}  // namespace lattop
