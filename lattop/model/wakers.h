// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who ended sleeps, in words. Used by the detail pane and the JSON document.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lattop/source/snapshot.h"

namespace lattop {

/// Whether the module was loaded with wakers=1.
bool accounts_wakers(const Header& header);

/// "task", "interrupt" or "hidden"; "unknown" for what a newer module has.
const char* waker_kind(const Waker& waker);

/// "worker 4711", "an interrupt", "a task that is not yours to see"
std::string waker_text(const Waker& waker);

/// The one that ended the longest sleeps first.
std::vector<const Waker*> by_blocked(std::span<const Waker> wakers);

}  // namespace lattop
