// SPDX-License-Identifier: GPL-2.0-or-later
//
// See commands.h.
#include "lattop/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "lattop/daemon.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/source/proc_source.h"
#include "lattop/stack_command.h"
#include "lattop/verbs/chain.h"
#include "lattop/verbs/completion.h"
#include "lattop/verbs/diff.h"
#include "lattop/verbs/doctor.h"
#include "lattop/verbs/export.h"
#include "lattop/verbs/record.h"
#include "lattop/verbs/replay.h"
#include "lattop/verbs/report.h"
#include "lattop/verbs/run.h"

namespace lattop {
namespace {

int daemon_command(Arguments& arguments) {
    DaemonOptions options;
    arguments.flag("--once", options.once, "end when nothing has been missed for a second");
    arguments.flag("--verbose", options.verbose, "say each second what was done");
    arguments.footer("Runs until SIGINT or SIGTERM. Needs root.");
    if (arguments.parse()) run_daemon(options);
    return 0;
}

int stack_command(Arguments& arguments) {
    std::string pid;
    arguments.positional("PID", pid, "a process, or one of its threads alone");
    arguments.footer(
        "Stops nothing and needs no module; as root with the module loaded it also finds callers "
        "by bp.");
    if (arguments.parse()) run_stack(parse_pid(pid, "lattop stack"));
    return 0;
}

int completion_command(Arguments& arguments) {
    std::string shell;
    arguments.positional("SHELL", shell, "bash, zsh or fish", {"bash", "zsh", "fish"});
    arguments.footer("make install puts them where these shells look for them.");
    if (!arguments.parse()) return 0;
    write_output(completion_script(shell, command_tables()));
    return 0;
}

int reset_command(Arguments& arguments) {
    arguments.footer("As the key r of the screen, and echo reset >/proc/lattop. Needs root.");
    if (!arguments.parse()) return 0;
    ProcSource().reset();
    return 0;
}

struct Subcommand {
    std::string_view name;
    int (*run)(Arguments& arguments);
    std::string_view summary;
};

constexpr auto kCommands = std::to_array<Subcommand>({
    {"chain", chain_command, "What a wait waited for, and what that did: waker by waker."},
    {"completion", completion_command, "Prints what a shell completes lattop's command line by."},
    {"daemon", daemon_command, "Teaches the module whole user stacks, and nothing else."},
    {"diff", diff_command, "What blocked longer in recording AFTER than in BEFORE, by stack."},
    {"doctor", doctor_command, "Says why something of lattop does not work here, and what to do."},
    {"export", export_command, "Where tasks blocked, in the formats of other tools."},
    {"record", record_command, "Records all tasks, or some, for replay, report, export and diff."},
    {"replay", replay_command, "The live table over a recording, with time travel."},
    {"report", report_command, "A whole recording as text: where its tasks blocked."},
    {"reset", reset_command, "Sets all figures to zero, for everybody who looks."},
    {"run", run_command_verb, "Runs a command and says where it and all that it forks blocked."},
    {"stack", stack_command, "The user stack of every blocked thread of a process, now."},
});

}  // namespace

std::optional<int> run_command(Arguments::List arguments) {
    if (arguments.empty()) return std::nullopt;
    const auto* command =
        std::ranges::find(kCommands, std::string_view(arguments.front()), &Subcommand::name);
    if (command == kCommands.end()) return std::nullopt;
    Arguments own(command->name, command->summary, arguments.subspan(1));
    return command->run(own);
}

std::string commands_help() {
    std::string text =
        "Without -b or --json, lattop opens a live table; h or F1 there lists its keys.\n"
        "Commands, each with a --help:\n";
    for (const Subcommand& command : kCommands)
        text += fmt::format("  {:<11} {}\n", command.name, command.summary);
    return text +
           "Exit status: 0 done, 1 failed, 2 wrong usage, 3 the module is not loaded or not "
           "usable.\nlattop(8) says more.";
}

std::vector<CommandTable> command_tables() {
    std::vector<CommandTable> tables;
    const auto add = [&](std::string_view name, std::string_view summary, const auto& declare) {
        Arguments arguments(name, summary);
        declare(arguments);
        tables.push_back({name, summary, {arguments.table().begin(), arguments.table().end()}});
    };
    add("", kSummary, parse_command_line);
    for (const Subcommand& command : kCommands)
        add(command.name, command.summary, command.run);
    return tables;
}

}  // namespace lattop
