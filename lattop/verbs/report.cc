// SPDX-License-Identifier: GPL-2.0-or-later
//
// See report.h.
#include "lattop/verbs/report.h"

#include "lattop/export/stack_text.h"
#include "lattop/export/text.h"
#include "lattop/options.h"
#include "lattop/output.h"
#include "lattop/source/decoder.h"
#include "lattop/source/encoder.h"

namespace lattop {
namespace {

/// A snapshot moves only. Its bytes do not tell the load, by which names are found.
Snapshot copy(const Snapshot& snapshot) {
    Snapshot result = decode(encode(snapshot));
    result.header.load = snapshot.header.load;
    return result;
}

}  // namespace

std::string report_text(const Snapshot& snapshot, const UserStacks& names, Users& users,
                        Reasons& reasons, const std::string& clock, const ReportOptions& options,
                        Charset charset, const ProcessNames* processes, const LongestWaits* waits) {
    const ProcessNames own(snapshot);
    Model model;
    SystemCgroups cgroups;  // asked for none: the text has no column of theirs
    model.update(copy(snapshot), {});
    TextOptions text;
    text.limit = options.tasks;
    text.charset = charset;
    text.since = "in all";
    text.waits = waits;
    return refresh_text({model, names, users, reasons, cgroups}, text, clock, "") +
           "\nThe worst stacks, over all tasks that share them\n" +
           stacks_text(merge_stacks(snapshot, names, reasons, processes ? processes : &own),
                       options.stacks, charset);
}

int report_command(Arguments& arguments) {
    std::string file;
    std::string tasks;
    std::string stacks;
    bool json = false;
    Selection selection;
    arguments.positional("FILE", file, "what lattop record made");
    arguments.flag("--json", json, "one JSON document, as lattop --json prints, with all tasks");
    arguments.text("--limit", "N", tasks, "at most N tasks, 0 for all (default 20)");
    arguments.text("--stacks", "N", stacks, "at most N of the stacks of all tasks (default 10)");
    arguments.selection(selection);
    if (!arguments.parse()) return 0;
    ReportOptions options;
    if (!tasks.empty()) options.tasks = parse_limit(tasks, "--limit");
    if (!stacks.empty()) options.stacks = parse_limit(stacks, "--stacks");
    Profile profile = Profile::recorded(file, selection);
    if (json) {
        write_profile_json(profile, tasks.empty() ? 0 : options.tasks, write_output);
        return 0;
    }
    write_output(printable(profile.title, locale_charset()) + "\n" +
                 report_text(profile.snapshot, profile.names(), profile.users(), profile.reasons(),
                             local_time_at(profile.realtime_ns), options, locale_charset(),
                             &*profile.processes, &profile.longest));
    return 0;
}

}  // namespace lattop
