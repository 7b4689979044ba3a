# SPDX-License-Identifier: GPL-2.0-or-later
"""A script of this folder in a guest under -icount, and what it printed. Used by the parts of bench."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP_DIR = os.path.dirname(os.path.dirname(HERE))


def figures(kernel, script, *options, setting=()):
    """The words behind FIGURE of each line that the script prints, and behind NOTE the text as ["NOTE", text]; setting: NAME=VALUE...
    kernel: as in tests/vm/kernels; with :kprobe behind it the module is loaded with hook=kprobe"""
    kernel, _, hook = kernel.partition(":")
    setting = [*setting, *([f"LATTOP_HOOK={hook}"] if hook else [])]
    line = [os.path.join(TOP_DIR, "tests", "vm", "run"), "--icount", "--no-module", "--quiet", "--timeout", "7200", *options,
            "--kernel", kernel, "--", *(("env", *setting) if setting else ()), os.path.join(HERE, script)]
    answer = subprocess.run(line, cwd=TOP_DIR, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode:
        sys.exit(f"bench: {kernel}: {script} ended with {answer.returncode}\n{answer.stdout}")
    for text in answer.stdout.splitlines():
        what, _, rest = text.partition(" ")
        if what == "FIGURE":
            yield rest.split()
        elif what == "NOTE":
            yield ["NOTE", rest]


def environment(*names):
    """The setting of those that are set here."""
    return [f"{name}={os.environ[name]}" for name in names if name in os.environ]


def table(columns, rows):
    """Lines of a table; each row as many cells as there are columns."""
    yield "| " + " | ".join(columns) + " |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
