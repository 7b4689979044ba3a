# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sleep and its wake-up cost as tasks and traces become many; what these take of memory. The script growth is the guest's half."""

import collections

import guest


def measure(kernel, quick):
    """{("tasks" | "traces", N): {column: value}}"""
    found = collections.defaultdict(dict)
    setting = ("LATTOP_CROWDS=10 1000", "LATTOP_STACKS=1 10") if quick else ()
    for words in guest.figures(kernel, "growth", "--mem", "4096", setting=setting):
        if words[0] != "NOTE":
            what, n, column, value = words
            found[what, int(n)][column] = float(value)
    return found


def slope(found, what, of):
    """Bytes that one more takes, from the fewest to the most."""
    numbers = sorted(n for name, n in found if name == what)
    first, last = found[what, numbers[0]], found[what, numbers[-1]]
    return (last["bytes"] - first["bytes"]) / (last[of] - first[of])


def tables(results):
    yield "Growth: instructions added to a sleep and its wake-up by a pipe, with a whole stack of 10 user frames, beside tasks that are asleep:"
    yield ""
    rows = []
    for kernel, found in results.items():
        first = None
        for (what, n), f in found.items():
            if what == "tasks":
                added = f["rows"] - f["none"]
                first = first or added
                rows.append((kernel, f"{n:,}", f"{f['tasks']:,.0f}", f"{added:,.0f}", f"{added / first:.2f}", f"{f['bytes']:,.0f}"))
    yield from guest.table(("kernel", "tasks beside it", "tasks known", "added", "growth", "module's memory, bytes"), rows)
    yield ""
    yield ("The same of a task with more and more traces (20 user frames, all stacks as deep). In turn: it sleeps at each, so no stack is that of "
           "one of the last four sleeps, and from 10 on each is walked. At one: it sleeps at one of them all the time, and has the others.")
    yield ""
    rows = []
    for kernel, found in results.items():
        for (what, n), f in found.items():
            if what == "traces":
                rows.append((kernel, f"{n:,}", f"{f['turns'] - f['none']:,.0f}", f"{f['one'] - f['none_one']:,.0f}"))
    yield from guest.table(("kernel", "traces a task", "added, in turn", "added, at one"), rows)
    yield ""
    for kernel, found in results.items():
        task = slope(found, "tasks", "tasks")
        trace = slope(found, "traces", "entries")
        yield f"{kernel}: a task with one trace takes {task:,.0f} bytes of the module's memory, each more trace of its own {trace:,.0f}."
