// SPDX-License-Identifier: GPL-2.0-or-later
//
// See replay.h.
#include "lattop/verbs/replay.h"

#include "lattop/options.h"
#include "lattop/top.h"

namespace lattop {

int replay_command(Arguments& arguments) {
    Options options;
    Selection selection;
    std::string delay;
    std::string sort;
    arguments.positional("FILE", options.input, "what lattop record made");
    arguments.text("-d,--delay", "SECS", delay,
                   "seconds between snapshots (default: as they were recorded)");
    arguments.text("-s,--sort", "COLUMN", sort, "as lattop -s", sort_columns());
    std::string limit;
    arguments.text("--limit", "N", limit, "as lattop --limit");
    bool no_mouse = false;
    arguments.flag("-M,--no-mouse", no_mouse, "leave the mouse to the terminal");
    arguments.selection(selection);
    arguments.footer(
        "There , and . go a snapshot back and on, [ and ] a tenth of the recording; Z stops and "
        "goes on.");
    if (!arguments.parse()) return 0;
    if (!limit.empty()) options.limit = parse_limit(limit, "--limit");
    options.mouse = !no_mouse;
    options.selection = selection;
    options.delay_given = !delay.empty();
    if (options.delay_given) options.delay = parse_delay(delay);
    options.sort_given = !sort.empty();
    if (options.sort_given) options.sort = parse_sort(sort);
    run_top(options);
    return 0;
}

}  // namespace lattop
