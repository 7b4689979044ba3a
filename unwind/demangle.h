// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names as their author wrote them. Called once for each symbol shown.
#pragma once

#include <string>

namespace lattop {

/// The name of a C++ or Rust symbol, with its parameters; the name itself where it
/// is neither, or would be too long. Of one of more than 8192 bytes the beginning:
/// each frame that shows it keeps a copy.
///
/// In a hostile C++ name the library looks for the parameter packs of its parts, which may stand
/// for each other: that may take for ever. So who calls this bounds its time, as image readers do.
std::string demangle(const std::string& name);

/// The same where nobody bounds the time: a C++ name whose parts stand for others (S_, T_) stays
/// as it is.
std::string demangle_at_once(const std::string& name);

}  // namespace lattop
