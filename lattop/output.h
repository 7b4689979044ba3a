// SPDX-License-Identifier: GPL-2.0-or-later
//
// Standard output and standard error of the commands.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lattop/model/format.h"

namespace lattop {

/// Writes all of it; false when nobody reads any more. Throws Error.
using Output = std::function<bool(std::string_view)>;

/// Writes to standard output; false when its reader has gone. Throws Error.
bool write_output(std::string_view text);

/// What the locale can show.
Charset locale_charset();

/// A line to standard error: "lattop: ...", safe to print.
void complain(const std::string& text);

}  // namespace lattop
