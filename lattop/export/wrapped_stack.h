// SPDX-License-Identifier: GPL-2.0-or-later
//
// The frames of a stack as lines of text. Used by batch text, report and chain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/model/format.h"

namespace lattop {

inline constexpr std::size_t kTextColumns = 100;

/// How frames stand below the line of their stack.
inline constexpr std::string_view kStackIndent = "        ";

/// "<label>a < b < c", folded to `columns` between frames; lines behind the
/// first are indented as wide as `label`. "" without frames.
std::string wrapped_stack(std::string_view label, const std::vector<std::string>& frames,
                          Charset charset, std::size_t columns = kTextColumns);

}  // namespace lattop
