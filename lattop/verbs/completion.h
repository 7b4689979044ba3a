// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command `lattop completion SHELL`: what a shell completes lattop's
// command line by, made from the tables that --help is made from. Run by the
// build, too, for make install.
#pragma once

#include <span>
#include <string>

#include "lattop/commands.h"

namespace lattop {

/// A script for bash, zsh or fish. Throws UsageError for others.
std::string completion_script(const std::string& shell, std::span<const CommandTable> tables);

}  // namespace lattop
