// SPDX-License-Identifier: GPL-2.0-or-later
//
// See chain.h.
#include "lattop/verbs/chain.h"

#include <fmt/format.h>

#include <string>

#include "lattop/export/chain_text.h"
#include "lattop/model/wakers.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/source/error.h"
#include "lattop/verbs/profile.h"

namespace lattop {
namespace {

std::string none_text(const ChainStart& start) {
    std::string text = "no wait";
    if (start.pid != 0) text += fmt::format(" of task or process {}", start.pid);
    if (!start.function.empty()) text += " with " + start.function + " on its stack";
    return text + wanted_text(start.waits);
}

}  // namespace

int chain_command(Arguments& arguments) {
    ProfileInput input;
    std::string pid;
    ChainStart start;
    arguments.text("-p,--pid", "PID", pid, "begin with a wait of this process, or this thread");
    arguments.text("-f,--function", "NAME", start.function,
                   "begin with a wait that has a function so named, or with this in its name");
    arguments.waits(start.waits);
    input.declare(arguments);
    arguments.footer(
        "Begins with the wait that blocked longest and is not for work. Needs the module loaded "
        "with wakers=1.");
    if (!arguments.parse()) return 0;
    input.check("chain");
    if (!pid.empty()) start.pid = parse_pid(pid, "--pid");

    const Profile profile = input.open({}, start.waits);
    if (!accounts_wakers(profile.snapshot.header))
        throw Error("who woke whom was not accounted",
                    "load the module with wakers=1: rmmod lattop; modprobe lattop wakers=1");
    const FoundWait found =
        find_wait({profile.snapshot, profile.names(), profile.users(), profile.cgroups()}, start,
                  profile.reasons());
    if (found.entry == nullptr)
        throw Error(none_text(start), "lattop report, or lattop itself, shows which there are");
    const Charset charset = locale_charset();
    const Chain chain = follow_chain(profile.snapshot, *found.task, *found.entry);
    write_output(printable(profile.title + wanted_text(start.waits), charset) + "\n\n" +
                 chain_text(profile.snapshot, chain, profile.names(), profile.reasons(), charset));
    return 0;
}

}  // namespace lattop
