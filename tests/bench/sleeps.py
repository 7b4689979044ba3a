# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sleep and its wake-up cost with lattop in all its modes; what learning costs. sleep-cost is the guest's half."""

import re

import guest

QUICK = ("LATTOP_WAYS=pipe", "LATTOP_DEPTHS=10", "LATTOP_WAKERS=no", "LATTOP_LEARN=no")
COLUMNS = (("none", "the cycle alone"), ("filtered", "turned away by a filter"), ("kernel", "kernel trace"), ("fp 10", "+ 10 user frames by frame pointer"),
           ("rows 10", "+ 10 by learned rows"), ("fp 30", "+ 30 by frame pointer"), ("rows 30", "+ 30 by learned rows"),
           ("missing 10", "+ a miss that waits for its answer"))
LEARNING = (("misses", "misses"), ("rows", "rows"), ("resolver_ns", "resolver's instructions"),
            ("learned_ns", "until nothing was missed any more, ns"))


def measure(kernel, quick):
    """({(way, column): instructions of a sleep}, {name: value of learning}); quick: of pipes and 10 frames only"""
    sleeps, learning = {}, {}
    for words in guest.figures(kernel, "sleep-cost", setting=QUICK if quick else ()):
        if words[0] == "sleep":
            _, way, frames, mode, value = words
            # A frame more or less, of libc's: 10 or 30 were asked for
            column = mode if mode in ("none", "filtered", "kernel") else f"{mode} {round(int(frames), -1)}"
            sleeps[way, column] = float(value)
        elif words[0] != "NOTE":
            learning[words[0]] = float(words[1])
    return sleeps, learning


def tables(results):
    yield "Instructions that are added to one sleep and its wake-up; the first column is what these take without the module."
    yield ""
    rows = []
    for kernel, (sleeps, _) in results.items():
        for way in dict.fromkeys(way for way, _ in sleeps):
            alone = sleeps[way, "none"]
            added = (f"{sleeps[way, column] - alone:,.0f}" if (way, column) in sleeps else "-" for column, _ in COLUMNS[1:])
            rows.append((kernel, way, f"{alone:,.0f}", *added))
    yield from guest.table(["kernel", "it sleeps by"] + [title for _, title in COLUMNS], rows)
    yield ""
    yield ("By pipe, futex and epoll two processes wake each other, and a sleep is one switch of tasks; by nanosleep an interrupt wakes the one, and each sleep is "
           "two switches: another task runs meanwhile.")
    wakers = [(kernel, way, f"{value - sleeps[way, 'none']:,.0f}") for kernel, (sleeps, _) in results.items()
              for (way, column), value in sleeps.items() if column == "wakers 10"]
    if wakers:
        yield ""
        yield "With 10 user frames by learned rows, and who woke whom (wakers=1):"
        yield ""
        yield from guest.table(["kernel", "it sleeps by", "added"], wakers)
    learned = [(kernel, *(f"{learning[name]:,.0f}" for name, _ in LEARNING), f"{learning['resolver_ns'] / max(learning['rows'], 1):,.0f}")
               for kernel, (_, learning) in results.items() if learning]
    if learned:
        yield ""
        yield "Learning, from nothing, the user stacks of all that sleeps, a C++ server of 64 threads at work among it:"
        yield ""
        yield from guest.table(["kernel"] + [title for _, title in LEARNING] + ["instructions a row"], learned)


def figures(text):
    """{(kernel, way, column): instructions} of the first table in a page."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == len(COLUMNS) + 2 and re.fullmatch(r"[\d,]+", cells[2]):
            for (column, _), cell in zip(COLUMNS, cells[2:]):
                if cell != "-":
                    found[cells[0], cells[1], column] = float(cell.replace(",", ""))
    return found
