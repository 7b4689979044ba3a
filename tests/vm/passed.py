# SPDX-License-Identifier: GPL-2.0-or-later
"""What passed on the module as it is: suite notes it, and leaves it out with --rest. Imported by suite.

A run of all cases on a kernel that is fifty times slower takes hours; so it can be done in parts. One file a kernel in the
cache, a line a run that passed: the module's sum, the case's, the hook mode, the case, UTC, seconds. A run counts when its
guest ended well, too: a leak is found behind the last case. The sums are of the text in module/ and of the case's own file with the
helpers that it names (_lib.sh): a change of any asks for the case again; one of user space, a test program, the oracle or the kernel's own version does not.
"""

import hashlib
import os
import re
import threading
import time


def sum_of_files(paths):
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            content = f.read()
        digest.update(f"{os.path.basename(path)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def module_files(top):
    """What the module is built from, and nothing a build leaves."""
    found = []
    for folder, _, names in sorted(os.walk(os.path.join(top, "module"))):
        names = [n for n in sorted(names) if n.endswith((".c", ".h")) or n in ("Kbuild", "Makefile")]
        found += [os.path.join(folder, n) for n in names if not n.endswith(".mod.c")]
    return found


def case_files(folder, case):
    """The case, and the files of its folder that it names, or that these name: those that begin with _."""
    found, left = [], [case]
    while left:
        name = left.pop()
        path = os.path.join(folder, name)
        if path in found or not os.path.isfile(path):
            continue
        found.append(path)
        with open(path, encoding="utf-8", errors="replace") as f:
            left += re.findall(r"\b_[\w.-]*\w", f.read())
    return sorted(found)


class Passed:
    """The runs that passed on one kernel, kept in the file `path`."""

    def __init__(self, path, top, cases_dir):
        self.path = path
        self.cases_dir = cases_dir
        self.module = sum_of_files(module_files(top))
        self.lock = threading.Lock()
        self.known = set()
        self.keys = {}
        try:
            with open(self.path, encoding="utf-8") as f:
                self.known = {tuple(line.split()[:4]) for line in f}
        except FileNotFoundError:
            pass

    def key(self, hook, case):
        """Of the case as it was when first asked about: its file may change while it runs."""
        if (hook, case) not in self.keys:
            self.keys[hook, case] = (self.module, sum_of_files(case_files(self.cases_dir, case)), hook, case)
        return self.keys[hook, case]

    def has(self, hook, case):
        return self.key(hook, case) in self.known

    def add(self, hook, case, seconds):
        key = self.key(hook, case)
        with self.lock:
            self.known.add(key)
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(f"{' '.join(key)} {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {seconds:.0f}\n")
