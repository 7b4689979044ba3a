// SPDX-License-Identifier: GPL-2.0-or-later
//
// The user's own files, below $XDG_CONFIG_HOME/lattop: reasons.conf,
// columns.conf and screen.conf.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lattop {

/// Where the file `name` of the user's is, with ~/.config where
/// XDG_CONFIG_HOME is not set; "" where there is no home.
std::string user_config_path(const std::string& name);

/// What stands in it; nothing where there is none. Throws Error where it cannot
/// be read.
std::optional<std::string> read_user_config(const std::string& path);

/// Writes it whole, makes its folder where there is none, or throws Error.
void write_user_config(const std::string& path, std::string_view text);

}  // namespace lattop
