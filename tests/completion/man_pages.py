#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares every --help with its man page: lattop.8, and lattop-COMMAND.8 of each command.

usage: man_pages.py FOLDER LATTOP
Each option of --help is an entry of the page, each entry an option, and all but --help stand in the synopsis. Every word that
an option or a place takes is named. No command is without a page and a line in lattop.8, and no page without its command.
"""
import glob
import os
import re
import subprocess
import sys

FOLDER, LATTOP = sys.argv[1:]
HELP_LINE = re.compile(r"^  (-\w)?,?(--[\w-]+)?(?: |$)")


def help_of(command):
    words = [LATTOP, *([command] if command else []), "--help"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def flags(line):
    """Options on a line of mdoc: Fl d is -d, Fl -delay is --delay; "Fl -" alone stands before a command."""
    return {"-" + name for name in re.findall(r"\bFl (-?[\w-]*\w)", line)}


def section(page, name):
    parts = re.split(r"^\.Sh (.*)$", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2])).get(name, "")


def check(command, text):
    path = os.path.join(FOLDER, f"lattop-{command}.8" if command else "lattop.8")
    assert os.path.exists(path), f"{command} has no page"
    with open(path, encoding="utf-8") as file:
        page = file.read()
    options = text.split("Options:\n")[1].split("\n\n")[0].splitlines()
    names = [{name for name in HELP_LINE.match(line).groups() if name} for line in options]
    entries = [flags(line) for line in page.splitlines() if line.startswith(".It Fl")]
    for name in names:
        assert name in entries, f"{path}: no entry for {sorted(name)}"
    for entry in entries:
        assert entry in names, f"{path}: --help has no {sorted(entry)}"
    synopsis = flags(section(page, "SYNOPSIS"))
    for name in names:
        assert name & synopsis, f"{path}: {sorted(name)} is not in the synopsis"
    assert synopsis <= set().union(*names), f"{path}: synopsis of {synopsis}"
    for line in options:
        for word in re.findall(r": ((?:\w+, )+\w+)$", line):
            for choice in word.split(", "):
                everywhere = page if command != "replay" else open(os.path.join(FOLDER, "lattop.8"), encoding="utf-8").read()
                assert re.search(rf"\b{choice}\b", everywhere), f"{path} does not name {choice}"
    print(f"ok      {os.path.basename(path)}: {len(names)} options")
    return page


def main():
    text = help_of("")
    commands = re.findall(r"^  (\w+)  +\S", text.split("--help:\n")[1], flags=re.M)
    assert len(commands) >= 10, commands
    main_page = check("", text)
    for command in commands:
        check(command, help_of(command))
        assert f".It Xr lattop-{command} 8" in main_page, f"lattop.8 does not list {command}"
    pages = {os.path.basename(path) for path in glob.glob(os.path.join(FOLDER, "lattop*.8"))}
    assert pages == {"lattop.8", *(f"lattop-{command}.8" for command in commands)}, pages


try:
    main()
except AssertionError as wrong:
    sys.exit(f"FAILED  {wrong}")
