# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugins of QEMU's: built, and what irqs_off.c wrote. Used by the parts snapshot, path and work of bench."""

import bisect
import collections
import os
import re
import subprocess

import guest

KERNEL = 1 << 63


def build(folder, name="irqs_off"):
    """Builds it into the folder; its argument for tests/vm/run --plugin, that makes it write there."""
    plugin = os.path.join(folder, name + ".so")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden", "-o", plugin,
                    os.path.join(guest.HERE, name + ".c")], check=True)
    return f"{plugin},out={folder}/stretches,code={folder}/code"


class Symbols:
    """The kernel's functions, by address."""

    def __init__(self, pairs):
        self.pairs = sorted(pairs)
        self.addresses = [address for address, _ in self.pairs]

    def name(self, address):
        at = bisect.bisect(self.addresses, address) - 1
        return self.pairs[at][1] if at >= 0 and address >= KERNEL else "[program]"


def stretches(folder, expected):
    """What a plugin wrote of each pair of marks: {"window" | "instructions" | "module" | "hooks" | "other": number}; expected: how many"""
    with open(os.path.join(folder, "stretches"), encoding="ascii") as f:
        found = [{name: int(value) for name, value in re.findall(r"(window|instructions|module|hooks|other)[ =](\d+)", line)} for line in f]
    if len(found) != expected:
        raise SystemExit(f"bench: {expected} measurements, but the plugin saw {len(found)}")
    return found


def windows(folder, expected, symbols):
    """What irqs_off.c wrote, a window a measurement: (its stretches, {function: instructions})"""
    found = [(its, collections.Counter()) for its in stretches(folder, expected)]
    n = -1
    with open(os.path.join(folder, "code"), encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "window":
                n += 1
            else:
                found[n][1][symbols.name(int(words[0], 16))] += int(words[1])
    return found
