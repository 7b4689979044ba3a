// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names as their author wrote them. Called once for each symbol shown.
#pragma once

#include <string>

namespace lattop {

/// The name of a C++ or Rust symbol, with its parameters; the
/// name itself where it is neither, or too long to be worth it.
std::string demangle(const std::string& name);

}  // namespace lattop
