// SPDX-License-Identifier: GPL-2.0-or-later
//
// See commands.h.
#include "lattop/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "lattop/daemon.h"
#include "lattop/source/error.h"
#include "lattop/stack_command.h"
#include "lattop/verbs/diff.h"
#include "lattop/verbs/doctor.h"
#include "lattop/verbs/export.h"
#include "lattop/verbs/record.h"
#include "lattop/verbs/replay.h"
#include "lattop/verbs/report.h"
#include "lattop/verbs/run.h"

namespace lattop {
namespace {

using ArgumentList = std::span<const char* const>;

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

int daemon_command(ArgumentList arguments) {
    DaemonOptions options;
    for (const std::string_view argument : arguments) {
        if (wants_help(argument)) {
            std::fputs(kDaemonUsage, stdout);
            return 0;
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
    return 0;
}

std::uint32_t parse_pid(std::string_view text) {
    std::uint32_t pid = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (error != std::errc{} || stop != text.data() + text.size() || pid == 0)
        throw UsageError(fmt::format("lattop stack: '{}' is no pid", text),
                         "see lattop stack --help");
    return pid;
}

int stack_command(ArgumentList arguments) {
    if (arguments.size() != 1)
        throw UsageError("lattop stack: one pid or tid is needed", "see lattop stack --help");
    if (wants_help(arguments.front())) {
        std::fputs(kStackUsage, stdout);
        return 0;
    }
    run_stack(parse_pid(arguments.front()));
    return 0;
}

struct Command {
    std::string_view name;
    int (*run)(ArgumentList arguments);
};

constexpr auto kCommands = std::to_array<Command>({
    {"daemon", daemon_command},
    {"diff", diff_command},
    {"doctor", doctor_command},
    {"export", export_command},
    {"record", record_command},
    {"replay", replay_command},
    {"report", report_command},
    {"run", run_command_verb},
    {"stack", stack_command},
});

}  // namespace

std::optional<int> run_command(int argc, const char* const* argv) {
    if (argc < 2) return std::nullopt;
    const auto* command = std::ranges::find(kCommands, std::string_view(argv[1]), &Command::name);
    if (command == kCommands.end()) return std::nullopt;
    return command->run(ArgumentList(argv + 2, static_cast<std::size_t>(argc - 2)));
}

}  // namespace lattop
