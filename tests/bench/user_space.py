# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of the front end one by one, by Google Benchmark. The script user-space is the guest's half; lattop-benchmark runs there."""

import collections

import guest

NAMES = {
    "decode_snapshot": "a snapshot decoded",
    "aggregate/tasks": "rows of tasks",
    "aggregate/processes": "rows of processes",
    "aggregate/stacks": "rows of stacks",
    "aggregate/reasons": "rows of reasons",
    "merge": "stacks merged, for report and export",
    "draw/80x24": "80x24 drawn",
    "draw/300x100": "300x100 drawn",
    "refresh": "a refresh of 120x40: decoded, compared, ordered, drawn",
    "symbolize_first": "ten addresses named, from nothing",
    "symbolize_again": "ten addresses named, files known",
}


def measure(kernel, _quick):
    """{name: {threads: instructions}}"""
    found = collections.defaultdict(dict)
    for name, threads, instructions in guest.figures(kernel, "user-space", "--mem", "2048"):
        found[name][int(threads)] = float(instructions)
    return found


def tables(results):
    yield ("Instructions of lattop's own parts, one run of each: of machines of so many threads, each asleep at one of 64 traces of 8 kernel and 10 user frames. "
           "Not in it: the module's snapshot, the terminal.")
    for kernel, found in results.items():
        sizes = sorted({threads for its in found.values() for threads in its if threads})
        rows = [(NAMES[name], *(f"{its[n]:,.0f}" if n in its else "-" for n in sizes), f"{its[0]:,.0f}" if 0 in its else "-")
                for name, its in found.items()]
        yield ""
        yield from guest.table((kernel, *(f"{n:,} threads" for n in sizes), "whatever the machine"), rows)
