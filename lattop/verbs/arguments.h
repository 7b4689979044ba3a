// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line of a verb: what it takes, its --help, and the filters that
// mean the same in every verb. Each verb declares its own and parses once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/source/source.h"

namespace lattop {

/// Which tasks: -p and -k.
struct Selection {
    std::vector<std::uint32_t> pids;
    bool hide_kernel_threads = false;

    /// All of those tasks and all of their traces.
    [[nodiscard]] Query query() const;
};

class Arguments {
public:
    using List = std::span<const char* const>;

    /// `verb` as typed, `summary` for its --help.
    Arguments(std::string_view verb, std::string_view summary);
    ~Arguments();
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    void flag(const char* names, bool& to, const char* help);
    void text(const char* names, const char* type, std::string& to, const char* help);
    void positional(const char* name, std::string& to, const char* help);
    void selection(Selection& to);

    /// False where --help was asked for, and printed. Throws UsageError.
    [[nodiscard]] bool parse(List arguments);

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

/// What stands behind the first "--", a command to run; the rest is left in
/// `arguments`. Nothing where there is no "--".
std::optional<std::vector<std::string>> take_command(Arguments::List& arguments);

/// "10", "0.5": seconds above 0, up to 31 days. Throws UsageError, naming `option`.
std::chrono::milliseconds parse_duration(const std::string& text, const char* option);

}  // namespace lattop
