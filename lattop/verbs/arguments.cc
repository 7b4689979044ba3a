// SPDX-License-Identifier: GPL-2.0-or-later
//
// See arguments.h. CLI11 splits and documents; values are checked by those who
// declared them, so that each message says what would have been right.
#include "lattop/verbs/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/source/error.h"

namespace lattop {

Query Selection::query() const {
    Query query;
    query.sort = LT_SORT_PID;  // the order that changes least
    query.traces = LT_TRACES_ALL;
    query.limit = LT_MAX_LIMIT;
    query.pids = pids;
    if (hide_kernel_threads) query.flags |= LT_Q_NO_KTHREADS;
    return query;
}

namespace {

/// "--filter" and "--filter=WORD".
bool says_option(std::string_view argument, std::string_view name) {
    return argument.substr(0, argument.find('=')) == name;
}

}  // namespace

struct Arguments::Parser {
    struct Refusal {
        std::vector<std::string> names;
        std::string why, hint;
    };

    /// Where one of them is among the arguments.
    void check_refusals(List arguments) const {
        for (const char* argument : arguments)
            for (const Refusal& refusal : refusals)
                for (const std::string& name : refusal.names)
                    if (says_option(argument, name))
                        throw UsageError(fmt::format("{}: no {} here: {}", verb, name, refusal.why),
                                         refusal.hint);
    }

    [[nodiscard]] const Argument* value_option(std::string_view name) const {
        const auto found = std::ranges::find_if(table, [&](const Argument& one) {
            return one.kind == Argument::Kind::Value && std::ranges::count(one.names, name) != 0;
        });
        return found == table.end() ? nullptr : &*found;
    }

    /// What stands for an option with a value: the last letter of "-bn", what is before '='.
    struct ValueOption {
        const Argument* option = nullptr;
        std::string name;
        std::optional<std::string_view> value{};  ///< nothing: the next word
    };

    [[nodiscard]] ValueOption value_option_in(std::string_view word) const {
        if (word.starts_with("--")) {
            const std::size_t equals = word.find('=');
            ValueOption result{value_option(word.substr(0, equals)),
                               std::string(word.substr(0, equals))};
            if (equals != std::string_view::npos) result.value = word.substr(equals + 1);
            return result;
        }
        for (std::size_t i = 1; word.starts_with('-') && i < word.size(); ++i) {
            const std::string name{'-', word[i]};
            if (const Argument* option = value_option(name)) {
                ValueOption result{option, name};
                if (i + 1 < word.size()) result.value = word.substr(i + 1);
                return result;
            }
        }
        return {};
    }

    /// Those who declared an option would take an empty value for none, and CLI11 the word behind
    /// "--name=" for its value.
    void check_values(List arguments) const {
        for (auto word = arguments.begin(); word != arguments.end(); ++word) {
            if (std::strcmp(*word, "--") == 0) return;
            const ValueOption found = value_option_in(*word);
            if (found.option == nullptr) continue;
            if (!found.value && ++word == arguments.end()) return;
            const std::string_view value = found.value ? *found.value : *word;
            if (value.empty())
                throw UsageError(fmt::format("{}: its value is empty", found.name),
                                 fmt::format("give {} {}, or leave it out; in a script, is a "
                                             "variable not set?",
                                             found.name, found.option->type));
        }
    }

    CLI::App app;
    std::string verb;
    std::string usage;  ///< of the command behind "--"
    std::optional<List> list;
    std::vector<std::string> pids;
    std::vector<std::uint32_t>* pids_to = nullptr;
    std::vector<std::string>* command_to = nullptr;
    std::vector<Refusal> refusals;
    std::vector<Argument> table{{Argument::Kind::Flag, {"-h", "--help"}, "", "print this", {}}};
};

Arguments::Arguments(std::string_view verb, std::string_view summary, std::optional<List> list)
    : parser_(std::make_unique<Parser>()) {
    parser_->verb = verb.empty() ? "lattop" : "lattop " + std::string(verb);
    parser_->list = list;
    parser_->app.description(std::string(summary));
    parser_->app.name(parser_->verb);
    parser_->app.set_help_flag("-h,--help", "print this");
}

Arguments::~Arguments() = default;

void Arguments::flag(const char* names, bool& to, const char* help) {
    parser_->app.add_flag(names, to, help);
    parser_->table.push_back({Argument::Kind::Flag, CLI::detail::split(names, ','), "", help, {}});
}

void Arguments::text(const char* names, const char* type, std::string& to, const char* help,
                     std::vector<std::string> choices) {
    const std::string listed =
        choices.empty() ? help : fmt::format("{}: {}", help, fmt::join(choices, ", "));
    parser_->app.add_option(names, to, listed)->type_name(type);
    parser_->table.push_back(
        {Argument::Kind::Value, CLI::detail::split(names, ','), type, help, std::move(choices)});
}

void Arguments::positional(const char* name, std::string& to, const char* help,
                           std::vector<std::string> choices) {
    parser_->app.add_option(name, to, help)->required()->type_name("");
    parser_->table.push_back({Argument::Kind::Positional, {name}, name, help, std::move(choices)});
}

void Arguments::pids(std::vector<std::uint32_t>& to) {
    constexpr const char* kHelp = "only these processes or threads; may be repeated";
    parser_->pids_to = &to;
    parser_->app.add_option("-p,--pid", parser_->pids, kHelp)
        ->type_name("PID[,PID...]")
        ->allow_extra_args(false);
    parser_->table.push_back({Argument::Kind::Value, {"-p", "--pid"}, "PID", kHelp, {}});
}

void Arguments::tasks(Selection& to) {
    pids(to.pids);
    flag("-k,--no-kernel-threads", to.hide_kernel_threads, "leave kernel threads out");
}

void Arguments::waits(WantedWaits& to) {
    text("--filter", "WORD[|WORD...]", to.filter,
         "only what is known by one of these: command, user, pid, cgroup, reason, any function of "
         "the stack");
    flag("--no-idle", to.hide_idle, "leave waits for work out");
}

void Arguments::selection(Selection& to) {
    tasks(to);
    waits(to.waits);
}

void Arguments::refuse(const char* names, std::string why, std::string hint) {
    parser_->refusals.push_back({CLI::detail::split(names, ','), std::move(why), std::move(hint)});
}

void Arguments::command(std::vector<std::string>& to, const char* help) {
    parser_->command_to = &to;
    parser_->usage = fmt::format("-- COMMAND [ARGUMENT...]  {}", help);
    parser_->app.footer(parser_->usage);
    parser_->table.push_back({Argument::Kind::Command, {"COMMAND"}, "COMMAND", help, {}});
}

void Arguments::version(std::string text) {
    parser_->app.set_version_flag("-V,--version", std::move(text), "print the version");
    parser_->table.push_back(
        {Argument::Kind::Flag, {"-V", "--version"}, "", "print the version", {}});
}

void Arguments::footer(std::string text) {
    parser_->app.footer(std::move(text));
}

bool Arguments::parse(std::string& print) {
    if (!parser_->list) return false;
    List list = *parser_->list;
    if (parser_->command_to != nullptr) {
        const auto dashes = std::ranges::find_if(
            list, [](const char* argument) { return std::strcmp(argument, "--") == 0; });
        if (dashes != list.end()) {
            parser_->command_to->assign(dashes + 1, list.end());
            if (parser_->command_to->empty())
                throw UsageError(parser_->verb + ": no command stands behind --",
                                 fmt::format("see {} --help", parser_->verb));
            list = list.first(static_cast<std::size_t>(dashes - list.begin()));
        }
    }
    parser_->check_values(list);
    // CLI11 takes them last one first.
    std::vector<std::string> reversed(list.rbegin(), list.rend());
    try {
        parser_->app.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
        print = parser_->app.help();
        return false;
    } catch (const CLI::CallForVersion& version) {
        print = std::string(version.what()) + "\n";
        return false;
    } catch (const CLI::ParseError& error) {
        parser_->check_refusals(list);
        throw UsageError(fmt::format("{}: {}", parser_->verb, error.what()),
                         fmt::format("see {} --help", parser_->verb));
    }
    if (parser_->pids_to != nullptr) *parser_->pids_to = parse_pids(parser_->pids);
    return true;
}

bool Arguments::parse() {
    std::string print;
    const bool go_on = parse(print);
    if (!print.empty()) write_output(print);
    return go_on;
}

std::span<const Argument> Arguments::table() const {
    return parser_->table;
}

std::chrono::milliseconds parse_duration(const std::string& text, const char* option) {
    constexpr double kMost = 31.0 * 24 * 3600;
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seconds);
    if (error != std::errc{} || stop != end || !(seconds >= 0.001) || seconds > kMost)
        throw UsageError(fmt::format("{} {}: give seconds, 31 days at most", option, text));
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

}  // namespace lattop
