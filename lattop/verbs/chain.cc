// SPDX-License-Identifier: GPL-2.0-or-later
//
// See chain.h.
#include "lattop/verbs/chain.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>

#include "lattop/export/chain_text.h"
#include "lattop/model/wakers.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/source/error.h"
#include "lattop/verbs/profile.h"

namespace lattop {
namespace {

constexpr std::uint64_t kMaxPid = 1U << 22;  // PID_MAX_LIMIT

std::string wanted_text(const ChainStart& start) {
    std::string text = "no wait";
    if (start.pid != 0) text += fmt::format(" of task or process {}", start.pid);
    if (!start.function.empty()) text += " with " + start.function + " on its stack";
    return text;
}

}  // namespace

int chain_command(Arguments& arguments) {
    std::string input;
    std::string pid;
    std::string duration;
    ChainStart start;
    arguments.positional("FILE", input, "a recording, or the word live for this machine", {"live"});
    arguments.text("-p,--pid", "PID", pid, "begin with a wait of this process, or this thread");
    arguments.text("-f,--function", "NAME", start.function,
                   "begin with a wait that has a function so named, or with this in its name");
    arguments.text("--duration", "SECS", duration,
                   "with live: the next so many seconds (default: since load or reset)");
    arguments.footer(
        "Begins with the wait that blocked longest and is not for work. Needs the module loaded "
        "with wakers=1.");
    if (!arguments.parse()) return 0;
    const bool live = input == "live";
    if (!live && !duration.empty())
        throw UsageError("lattop chain: --duration goes with live, a recording has its own",
                         "see lattop chain --help");
    if (!pid.empty())
        start.pid = static_cast<std::uint32_t>(parse_number(pid, "--pid", 1, kMaxPid));
    std::optional<std::chrono::milliseconds> wait;
    if (!duration.empty()) wait = parse_duration(duration, "--duration");

    const Profile profile = live ? Profile::live({}, wait) : Profile::recorded(input, {});
    if (!accounts_wakers(profile.snapshot.header))
        throw Error("who woke whom was not accounted",
                    "load the module with wakers=1: rmmod lattop; modprobe lattop wakers=1");
    const FoundWait found = find_wait(profile.snapshot, start, profile.names(), profile.reasons());
    if (found.entry == nullptr)
        throw Error(wanted_text(start), "lattop report, or lattop itself, shows which there are");
    const Charset charset = locale_charset();
    const Chain chain = follow_chain(profile.snapshot, *found.task, *found.entry);
    write_output(printable(profile.title, charset) + "\n\n" +
                 chain_text(profile.snapshot, chain, profile.names(), profile.reasons(), charset));
    return 0;
}

}  // namespace lattop
