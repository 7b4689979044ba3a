#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the real lattop in a real terminal (tmux) and looks at the screen.

usage: run.py LATTOP WRITE_RECORDS FAKE_MODULE [TEST...]

Each test gets a terminal of its own with a shell in it. Nothing sleeps for a
fixed time: a test waits until the screen shows what it must, or fails.
"""
import glob
import os
import subprocess
import sys
import tempfile

# Each registers its tests
import test_names  # noqa: F401
import test_recordings  # noqa: F401
import test_screen  # noqa: F401
import test_terminal  # noqa: F401
from registry import TESTS
from terminal import Failure, SNAPSHOTS, TYPED, Terminal

NAMES = {"PgUp": "PPage", "PgDn": "NPage", "Esc": "Escape", "Shift-Tab": "BTab", "Ctrl-L": "C-l"}


def every_key_of_the_help_was_typed(setup):
    """Runs last: the help says which keys there are, the tests before have typed them."""
    terminal = Terminal(setup.folder, (120, 90))
    terminal.run(f"clear; {setup.lattop} -i {setup.records} -d 0.2")
    terminal.wait("dbserver")
    terminal.keys("F1")
    lines = terminal.wait("any other key goes back").splitlines()[2:]
    listed = [name for line in lines[:lines.index("")] for name in line[2:16].split()]
    terminal.close()
    if len(listed) < 40:
        raise Failure(f"the help lists {listed}")
    never = [name for name in listed if NAMES.get(name, name) not in TYPED]
    if never:
        raise Failure(f"no test types {never}")


class Setup:
    def __init__(self, lattop, folder, records, write_records, fake_module):
        self.lattop, self.folder, self.records, self.write_records = lattop, folder, records, write_records
        self.fake_module = fake_module
        self.module = os.path.join(folder, "module")  # its snapshot

    def with_module(self):
        """Variables of an environment in which lattop finds a module loaded."""
        subprocess.run([self.write_records, self.module, "0"], check=True)
        return f"LD_PRELOAD={self.fake_module} LATTOP_TEST_MODULE={self.module}"

    def module_goes_on(self):
        """Its next snapshot, ten seconds later."""
        later = os.path.join(self.folder, "later")
        subprocess.run([self.write_records, later, "0", "20"], check=True)
        with open(later, "rb") as snapshot, open(self.module, "r+b") as module:
            module.write(snapshot.read())


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    (lattop, write_records, fake_module), wanted = map(os.path.abspath, sys.argv[1:4]), sys.argv[4:]
    failed = 0
    last = [] if wanted else [every_key_of_the_help_was_typed]
    for function in TESTS + last:
        name = function.__name__.replace("_", " ")
        if wanted and not any(w in name for w in wanted):
            continue
        # Short: the path of a socket has at most 107 bytes.
        with tempfile.TemporaryDirectory(prefix="lattop-", dir="/tmp") as folder:
            records = os.path.join(folder, "records")
            subprocess.run([write_records, records, str(SNAPSHOTS)], check=True)
            try:
                function(Setup(lattop, folder, records, write_records, fake_module))
                print(f"ok      {name}", flush=True)
            except Failure as failure:
                failed += 1
                print(f"FAILED  {name}: {failure}", flush=True)
            finally:
                for socket in glob.glob(os.path.join(folder, "tmux*")):
                    subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True, check=False)
    sys.exit(1 if failed else 0)


main()
