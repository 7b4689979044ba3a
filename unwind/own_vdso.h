// SPDX-License-Identifier: GPL-2.0-or-later
//
// The vdso of this very process, whole: every 64-bit process on this kernel has the same, unless
// it changed its own. Used by the symbolizer and ProcessCode.
#pragma once

#include <span>

namespace lattop {

/// All its pages; empty where there is none.
std::span<const char> own_vdso();

}  // namespace lattop
