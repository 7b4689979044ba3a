// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who ended the sleeps in a stack, as lines below it. Used by batch text and by
// the stacks of report and run.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "lattop/model/format.h"
#include "lattop/model/wakers.h"

namespace lattop {

inline constexpr std::size_t kWakersInText = 3;

/// A line each for the first few, indented, with `who` says of them, and one for the
/// rest; "" where no wakers are known.
std::string woken_text(std::span<const WakerSum> sums,
                       const std::function<std::string(const WakerSum&)>& who, Charset charset);

}  // namespace lattop
