// SPDX-License-Identifier: GPL-2.0-or-later
//
// `lattop doctor`: why something of lattop does not work here, and what to do.
// Looks and changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lattop/source/snapshot.h"
#include "lattop/verbs/arguments.h"
#include "lattop/verbs/machine_files.h"

namespace lattop {

struct Finding {
    enum class Level {
        Fine,
        Note,     ///< works, with something missing
        Problem,  ///< does not work
    };
    Level level = Level::Fine;
    std::string text;
    std::string advice{};  ///< what to do; "" for nothing
};

/// The machine that is looked at; tests make one up.
struct Machine {
    const MachineFiles& files;              ///< of /proc, /sys and /lib/modules
    std::function<Header()> ask_module;     ///< throws Error
    std::function<void()> follow_children;  ///< throws Error where it may not
    std::function<void()> filter_readers;   ///< throws Error where image readers have no filter
};

/// Every check, in an order in which the first problem is to be solved first.
std::vector<Finding> examine(const Machine& machine);

/// A line a finding, advice below it.
std::string findings_text(const std::vector<Finding>& findings);

/// The verb: 0 where there is no problem, else 1.
int doctor_command(Arguments& arguments);

}  // namespace lattop
