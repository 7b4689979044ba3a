// SPDX-License-Identifier: GPL-2.0-or-later
//
// See options.h. CLI11 splits and documents; the values are checked here, so
// that each message says what would have been right.
#include "lattop/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "lattop/source/error.h"
#include "lattop/version.h"

namespace lattop {
namespace {

constexpr const char* kFooter =
    "Without -b or --json, lattop opens a live table; h or F1 there lists its keys.\n"
    "Commands, each with a --help:\n"
    "  record -o FILE   keep what happens          replay FILE   the live table over a recording\n"
    "  report FILE      a recording as text        export FILE   ... as a flame graph and such\n"
    "  run -- COMMAND   trace one command, with all that it forks\n"
    "  diff A B         what got slower, by stack  doctor        why something does not work\n"
    "  daemon           teach the module whole user stacks, and nothing else\n"
    "  stack PID        the user stacks of a process now\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 the module is not loaded or not usable.\n"
    "lattop(8) says more.";

/// What CLI11 fills in; texts are checked afterwards.
struct Raw {
    bool batch = false;
    bool json = false;
    bool no_kernel_threads = false;
    bool no_learn = false;
    std::string refreshes;
    std::string delay;
    std::vector<std::string> pids;
    std::string sort;
    std::string limit;
    std::string input;
};

std::string sort_names() {
    std::string names;
    for (const Column column : columns(View::Tasks)) {
        if (!names.empty()) names += ", ";
        names += column_info(column).name;
    }
    return names;
}

void declare(CLI::App& app, Raw& raw) {
    app.add_flag("-b,--batch", raw.batch, "print text instead of the live table");
    app.add_flag("--json", raw.json, "print JSON, one document a line for each refresh");
    app.add_option("-n,--iterations", raw.refreshes,
                   "end after N refreshes (the first shows figures since load)")
        ->type_name("N");
    app.add_option("-d,--delay", raw.delay, "seconds between refreshes (default 2)")
        ->type_name("SECS");
    app.add_option("-p,--pid", raw.pids, "only these processes or threads; may be repeated")
        ->type_name("PID[,PID...]")
        ->allow_extra_args(false);
    app.add_option("-s,--sort", raw.sort, "sort by: " + sort_names() + " (default blocked)")
        ->type_name("COLUMN");
    app.add_option("--limit", raw.limit,
                   "at most N tasks, 0 for all (default: live table 16384, text 1000, JSON all)")
        ->type_name("N");
    app.add_flag("-k,--no-kernel-threads", raw.no_kernel_threads, "leave kernel threads out");
    app.add_flag("--no-learn", raw.no_learn,
                 "do not teach the module to walk user stacks (see lattop daemon)");
    app.add_option("-i,--input", raw.input,
                   "read a recording (lattop record) instead of the module")
        ->type_name("FILE");
    app.set_version_flag("-V,--version", std::string("lattop ") + kVersion);
    app.footer(kFooter);
}

Options check(const Raw& raw) {
    Options options;
    options.json = raw.json;
    options.batch = raw.batch || raw.json;
    options.hide_kernel_threads = raw.no_kernel_threads;
    options.learn = !raw.no_learn;
    options.input = raw.input;
    options.delay_given = !raw.delay.empty();
    if (!raw.delay.empty()) options.delay = parse_delay(raw.delay);
    if (!raw.refreshes.empty())
        options.refreshes = parse_number(raw.refreshes, "-n", 1, UINT64_MAX);
    if (!raw.limit.empty()) options.limit = parse_limit(raw.limit, "--limit");
    if (!raw.sort.empty()) options.sort = parse_sort(raw.sort);
    options.pids = parse_pids(raw.pids);
    if (options.refreshes && !options.batch)
        throw UsageError("-n goes with -b or --json: the live table runs until you quit it",
                         "add -b");
    return options;
}

}  // namespace

std::uint64_t parse_number(const std::string& text, const char* option, std::uint64_t least,
                           std::uint64_t most) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value < least || value > most)
        throw UsageError(
            fmt::format("{} {}: give a whole number from {} to {}", option, text, least, most));
    return value;
}

std::uint32_t parse_limit(const std::string& text, const char* option) {
    return static_cast<std::uint32_t>(parse_number(text, option, 0, LT_MAX_LIMIT));
}

std::vector<std::uint32_t> parse_pids(const std::vector<std::string>& lists) {
    constexpr std::uint64_t kMaxPid = 1U << 22;  // PID_MAX_LIMIT
    std::vector<std::uint32_t> pids;
    for (const std::string& list : lists)
        for (const std::string& text : CLI::detail::split(list, ','))
            pids.push_back(static_cast<std::uint32_t>(parse_number(text, "-p", 1, kMaxPid)));
    if (pids.size() > LT_MAX_PIDS)
        throw UsageError(fmt::format("-p: {} pids given, {} at most are possible", pids.size(),
                                     static_cast<int>(LT_MAX_PIDS)));
    return pids;
}

Column parse_sort(const std::string& name) {
    if (const auto column = column_named(name)) return *column;
    throw UsageError(
        fmt::format("-s {}: there is no such column; there are {}", name, sort_names()));
}

std::chrono::milliseconds parse_delay(const std::string& text) {
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seconds);
    const double milliseconds = seconds * 1000;
    if (error != std::errc{} || stop != end || !std::isfinite(seconds) ||
        milliseconds < static_cast<double>(kMinDelay.count()) ||
        milliseconds > static_cast<double>(kMaxDelay.count()))
        throw UsageError(fmt::format("delay {}: give seconds from 0.1 to 3600", text));
    return std::chrono::milliseconds(std::llround(milliseconds));
}

CommandLine parse_command_line(int argc, const char* const* argv) {
    CLI::App app("Where tasks block, and for how long: top for blocked time.", "lattop");
    Raw raw;
    declare(app, raw);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return {{}, app.help()};
    } catch (const CLI::CallForVersion&) {
        return {{}, std::string("lattop ") + kVersion + "\n"};
    } catch (const CLI::ParseError& error) {
        throw UsageError(error.what());
    }
    return {check(raw), std::nullopt};
}

}  // namespace lattop
