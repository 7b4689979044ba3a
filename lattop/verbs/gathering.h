// SPDX-License-Identifier: GPL-2.0-or-later
//
// What signals that ask to end do to a verb that gathers figures of this machine for a
// while: the first one ends the gathering, not the verb, which then writes what it has
// seen; the next one ends it at once. One that comes while names are looked for behind
// that ends this alone. Used by Profile::live().
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "lattop/end_signals.h"
#include "lattop/model/stoppable_namer.h"

namespace lattop {

class Gathering {
public:
    /// To be made before any thread. Signals end this process until begin().
    Gathering() = default;

    /// For a namer; asked by the thread that this is used by. This outlives it.
    StopNaming stop_naming();

    /// When the threads are there.
    void let_signals_end() { signals_.let_through(); }

    /// From now on until finish() a signal ends no more than what goes on.
    /// Names are not waited for beyond `until`.
    void begin(Clock::Time until);

    /// Waits until then, or for a signal, which may have come since begin().
    void wait();

    /// What was gathered is to be named and written, with signals as they are now: after one
    /// that came before, names are waited for a few seconds more.
    void finish();

private:
    EndSignals signals_;
    bool under_way_ = false;
    bool ended_ = false;  // by a signal
    Clock::Time until_;
    std::optional<Clock::Time> names_until_;
};

}  // namespace lattop
