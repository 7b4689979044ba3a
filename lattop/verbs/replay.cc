// SPDX-License-Identifier: GPL-2.0-or-later
//
// See replay.h.
#include "lattop/verbs/replay.h"

#include "lattop/options.h"
#include "lattop/top.h"

namespace lattop {

int replay_command(Arguments::List arguments) {
    Options options;
    Selection selection;
    std::string delay;
    std::string sort;
    Arguments parser("replay",
                     "The live table over a recording. There , and . go a snapshot back and on,\n"
                     "[ and ] a tenth of the recording, Space stops and goes on.");
    parser.positional("FILE", options.input, "what lattop record made");
    parser.text("-d,--delay", "SECS", delay,
                "seconds between snapshots (default: as they were recorded)");
    parser.text("-s,--sort", "COLUMN", sort, "as lattop -s");
    parser.selection(selection);
    if (!parser.parse(arguments)) return 0;
    options.pids = selection.pids;
    options.hide_kernel_threads = selection.hide_kernel_threads;
    options.delay_given = !delay.empty();
    if (options.delay_given) options.delay = parse_delay(delay);
    if (!sort.empty()) options.sort = parse_sort(sort);
    run_top(options);
    return 0;
}

}  // namespace lattop
