// SPDX-License-Identifier: GPL-2.0-or-later
//
// See options.h.
#include "lattop/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "lattop/source/error.h"
#include "lattop/version.h"

namespace lattop {
namespace {

/// What is filled in; texts are checked afterwards.
struct Raw {
    bool batch = false;
    bool json = false;
    bool objects = false;
    bool command_lines = false;
    bool no_learn = false;
    bool no_mouse = false;
    std::string refreshes;
    std::string delay;
    Selection selection;
    std::string sort;
    std::string limit;
    std::string input;
};

void declare(Arguments& arguments, Raw& raw) {
    arguments.flag("-b,--batch", raw.batch, "print text instead of the live table");
    arguments.flag("--json", raw.json, "print JSON, one document a line for each refresh");
    arguments.flag("--cmdline", raw.command_lines,
                   "with --json: the command lines of tasks' processes");
    arguments.flag("--objects", raw.objects,
                   "with --json: say what exactly each sleeping task waits for (with -i always)");
    arguments.text("-n,--iterations", "N", raw.refreshes,
                   "end after N refreshes (the first shows figures since load)");
    arguments.text("-d,--delay", "SECS", raw.delay, "seconds between refreshes (default 2)");
    arguments.selection(raw.selection);
    arguments.text("-s,--sort", "COLUMN", raw.sort, "sort by (default blocked)", sort_columns());
    arguments.text("--limit", "N", raw.limit,
                   "at most N tasks, 0 for all (default: live table 16384, text 1000, JSON all)");
    arguments.flag("--no-learn", raw.no_learn,
                   "do not teach the module to walk user stacks (see lattop daemon)");
    arguments.flag("-M,--no-mouse", raw.no_mouse, "leave the mouse to the terminal");
    arguments.text("-i,--input", "FILE", raw.input,
                   "read a recording (lattop record) instead of the module");
    arguments.version(std::string("lattop ") + kVersion);
}

Options check(const Raw& raw) {
    Options options;
    options.json = raw.json;
    options.batch = raw.batch || raw.json;
    options.objects = raw.objects;
    options.command_lines = raw.command_lines;
    options.learn = !raw.no_learn;
    options.mouse = !raw.no_mouse;
    options.input = raw.input;
    options.delay_given = !raw.delay.empty();
    if (!raw.delay.empty()) options.delay = parse_delay(raw.delay);
    if (!raw.refreshes.empty())
        options.refreshes = parse_number(raw.refreshes, "-n", 1, UINT64_MAX);
    if (!raw.limit.empty()) options.limit = parse_limit(raw.limit, "--limit");
    options.sort_given = !raw.sort.empty();
    if (options.sort_given) options.sort = parse_sort(raw.sort);
    options.selection = raw.selection;
    if (options.refreshes && !options.batch)
        throw UsageError("-n goes with -b or --json: the live table runs until you quit it",
                         "add -b");
    if (options.command_lines && !options.json)
        throw UsageError("--cmdline goes with --json", "add --json; in the live table F2 shows it");
    if (options.command_lines && !options.input.empty())
        throw UsageError("no recording has command lines", "leave --cmdline or -i out");
    if (options.objects && !options.json)
        throw UsageError("--objects goes with --json", "add --json");
    return options;
}

std::vector<std::string> elements(std::string_view list) {
    std::vector<std::string> texts;
    for (;;) {
        const std::size_t comma = list.find(',');
        texts.emplace_back(list.substr(0, comma));
        if (comma == std::string_view::npos) return texts;
        list.remove_prefix(comma + 1);
    }
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

std::uint32_t parse_pid(const std::string& text, const char* option) {
    constexpr std::uint64_t kMaxPid = 1U << 22;  // PID_MAX_LIMIT
    return static_cast<std::uint32_t>(parse_number(text, option, 1, kMaxPid));
}

std::vector<std::uint32_t> parse_pids(const std::vector<std::string>& lists) {
    std::vector<std::uint32_t> pids;
    for (const std::string& list : lists)
        for (const std::string& text : elements(list))
            pids.push_back(parse_pid(text, "-p"));
    if (pids.size() > LT_MAX_PIDS)
        throw UsageError(fmt::format("-p: {} pids given, {} at most are possible", pids.size(),
                                     static_cast<int>(LT_MAX_PIDS)));
    return pids;
}

Column parse_sort(const std::string& name) {
    if (const auto column = column_named(name)) return *column;
    throw UsageError(fmt::format("-s {}: there is no such column; there are {}", name,
                                 fmt::join(sort_columns(), ", ")));
}

std::vector<std::string> sort_columns() {
    std::vector<std::string> names;
    for (const Column column : columns(View::Tasks))
        names.emplace_back(column_info(column).name);
    return names;
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

RowOptions row_options(const Options& options) {
    RowOptions rows;
    rows.sort = options.sort;
    rows.hide_kernel_threads = options.selection.hide_kernel_threads;
    rows.waits = options.selection.waits;
    return rows;
}

CommandLine parse_command_line(Arguments& arguments) {
    Raw raw;
    declare(arguments, raw);
    std::string print;
    if (!arguments.parse(print)) return {{}, print};
    return {check(raw), std::nullopt};
}

}  // namespace lattop
