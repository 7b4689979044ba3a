// SPDX-License-Identifier: GPL-2.0-or-later
//
// The saved user registers of sleeping threads, from the module. /proc tells pc
// and sp of a thread in a system call; bp, by which code with a frame pointer,
// alloca or a variable-length array finds its caller, only the module does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "module/uapi/lattop.h"

namespace lattop {

/// The registers of thread `tid`, where it is asleep and they may be had.
using RegisterReader = std::function<std::optional<lt_regs>(std::uint32_t tid)>;

/// Asks the module behind `path`. While there is none, or where it does not tell
/// this user, the reader gives nothing.
RegisterReader module_registers(const std::string& path = LT_PROC_PATH);

}  // namespace lattop
