// SPDX-License-Identifier: GPL-2.0-or-later
//
// The commands that are words: `lattop record`, `lattop stack PID` and so on,
// one table of them. Called by main before it takes the command line for the
// live table's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/verbs/arguments.h"

namespace lattop {

/// Of lattop itself, in its --help.
inline constexpr const char* kSummary =
    "Where tasks block, and for how long: top for blocked time.";

/// Runs the command that the first argument names; its exit status. Nothing
/// where it names none. Throws UsageError, and what the command throws.
std::optional<int> run_command(Arguments::List arguments);

/// What lattop's own --help ends with: every command, a line each.
std::string commands_help();

/// A command's own line, and what it takes; of lattop itself "".
struct CommandTable {
    std::string_view name;
    std::string_view summary;
    std::vector<Argument> arguments;
};

/// lattop itself first, then the commands in the order of their names.
std::vector<CommandTable> command_tables();

}  // namespace lattop
