// SPDX-License-Identifier: GPL-2.0-or-later
//
// See commands.h.
#include "lattop/commands.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "lattop/daemon.h"
#include "lattop/source/error.h"
#include "lattop/stack_command.h"

namespace lattop {
namespace {

using Arguments = std::span<const char* const>;

constexpr const char* kDaemonUsage =
    "Usage: lattop daemon [--once] [--verbose]\n"
    "Teaches the module how to walk user stacks; runs until SIGINT or SIGTERM. Needs root.\n"
    "  --once     end when nothing has been missed for a second\n"
    "  --verbose  say each second what was done\n";

constexpr const char* kStackUsage =
    "Usage: lattop stack PID|TID\n"
    "Prints the user stack of every blocked thread of a process, or of one thread, now.\n"
    "Stops nothing and needs no module; as root with the module loaded it also finds callers by "
    "bp.\n";

bool wants_help(std::string_view argument) {
    return argument == "-h" || argument == "--help";
}

void daemon_command(Arguments arguments) {
    DaemonOptions options;
    for (const std::string_view argument : arguments) {
        if (wants_help(argument)) {
            std::fputs(kDaemonUsage, stdout);
            return;
        }
        if (argument == "--once")
            options.once = true;
        else if (argument == "--verbose")
            options.verbose = true;
        else
            throw UsageError(fmt::format("lattop daemon: '{}' is no option of it", argument),
                             "see lattop daemon --help");
    }
    run_daemon(options);
}

std::uint32_t parse_pid(std::string_view text) {
    std::uint32_t pid = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (error != std::errc{} || stop != text.data() + text.size() || pid == 0)
        throw UsageError(fmt::format("lattop stack: '{}' is no pid", text),
                         "see lattop stack --help");
    return pid;
}

void stack_command(Arguments arguments) {
    if (arguments.size() != 1)
        throw UsageError("lattop stack: one pid or tid is needed", "see lattop stack --help");
    if (wants_help(arguments.front())) {
        std::fputs(kStackUsage, stdout);
        return;
    }
    run_stack(parse_pid(arguments.front()));
}

}  // namespace

bool run_command(int argc, const char* const* argv) {
    if (argc < 2) return false;
    const std::string_view name = argv[1];
    const Arguments arguments(argv + 2, static_cast<std::size_t>(argc - 2));
    if (name == "daemon")
        daemon_command(arguments);
    else if (name == "stack")
        stack_command(arguments);
    else
        return false;
    return true;
}

}  // namespace lattop
