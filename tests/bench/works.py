# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions of real work, with and without lattop. The script work is the guest's half; instructions.c counts in QEMU."""

import tempfile

import guest
import plugin

NAMES = {
    "messaging": "perf bench sched messaging -p -g 2",
    "pgbench": "pgbench -c 4 -j 2, its own transactions",
    "redis": "redis-benchmark -c 20 -t set,get",
    "compile": "make -j2 of small C files, gcc -O2",
}


def measure(kernel, quick):
    """({work: {setting: (instructions, sleeps)}}, [notes])"""
    works, notes, names = {}, [], []
    with tempfile.TemporaryDirectory(prefix="lattop-bench-") as folder:
        options = ("--mem", "4096", "--plugin", plugin.build(folder, "instructions"))
        setting = ["LATTOP_SCALE=2"] if quick else guest.environment("LATTOP_SCALE", "LATTOP_WORKS")
        for words in guest.figures(kernel, "work", *options, setting=setting):
            if words[0] == "NOTE":
                notes.append(words[1])
            else:
                names.append(words)
        counts = plugin.stretches(folder, len(names))
    for (work, setting, sleeps), count in zip(names, counts):
        works.setdefault(work, {})[setting] = count["instructions"], int(sleeps)
    return works, notes


def more(its, setting):
    return f"{100 * (its[setting][0] / its['none'][0] - 1):+.2f}%"


def tables(results):
    yield ("Real work, the same each time: instructions of the whole machine, one CPU, until its command ended. The module alone keeps kernel "
           "traces and what of user stacks goes by frame pointer; with the daemon whole stacks, its own work counted. Again: without the module once more, at the "
           "end: what differs there is not lattop's.")
    yield ""
    rows = []
    for kernel, (works, _) in results.items():
        for work, its in works.items():
            rows.append((kernel, NAMES[work], f"{its['none'][0] / 1e6:,.1f}", f"{its['daemon'][1]:,}", more(its, "module"), more(its, "daemon"), more(its, "again")))
    yield from guest.table(("kernel", "work", "M instructions without", "sleeps", "with the module", "and the daemon", "again without"), rows)
    for kernel, (_, notes) in results.items():
        for note in notes:
            yield ""
            yield f"{kernel}: {note}"
