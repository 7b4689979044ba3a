// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a wait waited for, step by step: who ended it, what that one had waited
// for itself meanwhile, who ended that, and so on. Used by `lattop chain`.
//
// Each step is exact by itself: of the time that a task was blocked until
// somebody woke it, the module counts how much the waker's last sleep took, and
// where that was. A waker that napped many times meanwhile has one nap counted;
// the chain goes on there all the same if it sleeps there most of the time.
// From one step to the next it is the sum over all sleeps of the waker there,
// which others may have waited for as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lattop/model/rows.h"
#include "lattop/model/user_stacks.h"
#include "lattop/model/wakers.h"
#include "lattop/reasons/reasons.h"
#include "lattop/source/snapshot.h"

namespace lattop {

struct ChainStep {
    const Task* task = nullptr;
    const Entry* entry = nullptr;
    std::vector<WakerSum> wakers;  ///< most blocked time first: the chain goes on there
};

enum class ChainEnd {
    Unwoken,    ///< nobody is known to have ended a sleep there
    Interrupt,  ///< a timer's, a device's, another CPU's
    Hidden,     ///< a task that is not shown
    Ran,        ///< the waker's last sleep was short: it ran, or waited for a CPU, or slept before
    NotShown,   ///< the waker's own sleeps are not in the snapshot
    Again,      ///< the waker had waited in a place that the chain has been at
    Deep,       ///< at kMaxChainSteps
};

inline constexpr std::size_t kMaxChainSteps = 32;

struct Chain {
    std::vector<ChainStep> steps;  ///< at least the first
    ChainEnd end = ChainEnd::Unwoken;
    std::size_t again = 0;  ///< Again: which step, from 0
};

/// From a wait on. Points into the snapshot.
Chain follow_chain(const Snapshot& snapshot, const Task& task, const Entry& entry);

/// Which wait to begin with.
struct ChainStart {
    std::uint32_t pid = 0;   ///< of a task, or of a process: any of its threads; 0: any task
    std::string function{};  ///< part of a function's name on the stack; "": any stack
    WantedWaits waits{};     ///< those alone; the chain goes on wherever it leads
};

/// nullptr, both: there is none.
struct FoundWait {
    const Task* task = nullptr;
    const Entry* entry = nullptr;
};

/// The wait that blocked longest and was not for work, if there is one; for a
/// pid, a function or a filter one for work, too, unless these are hidden.
FoundWait find_wait(const KnownBy& known, const ChainStart& start, Reasons& reasons);

}  // namespace lattop
