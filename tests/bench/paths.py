# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions run the instructions that are added to a sleep and its wake-up. The script path is the guest's half; irqs_off.c counts
in QEMU."""

import tempfile

import guest
import plugin

MODES = ("none", "kernel", "rows")
SHOWN = 2  # instructions of a sleep


def measure(kernel, _quick):
    """{mode: {function: instructions of a sleep and its wake-up}}"""
    names, symbols = [], []
    with tempfile.TemporaryDirectory(prefix="lattop-bench-") as folder:
        for words in guest.figures(kernel, "path", "--mem", "2048", "--plugin", plugin.build(folder)):
            if words[0] == "symbol":
                symbols.append((int(words[1], 16), words[2]))
            else:
                names.append(words[0])
        windows = plugin.windows(folder, len(names), plugin.Symbols(symbols))
    return {name: {function: n / figures["window"] for function, n in functions.items()}
            for name, (figures, functions) in zip(names, windows) if name in MODES}


def tables(results):
    yield ("Where the instructions go that are added to a sleep and its wake-up by a pipe: by function, what each ran less what it ran without the "
           f"module. Static functions that the compiler put into their callers count there; less than {SHOWN} are not shown.")
    for kernel, modes in results.items():
        yield ""
        added = {function: [modes[mode].get(function, 0) - modes["none"].get(function, 0) for mode in MODES[1:]]
                 for mode in MODES for function in modes[mode]}
        rows = [(function, *(f"{n:,.0f}" for n in pair)) for function, pair in sorted(added.items(), key=lambda item: -item[1][1])
                if max(map(abs, pair)) >= SHOWN]
        sums = (f"{sum(pair[i] for pair in added.values()):,.0f}" for i in range(len(MODES) - 1))
        yield from guest.table((f"{kernel}", "kernel trace", "+ 10 user frames by learned rows"), rows + [("all", *sums)])
