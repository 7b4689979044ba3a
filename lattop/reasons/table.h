// SPDX-License-Identifier: GPL-2.0-or-later
//
// The table of reasons as data: reasons.conf, parsed, and the decision it makes
// for one stack. Pure: files are read by load.h, results kept by reasons.h.
// The format is described at the top of reasons.conf.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lattop {

/// What a sleep waits for, in words.
struct Reason {
    std::string name;     ///< "futex"; a kernel function where no line knows it
    bool idle = false;    ///< waiting for work, not for something to be done
    std::string decided;  ///< "reasons.conf:12"; "" where no line decided
};

/// Functions on a stack, innermost first, without offsets and parameters.
struct FunctionStack {
    std::vector<std::string_view> kernel;
    std::vector<std::string_view> user;  ///< empty where not known (yet)
};

class ReasonTable {
public:
    /// Appends the lines of a file behind those that are there, which are so
    /// tried first. Throws Error: "FILE:LINE: what is wrong", with what to do.
    void append(std::string_view text, const std::string& file);

    /// The line that decides for a stack, or nullptr. Valid as long as the
    /// table, which then does not change any more.
    [[nodiscard]] const Reason* decide(const FunctionStack& stack) const;

    /// Whether a line could decide otherwise if the user part had names.
    [[nodiscard]] bool asks_for_user(std::span<const std::string_view> kernel) const;

    [[nodiscard]] std::size_t lines() const { return rules_.size(); }

private:
    struct Pattern {
        std::string glob;
        bool user = false;
    };
    using Chain = std::vector<Pattern>;  // each called by a later one
    struct Rule {
        Reason reason;
        std::size_t section = 0;
        std::vector<Chain> chains;
    };

    static Chain parse_chain(std::string_view text, const std::string& where);
    static Rule parse_rule(std::string_view line, const std::string& where);
    static bool called_by(const Chain& chain, const FunctionStack& stack, std::size_t at);
    [[nodiscard]] const Reason* decide_in(std::span<const Rule> section,
                                          const FunctionStack& stack) const;

    std::vector<Rule> rules_;  // sections one after the other
    std::size_t sections_ = 0;
};

/// Whether a name is of the form that `glob` says: '*' is any text.
bool glob_matches(std::string_view glob, std::string_view name);

}  // namespace lattop
