// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a kernel stack says in one word: the function that tells what the task
// waits for, and the kind of wait. Used by the table, the detail pane and the
// exports.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lattop/source/snapshot.h"

namespace lattop {

/// The name without what the compiler added (".constprop.0", ".isra.3"):
/// a view of `name`.
std::string_view plain_name(std::string_view name);

/// Index of the innermost frame that says what is waited for, behind the
/// scheduler's and the general waiting functions; of the outermost frame where
/// all are such; nothing for an empty stack.
std::optional<std::size_t> telling_frame(std::span<const KernelFrame> frames);

/// The kind of wait: "futex", "sleep", "epoll", "pipe", "disk"…; the name of
/// the telling function where no kind is known; "other" for an empty stack.
std::string wait_reason(std::span<const KernelFrame> frames);

}  // namespace lattop
