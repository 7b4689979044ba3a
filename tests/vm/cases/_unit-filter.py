# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a systemd unit's SystemCallFilter= lets the system calls through that standard input names.

    _unit-filter.py UNIT        prints those that it refuses; exits 1 where there is one

What the sets hold is asked of systemd (systemd.exec(5) says how lines add up): the first line allows, a later one with ~ takes away,
one without adds.
"""
import subprocess
import sys


def known_sets():
    """Name of each set -> its calls and sets."""
    sets, name = {}, None
    text = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter"], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        word = line.strip()
        if line.startswith("@"):
            name = word
            sets[name] = []
        elif name and word and not word.startswith("#"):
            sets[name].append(word)
    return sets


def expand(words, sets):
    calls = set()
    for word in words:
        calls |= expand(sets[word], sets) if word.startswith("@") else {word}
    return calls


def main(path):
    sets, allowed = known_sets(), set()
    for line in open(path, encoding="utf-8"):
        name, _, value = line.strip().partition("=")
        if name == "SystemCallFilter" and value.startswith("~"):
            allowed -= expand(value[1:].split(), sets)
        elif name == "SystemCallFilter":
            allowed |= expand(value.split(), sets)
    # setpriority is for a daemon that is started without Nice=; it may fail
    refused = set(sys.stdin.read().split()) - allowed - {"setpriority"}
    print(f"the unit allows {len(allowed)} system calls; of the daemon's it refuses: {' '.join(sorted(refused)) or 'none'}")
    return bool(refused) or not allowed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
