# SPDX-License-Identifier: GPL-2.0-or-later
"""What hooks that do nothing cost at lattop's places, and each step above that. The script floor is the guest's half."""

import os
import subprocess

import guest

RUNGS = (("none", "the cycle alone"), ("empty", "hooks that do nothing"), ("filtered", "turned away by a filter"),
         ("accounting", "accounted, one frame (kernel_depth=1 user_depth=0)"), ("kernel", "whole kernel trace (user_depth=0)"))


def empty_hooks(kernel):
    """The path of empty_hooks.ko for a kernel, built where it is not."""
    line = [os.path.join(guest.TOP_DIR, "tests", "vm", "build-module"), kernel.partition(":")[0]]
    setting = {**os.environ, "MODULE_DIR": os.path.join(guest.HERE, "empty-hooks")}
    return subprocess.run(line, env=setting, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def measure(kernel, _quick):
    """{rung: instructions of a sleep and its wake-up}"""
    setting = [f"LATTOP_EMPTY_HOOKS={empty_hooks(kernel)}"]
    return {words[0]: float(words[1]) for words in guest.figures(kernel, "floor", setting=setting) if words[0] != "NOTE"}


def tables(results):
    yield ("Instructions that are added to a sleep and its wake-up by a pipe, step by step; the first column is what these take without "
           "a module. Hooks that do nothing stand where lattop's do: what is below them is the kernel's way to a hook.")
    yield ""
    rows = ((kernel, f"{rungs['none']:,.0f}", *(f"{rungs[name] - rungs['none']:,.0f}" for name, _ in RUNGS[1:]))
            for kernel, rungs in results.items())
    yield from guest.table(("kernel", *(title for _, title in RUNGS)), rows)
