// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names as their author wrote them. Called once for each symbol shown.
#pragma once

#include <string>

namespace lattop {

/// The name of a C++ or Rust symbol, with its parameters; the name itself where it
/// is neither, or would be too long. Of one of more than 8192 bytes the beginning:
/// each frame that shows it keeps a copy.
std::string demangle(const std::string& name);

}  // namespace lattop
