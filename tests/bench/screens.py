# SPDX-License-Identifier: GPL-2.0-or-later
"""What a refresh of the screen costs lattop, top -H and htop. The script screen is the guest's half."""

import collections

import guest

TOOLS = ("lattop", "top", "htop")
TITLES = {"lattop": "lattop", "top": "top -H", "htop": "htop"}


def measure(kernel, quick):
    """{threads: {tool: {"refresh" | "calls" | "first" | "first_memory" | "memory" | "missing": value}}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    setting = ["LATTOP_CROWDS=200"] if quick else guest.environment("LATTOP_CROWDS")
    for n, tool, what, value in guest.figures(kernel, "screen", "--mem", "4096", setting=setting):
        found[int(n)][tool][what] = float(value)
    return found


def tables(results):
    yield ("One refresh of the screen, 120 columns and 40 lines, every two seconds, beside a process of many threads that sleep for a second at a time: "
           "instructions of the tool's process, all its threads; the mean of ten. First screen: from its start until the table was there and half a second later.")
    yield ""
    rows = []
    for kernel, found in results.items():
        for n, tools in found.items():
            for tool in TOOLS:
                f = tools[tool]
                if "missing" in f:
                    continue
                beside = f"{f['refresh'] / tools['top']['refresh']:.2f}" if "refresh" in tools["top"] else "-"
                rows.append((kernel, f"{n:,}", TITLES[tool], f"{f['refresh']:,.0f}", beside, f"{f['calls']:,.0f}",
                             f"{f['first'] / 1e9:.2f}", f"{f['first_memory'] / 1e6:.0f}", f"{f['memory'] / 1e6:.0f}"))
    yield from guest.table(("kernel", "threads", "tool", "instructions a refresh", "of top -H's", "system calls a refresh", "first screen, G instructions",
                            "memory then, MB", "memory later, MB"), rows)
