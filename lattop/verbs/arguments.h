// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line of a verb, or of lattop itself: what it takes, its --help,
// and the filters that mean the same in every verb. Each declares its own and
// parses once. What was declared is a table, which completions are made from.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lattop/model/wanted_waits.h"
#include "lattop/source/source.h"

namespace lattop {

/// Which tasks: -p and -k; which of their sleeps: --filter and --no-idle.
struct Selection {
    std::vector<std::uint32_t> pids;
    bool hide_kernel_threads = false;
    WantedWaits waits;

    /// All of those tasks and all of their traces.
    [[nodiscard]] Query query() const;
};

/// One line of the table.
struct Argument {
    enum class Kind { Flag, Value, Positional, Command };
    Kind kind = Kind::Flag;
    std::vector<std::string> names;    ///< "-p", "--pid"; of others the one in --help
    std::string type;                  ///< "FILE", "PID", "N", ...; "" of flags
    std::string help;                  ///< a line
    std::vector<std::string> choices;  ///< words that may stand there
};

class Arguments {
public:
    using List = std::span<const char* const>;

    /// `verb` as typed, "" for lattop itself; `summary` for its --help.
    /// Without a list to parse it is there for its table: parse() is false.
    Arguments(std::string_view verb, std::string_view summary,
              std::optional<List> list = std::nullopt);
    ~Arguments();
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    void flag(const char* names, bool& to, const char* help);
    /// Choices are named by --help; a word that is none is the caller's to refuse.
    void text(const char* names, const char* type, std::string& to, const char* help,
              std::vector<std::string> choices = {});
    void positional(const char* name, std::string& to, const char* help,
                    std::vector<std::string> choices = {});
    /// -p alone; -p and -k; --filter and --no-idle; all of them.
    void pids(std::vector<std::uint32_t>& to);
    void tasks(Selection& to);
    void waits(WantedWaits& to);
    void selection(Selection& to);
    /// Options of other verbs, "--filter,--no-idle", that this one refuses: why, and what to do
    /// instead.
    void refuse(const char* names, std::string why, std::string hint);
    /// What stands behind the first "--": a command to run.
    void command(std::vector<std::string>& to, const char* help);
    /// -V, and what --help ends with.
    void version(std::string text);
    void footer(std::string text);

    /// False where there is nothing to do: --help or --version was asked for,
    /// and printed, or the table alone is wanted. Throws UsageError.
    [[nodiscard]] bool parse();

    /// The same, with the text that parse() would print.
    [[nodiscard]] bool parse(std::string& print);

    [[nodiscard]] std::span<const Argument> table() const;

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

/// "10", "0.5": seconds above 0, up to 31 days. Throws UsageError, naming `option`.
std::chrono::milliseconds parse_duration(const std::string& text, const char* option);

}  // namespace lattop
