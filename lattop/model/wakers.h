// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who ended sleeps, in words and added up. Used by the detail pane, the JSON
// document, periods, chains and text.
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

void append_pointers(std::vector<const Waker*>& to, std::span<const Waker> wakers);

/// The one that ended the longest sleeps first.
std::vector<const Waker*> by_blocked(std::span<const Waker> wakers);

/// What tells wakers of one entry apart, as far as a reader can.
struct WakerId {
    std::uint32_t kind = LT_WAKER_TASK;
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;
    std::uint64_t start_ns = 0;
    std::uint32_t exec_id = 0;
    TraceIndex trace = kOtherTrace;
    TraceIndex waited_trace = kOtherTrace;

    bool operator==(const WakerId&) const = default;
};

struct HashWakerId {
    std::size_t operator()(const WakerId& id) const;
};

WakerId waker_id(const Waker& waker);

/// Wakers that are shown as one: threads of one process that woke from one
/// place, or all of one name.
struct WakerSum {
    const Waker* worst = nullptr;  ///< of them, the one that ended the longest sleeps
    std::uint64_t blocked_ns = 0;
    double share = 0;  ///< of what all of them ended
    std::uint64_t sleeps = 0;
    std::uint64_t waited_ns = 0;  ///< of blocked_ns, in the waker's last sleep before
    std::size_t tasks = 0;
};

/// Whether those that had slept in different places before are one.
enum class Waits { Together, Apart };

/// Most blocked time first. Points into the wakers.
std::vector<WakerSum> sum_wakers(std::span<const Waker* const> wakers, Waits waits);

/// The same over places, and over all tasks of one name: of many short-lived
/// programs as one.
std::vector<WakerSum> sum_wakers_by_name(std::span<const Waker* const> wakers);

/// "worker 4711", "worker 4711 and 3 more of its threads"
std::string waker_text(const WakerSum& sum);

}  // namespace lattop
