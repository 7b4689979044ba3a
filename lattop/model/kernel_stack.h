// SPDX-License-Identifier: GPL-2.0-or-later
//
// The function of a kernel stack that tells most about what the task waits for.
// What that is in words is said by lattop/reasons. Used by the table, the detail
// pane and the exports.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lattop/source/snapshot.h"

namespace lattop {

/// The name without what the compiler added (".constprop.0", ".isra.3"):
/// a view of `name`.
std::string_view plain_name(std::string_view name);

/// Those of a trace, innermost first: views into the snapshot.
std::vector<std::string_view> kernel_functions(const Snapshot& snapshot, const Trace& trace);

/// Index of the innermost frame that says what is waited for, behind the
/// scheduler's and the general waiting functions; of the outermost frame where
/// all are such; nothing for an empty stack.
std::optional<std::size_t> telling_frame(std::span<const KernelFrame> frames);

}  // namespace lattop
