# SPDX-License-Identifier: GPL-2.0-or-later
"""What a snapshot of the first 1,000 of many tasks costs, and how long interrupts are off for it. The script snapshot is the guest's
half; irqs_off.c counts in QEMU."""

import collections
import tempfile

import guest
import plugin

TASKS, QUICK_TASKS = 30000, 2000
SHOWN = 10
OFF_AT_MOST = 10_000  # instructions that hooks may have to wait, and interrupts be off, for a reader


def measure(kernel, quick):
    """({view: [((instructions, bytes), window), ...]}, {what the module held})"""
    costs, held, symbols = [], {}, []
    tasks = QUICK_TASKS if quick else TASKS
    with tempfile.TemporaryDirectory(prefix="lattop-bench-") as folder:
        for words in guest.figures(kernel, "snapshot", "--mem", "4096", "--plugin", plugin.build(folder), setting=[f"LATTOP_TASKS={tasks}"]):
            if words[0] in ("text", "records", "all"):
                costs.append((words[0], (float(words[1]), int(words[2]))))
            elif words[0] == "symbol":
                symbols.append((int(words[1], 16), words[2]))
            elif words[0] != "NOTE":
                held[words[0]] = int(words[1])
        windows = plugin.windows(folder, len(costs), plugin.Symbols(symbols))
    views = collections.defaultdict(list)
    for (view, reading), window in zip(costs, windows):
        views[view].append((reading, window))
    return views, held


def check(results):
    """[(what, None or why it is too much)] of what the module's code keeps interrupts off for, each view."""
    judged = []
    for kernel, (views, _) in results.items():
        for view, snapshots in views.items():
            longest = max(stretches["module"] for _, (stretches, _) in snapshots)
            judged.append((f"{kernel} {view}", None if 0 < longest <= OFF_AT_MOST else
                           f"interrupts were off for {longest:,} instructions by the module, {OFF_AT_MOST:,} are allowed"))
    return judged


def tables(results):
    yield ("A snapshot of the first 1,000 of many tasks that sleep every ten seconds, each with the trace that cost it most, every two "
           "seconds by a descriptor that stays open; the dearest of three. all: one process, of which four threads have 500 traces each, with "
           "all of them. Off: the longest stretch of instructions with interrupts "
           "off while it was taken in which the module's code ran; the longest interrupt that woke tasks, as many as were due, each through "
           "the hooks; the longest of anybody else's (interrupts that wake nobody, the scheduler).")
    yield ""
    rows = []
    for kernel, (views, held) in results.items():
        for view, snapshots in views.items():
            (instructions, size), _ = max(snapshots, key=lambda s: s[0])
            rows.append((kernel, view, f"{held['tasks']:,}", f"{instructions:,.0f}", f"{size:,}",
                         *(f"{max(stretches[whose] for _, (stretches, _) in snapshots):,}" for whose in ("module", "hooks", "other"))))
    yield from guest.table(("kernel", "view", "tasks known", "instructions", "bytes", "off, the module's", "off, interrupts that wake",
                            "off, others'"), rows)
    yield ""
    yield "Where the instructions go:"
    yield ""
    rows = []
    for kernel, (views, _) in results.items():
        for view, snapshots in views.items():
            _, (_, functions) = max(snapshots, key=lambda s: s[0])
            most = (f"{name} {100 * n / sum(functions.values()):.0f}%" for name, n in functions.most_common(SHOWN))
            rows.append((kernel, view, ", ".join(most)))
    yield from guest.table(("kernel", "view", "functions"), rows)
