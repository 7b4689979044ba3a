# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sleep costs beside each tool that follows sleeps too, and beside lattop, in one guest. The script peers is the guest's half."""

import collections
import os

import guest

QUICK = "lattop offcputime"
# As the script names them, in the table's words
NAMES = {
    "lattop": "**lattop**: kernel and user stacks, run-queue delay",
    "lattop-filtered": "**lattop**, the task turned away by a filter",
    "schedstats": "kernel.sched_schedstats=1",
    "offcputime": "offcputime -f",
    "offcputime-filtered": "offcputime -f -p another process",
    "offwaketime": "offwaketime -f",
    "wakeuptime": "wakeuptime -f",
    "bpftrace-stacks": "bpftrace, sched_switch: count() by kernel and user stack",
    "bpftrace-runqlat": "bpftrace runqlat.bt",
    "perf-sched": "perf sched record",
    "perf-sched-g": "perf sched record -g",
    "perf-switch-g": "perf record -e sched:sched_switch -a -g",
    "perf-switch-dwarf": "perf record -e sched:sched_switch -a --call-graph dwarf",
    "perf-trace": "perf trace -s -a",
    "strace": "strace -f -c -w",
}


def measure(kernel, quick):
    """{tool: {"none" | "with" | "start" | "memory" | "frames" | "lost" | "missing": value}}, as the script explains them"""
    found = collections.defaultdict(dict)
    chosen = QUICK if quick else os.environ.get("LATTOP_PEERS", "")
    # What the others are compared with is among them
    setting = [f"LATTOP_PEERS={' '.join(['lattop'] + [name for name in chosen.split() if name != 'lattop'])}"] if chosen else []
    for words in guest.figures(kernel, "peers", "--mem", "4096", setting=setting):
        name, what, value = words
        found[name][what] = float(value)
    return found


def cell(figures, what, scale=1.0, form=",.0f"):
    return format(figures[what] / scale, form) if what in figures else "-"


def tables(results):
    yield ("The same two processes by a pipe, 10 user frames, built without frame pointers, beside each tool in turn, in one guest. Added: instructions "
           "of one sleep and its wake-up. Frames: of the program's own six (main, descend four times, measure) those in the best stack that the "
           "tool shows. Start: instructions of the tool until it traces; memory: resident at most until then, of lattop with the module's.")
    yield ""
    rows = []
    for kernel, found in results.items():
        ours = found["lattop"]["with"] - found["lattop"]["none"]
        for name, figures in sorted(found.items(), key=lambda pair: pair[1].get("with", 0) - pair[1].get("none", 0)):
            if "missing" in figures:
                continue
            added = figures["with"] - figures["none"]
            rows.append((kernel, NAMES[name], f"{added:,.0f}", f"{100 * added / figures['none']:.0f}%", f"{added / ours:.1f}",
                         cell(figures, "frames"), cell(figures, "lost"), cell(figures, "start", 1e9, ".2f"), cell(figures, "memory", 1e6, ".0f")))
    yield from guest.table(("kernel", "running", "added", "of the cycle", "times lattop's", "own frames shown, of 6", "lost, by its own count",
                            "start, G instructions", "memory, MB"), rows)
    for kernel, found in results.items():
        missing = [NAMES[name] for name, figures in found.items() if "missing" in figures]
        if missing:
            yield ""
            yield f"{kernel}: not on this machine: {', '.join(missing)}."
