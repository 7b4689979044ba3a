// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the table of reasons comes from: the one that is compiled in, and a
// file of the user's that is tried before it. Called by main, and by tests.
#pragma once

#include <string>

#include "lattop/reasons/table.h"

namespace lattop {

/// lattop's own table.
ReasonTable built_in_reasons();

/// The text it is made of: reasons.conf.
std::string_view built_in_reasons_text();

/// Where the user's own lines are: $XDG_CONFIG_HOME/lattop/reasons.conf, with
/// ~/.config where that is not set; "" where there is no home.
std::string user_reasons_path();

/// The lines of the file at `path`, where there is one, before lattop's own.
/// Throws Error where it cannot be read or understood.
ReasonTable load_reasons(const std::string& path);

/// What a program of the user's goes by: load_reasons(user_reasons_path()).
ReasonTable load_user_reasons();

}  // namespace lattop
