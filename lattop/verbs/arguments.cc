// SPDX-License-Identifier: GPL-2.0-or-later
//
// See arguments.h.
#include "lattop/verbs/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

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

struct Arguments::Parser {
    CLI::App app;
    std::string verb;
    std::vector<std::string> pids;
    Selection* selection = nullptr;
};

Arguments::Arguments(std::string_view verb, std::string_view summary)
    : parser_(std::make_unique<Parser>()) {
    parser_->verb = "lattop " + std::string(verb);
    parser_->app.description(std::string(summary));
    parser_->app.name(parser_->verb);
}

Arguments::~Arguments() = default;

void Arguments::flag(const char* names, bool& to, const char* help) {
    parser_->app.add_flag(names, to, help);
}

void Arguments::text(const char* names, const char* type, std::string& to, const char* help) {
    parser_->app.add_option(names, to, help)->type_name(type);
}

void Arguments::positional(const char* name, std::string& to, const char* help) {
    parser_->app.add_option(name, to, help)->required()->type_name("");
}

void Arguments::selection(Selection& to) {
    parser_->selection = &to;
    parser_->app
        .add_option("-p,--pid", parser_->pids, "only these processes or threads; may be repeated")
        ->type_name("PID[,PID...]")
        ->allow_extra_args(false);
    parser_->app.add_flag("-k,--no-kernel-threads", to.hide_kernel_threads,
                          "leave kernel threads out");
}

bool Arguments::parse(List arguments) {
    // CLI11 takes them last one first.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
        parser_->app.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
        write_output(parser_->app.help());
        return false;
    } catch (const CLI::ParseError& error) {
        throw UsageError(fmt::format("{}: {}", parser_->verb, error.what()),
                         fmt::format("see {} --help", parser_->verb));
    }
    if (parser_->selection != nullptr) parser_->selection->pids = parse_pids(parser_->pids);
    return true;
}

std::optional<std::vector<std::string>> take_command(Arguments::List& arguments) {
    const auto dashes = std::ranges::find_if(
        arguments, [](const char* argument) { return std::strcmp(argument, "--") == 0; });
    if (dashes == arguments.end()) return std::nullopt;
    std::vector<std::string> command(dashes + 1, arguments.end());
    arguments = arguments.first(static_cast<std::size_t>(dashes - arguments.begin()));
    return command;
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
