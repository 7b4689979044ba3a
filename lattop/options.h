// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line, checked before anything happens. Called by main.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lattop/model/rows.h"
#include "lattop/verbs/arguments.h"

namespace lattop {

struct Options {
    bool batch = false;
    bool json = false;
    bool objects = false;        ///< JSON says what exactly tasks wait for
    bool command_lines = false;  ///< and which command lines they have
    std::chrono::milliseconds delay{2000};
    std::optional<std::uint64_t> refreshes;  ///< nothing: until interrupted
    Selection selection;
    std::optional<std::uint32_t> limit;  ///< 0: all; nothing: the command's own
    Column sort = Column::Blocked;
    bool learn = true;  ///< teach the module to walk user stacks meanwhile
    bool mouse = true;
    std::string columns_file;  ///< where the columns chosen are kept; "" for nowhere
    std::string screen_file;   ///< the same of what the live table showed last
    std::string input;         ///< a recording instead of the module; "" for none
    bool delay_given = false;
    bool sort_given = false;
};

inline constexpr std::chrono::milliseconds kMinDelay{100};
inline constexpr std::chrono::milliseconds kMaxDelay{3'600'000};

/// The rows that they ask for, of tasks.
RowOptions row_options(const Options& options);

/// What the command line says, or the text to print instead (--help,
/// --version).
struct CommandLine {
    Options options;
    std::optional<std::string> print;
};

/// Of `arguments`, those of lattop itself. Throws UsageError, saying what is
/// wrong and what would be right.
CommandLine parse_command_line(Arguments& arguments);

/// "2", "0.5": seconds, between kMinDelay and kMaxDelay. Throws UsageError.
std::chrono::milliseconds parse_delay(const std::string& text);

/// "1,2": what each element of `lists` names. Throws UsageError.
std::vector<std::uint32_t> parse_pids(const std::vector<std::string>& lists);

/// A whole decimal number from `least` to `most`; `option` is for the message
/// of the UsageError that anything else is.
std::uint64_t parse_number(const std::string& text, const char* option, std::uint64_t least,
                           std::uint64_t most);

/// 1 to Linux's PID_MAX_LIMIT. Throws UsageError, naming `option`.
std::uint32_t parse_pid(const std::string& text, const char* option);

/// The value of an option that limits how many are shown; 0 is all.
std::uint32_t parse_limit(const std::string& text, const char* option);

/// As -s takes it. Throws UsageError.
Column parse_sort(const std::string& name);

/// What -s takes.
std::vector<std::string> sort_columns();

}  // namespace lattop
