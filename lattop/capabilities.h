// SPDX-License-Identifier: GPL-2.0-or-later
//
// Capabilities of this thread, capabilities(7). Used by least_privilege.cc.
#pragma once

#include <linux/capability.h>

#include <cstdint>

namespace lattop {

/// One bit for each, by its number, as in /proc/PID/status.
using CapabilitySet = std::uint64_t;

constexpr CapabilitySet capability_bit(int capability) {
    return CapabilitySet{1} << capability;
}

/// Drops all but `wanted` from what this thread could still get by an exec, for good. Only who has
/// CAP_SETPCAP may; for others no_new_privs says the same.
void narrow_bounding_set(CapabilitySet wanted);

/// Drops all but `wanted` from this thread's five sets, for good; none are left
/// to be inherited. Which of `wanted` it has, in effect from now on. Throws
/// std::system_error.
CapabilitySet keep_capabilities(CapabilitySet wanted);

}  // namespace lattop
