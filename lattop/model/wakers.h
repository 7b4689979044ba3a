// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who ended sleeps, in words. Used by the detail pane and the JSON document.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// Threads of one process that woke from one place.
struct WakerSum {
    const Waker* worst = nullptr;  ///< of them, the one that ended the longest sleeps
    std::uint64_t blocked_ns = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t waited_ns = 0;  ///< of blocked_ns, in the waker's last sleep before
    std::size_t tasks = 0;
};

/// Whether those that had slept in different places before are one.
enum class Waits { Together, Apart };

/// Most blocked time first. Points into the wakers.
std::vector<WakerSum> sum_wakers(std::span<const Waker* const> wakers, Waits waits);

/// "worker 4711", "worker 4711 and 3 more of its threads"
std::string waker_text(const WakerSum& sum);

}  // namespace lattop
