// SPDX-License-Identifier: GPL-2.0-or-later
//
// See table.h.
#include "lattop/reasons/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "lattop/source/error.h"

namespace lattop {
namespace {

constexpr std::size_t kMaxName = 16;  // what the narrowest column for it may have to hold
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kUserMark = "user:";
constexpr std::string_view kIdleMark = "(idle)";
constexpr const char* kFormatHint = "the file's format is described at the top of reasons.conf";

std::string_view trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(kBlanks);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

/// Takes the text up to `end` off the front of `rest`, and `end` with it.
std::string_view take_until(std::string_view& rest, char end) {
    const std::size_t at = rest.find(end);
    const std::string_view taken = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    return taken;
}

/// Takes the next word.
std::string_view take_word(std::string_view& rest) {
    rest = trimmed(rest);
    const std::size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
    throw Error(where + ": " + what, kFormatHint);
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view name) {
    std::size_t g = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;  // the last '*' met
    std::size_t taken = 0;                      // where what it stands for may end
    while (n < name.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            taken = n;
        } else if (g < glob.size() && glob[g] == name[n]) {
            ++g;
            ++n;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    return std::all_of(glob.begin() + static_cast<std::ptrdiff_t>(g), glob.end(),
                       [](char c) { return c == '*'; });
}

ReasonTable::Chain ReasonTable::parse_chain(std::string_view text, const std::string& where) {
    Chain chain;
    for (std::string_view rest = text; !rest.empty() || chain.empty();) {
        std::string_view name = take_until(rest, '<');
        const bool user = name.starts_with(kUserMark);
        if (user) name.remove_prefix(kUserMark.size());
        if (name.empty()) refuse(where, fmt::format("'{}' lacks the name of a function", text));
        if (user && chain.empty())
            refuse(where, fmt::format("'{}' begins with a user function: write *<{}", text, text));
        if (!user && !chain.empty() && chain.back().user)
            refuse(where, fmt::format("'{}' has a user function called by a kernel function: "
                                      "callers stand to the right",
                                      text));
        chain.push_back({std::string(name), user});
    }
    if (text.ends_with('<')) refuse(where, fmt::format("'{}' ends with '<'", text));
    return chain;
}

ReasonTable::Rule ReasonTable::parse_rule(std::string_view line, const std::string& where) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
        refuse(where, fmt::format("'{}' is not understood: write REASON: FUNCTION...", line));
    Rule rule;
    std::string_view name = trimmed(line.substr(0, colon));
    if (name.ends_with(kIdleMark)) {
        rule.reason.idle = true;
        name = trimmed(name.substr(0, name.size() - kIdleMark.size()));
    }
    if (name.empty() || name.size() > kMaxName)
        refuse(where, fmt::format("'{}': a reason has 1 to {} characters", name, kMaxName));
    if (name.find_first_of("()<*") != std::string_view::npos)
        refuse(where, fmt::format("'{}' is no reason: before the colon stands its name, and (idle) "
                                  "where it is waiting for work",
                                  name));
    rule.reason.name = name;
    rule.reason.decided = where;
    std::string_view rest = line.substr(colon + 1);
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest))
        rule.chains.push_back(parse_chain(word, where));
    if (rule.chains.empty())
        refuse(where, fmt::format("'{}' has no function behind the colon", name));
    return rule;
}

void ReasonTable::append(std::string_view text, const std::string& file) {
    ++sections_;
    std::size_t number = 0;
    while (!text.empty()) {
        std::string_view line = take_until(text, '\n');
        ++number;
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        const std::string where = fmt::format("{}:{}", file, number);
        if (line.front() == '[') {
            if (line.size() < 3 || line.back() != ']')
                refuse(where, fmt::format("'{}' is no section: write [NAME]", line));
            ++sections_;
            continue;
        }
        rules_.push_back(parse_rule(line, where));
        rules_.back().section = sections_;
    }
}

/// Whether what is behind the first pattern, which matched kernel frame `at`,
/// is found further out, in that order.
bool ReasonTable::called_by(const Chain& chain, const FunctionStack& stack, std::size_t at) {
    std::size_t next = 1;
    const auto advance = [&](std::string_view name, bool user) {
        if (next < chain.size() && chain[next].user == user && glob_matches(chain[next].glob, name))
            ++next;
    };
    for (const std::string_view name : std::span(stack.kernel).subspan(at + 1))
        advance(name, false);
    for (const std::string_view name : stack.user)
        advance(name, true);
    return next == chain.size();
}

const Reason* ReasonTable::decide_in(std::span<const Rule> section,
                                     const FunctionStack& stack) const {
    for (std::size_t at = 0; at < stack.kernel.size(); ++at)
        for (const Rule& rule : section)
            for (const Chain& chain : rule.chains)
                if (glob_matches(chain.front().glob, stack.kernel[at]) &&
                    called_by(chain, stack, at))
                    return &rule.reason;
    return nullptr;
}

const Reason* ReasonTable::decide(const FunctionStack& stack) const {
    for (std::size_t from = 0; from < rules_.size();) {
        std::size_t to = from;
        while (to < rules_.size() && rules_[to].section == rules_[from].section)
            ++to;
        if (const Reason* reason = decide_in(std::span(rules_).subspan(from, to - from), stack))
            return reason;
        from = to;
    }
    return nullptr;
}

bool ReasonTable::asks_for_user(std::span<const std::string_view> kernel) const {
    const auto could = [&](const Chain& chain) {
        return chain.back().user && std::ranges::any_of(kernel, [&](std::string_view name) {
                   return glob_matches(chain.front().glob, name);
               });
    };
    return std::ranges::any_of(
        rules_, [&](const Rule& rule) { return std::ranges::any_of(rule.chains, could); });
}

}  // namespace lattop
