// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line, checked before anything happens. Called by main.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lattop/model/columns.h"

namespace lattop {

struct Options {
    bool batch = false;
    bool json = false;
    std::chrono::milliseconds delay{2000};
    std::optional<std::uint64_t> refreshes;  ///< nothing: until interrupted
    std::vector<std::uint32_t> pids;         ///< pids or tgids; empty: all
    std::optional<std::uint32_t> limit;      ///< 0: all; nothing: the command's own
    Column sort = Column::Blocked;
    bool hide_kernel_threads = false;
    bool learn = true;        ///< teach the module to walk user stacks meanwhile
    std::string source_file;  ///< saved snapshots instead of the module; "" for none
};

inline constexpr std::chrono::milliseconds kMinDelay{100};
inline constexpr std::chrono::milliseconds kMaxDelay{3'600'000};

/// What the command line says, or the text to print instead (--help,
/// --version).
struct CommandLine {
    Options options;
    std::optional<std::string> print;
};

/// Throws UsageError, saying what is wrong and what would be right.
CommandLine parse_command_line(int argc, const char* const* argv);

/// "2", "0.5": seconds, between kMinDelay and kMaxDelay. Throws UsageError.
std::chrono::milliseconds parse_delay(const std::string& text);

}  // namespace lattop
