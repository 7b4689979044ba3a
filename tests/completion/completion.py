#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a real shell what it completes on lattop's command lines, and compares with every --help.

usage: completion.py bash|zsh|fish LATTOP

Exit status 77: the shell is not installed.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SHELL, LATTOP = sys.argv[1:]
OPTION = re.compile(r"^  (-\w)?,?(--[\w-]+)?(?: |$)")
COMMAND = re.compile(r"^  (\w+)  +\S")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def options_of(command):
    """What --help lists, each name."""
    text = output(LATTOP, *([command] if command else []), "--help").split("Options:\n")[1].split("\n\n")[0]
    names = {name for line in text.splitlines() for name in OPTION.match(line).groups() if name}
    assert {"-h", "--help"} <= names, f"{command}: {text}"
    return names


class Bash:
    def __init__(self, folder):
        self.script = os.path.join(folder, "lattop")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(output(LATTOP, "completion", "bash"))

    def complete(self, line):
        words = line.split(" ")
        # As bash calls it; compopt works only within a completion of a terminal's.
        script = (f"compopt() {{ :; }}; source {self.script}; COMP_WORDS=({' '.join(map(shlex.quote, words))}); "
                  f"COMP_CWORD={len(words) - 1}; "
                  'read -r _ _ call name < <(complete -p lattop | tr "\\n" " "); '
                  '[ "$name" = lattop ] || exit 9; $call lattop; printf "%s\\n" "${COMPREPLY[@]}"')
        return set(output("bash", "--norc", "-c", script).split())


class Fish:
    def __init__(self, folder):
        self.script = os.path.join(folder, "lattop.fish")
        self.env = os.environ | {"HOME": folder}
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(output(LATTOP, "completion", "fish"))

    def complete(self, line):
        script = f"source {self.script}; complete -C {shlex.quote(line)}"
        done = subprocess.run(["fish", "--no-config", "-c", script], env=self.env, capture_output=True, text=True, check=True)
        return {one.split("\t")[0] for one in done.stdout.splitlines()}


class Zsh:
    """A zsh in a pseudo-terminal of its own: Tab is typed at its prompt, then a line that ends what is read."""

    SCRIPT = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'fpath=(FOLDER $fpath); autoload -Uz compinit; compinit -C -d FOLDER/dump; LISTMAX=10000; COLUMNS=200; LINES=400; setopt auto_list no_list_ambiguous no_auto_menu no_beep; zle_bracketed_paste=()'
zpty -w z 'zstyle ":completion:*" verbose no; bindkey -e; PROMPT="ASK""ME>"'
zpty -r -m z ignored '*ASKME>*'
zpty -n -w z "$1"$'\t'
zpty -n -w z $'\x15echo DO""NE\n'
zpty -r -m z shown '*DONE*'
print -r -- "$shown"
"""

    def __init__(self, folder):
        self.script = os.path.join(folder, "ask")
        with open(os.path.join(folder, "_lattop"), "w", encoding="utf-8") as file:
            file.write(output(LATTOP, "completion", "zsh"))
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(self.SCRIPT.replace("FOLDER", folder))

    def complete(self, line):
        done = subprocess.run(["zsh", "-f", self.script, line], capture_output=True, text=True, check=True, timeout=60)
        # Where the cursor moves a word ends: the last one of the list has nothing else behind it
        shown = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]|[\x00-\x08\x0e-\x1f]", " ", done.stdout)
        return set(shown.split("\n", 1)[-1].replace("\r", " ").split())


def check(shell):
    commands = [m.group(1) for m in map(COMMAND.match, output(LATTOP, "--help").split("--help:\n")[1].splitlines()) if m]
    assert len(commands) >= 10, commands
    for command in ["", *commands]:
        wanted = options_of(command)
        line = f"lattop {command} -" if command else "lattop -"
        found = {word for word in shell.complete(line) | shell.complete(line + "-") if re.fullmatch(r"-\w|--[\w-]+", word)}
        assert found - {"--"} == wanted, f"{line}: not completed {sorted(wanted - found)}, not in --help {sorted(found - wanted)}"
        print(f"ok      {line}: {len(wanted)} options")
    forms = {"folded", "flamegraph", "speedscope", "pprof", "perfetto", "csv", "json"}
    for line, wanted, not_wanted in [
            ("lattop r", {"record", "replay", "report", "run"}, {"diff"}),
            ("lattop export -f ", forms, {"live"}),
            ("lattop export --format p", {"pprof", "perfetto"}, {"csv"}),
            ("lattop export -f csv ", {"live", "two-files-1"}, forms),
            ("lattop record -o two-", {"two-files-1", "two-files-2"}, {"live"}),
            ("lattop diff before two-", {"two-files-1", "two-files-2"}, set()),
            ("lattop -s r", {"runq", "rate", "reason"}, {"pid"}),
            ("lattop completion ", {"bash", "zsh", "fish"}, {"two-files-1"}),
            ("lattop run -- pri", {"printf", "printenv"}, {"--output"})]:
        found = shell.complete(line) - set(line.split())
        assert wanted <= found, f"{line}: {sorted(found)[:40]}, wanted {wanted}"
        assert not not_wanted & found, f"{line}: {not_wanted & found}"
        print(f"ok      {line}")
    # Which processes is the shell's choice
    assert any(word.isdigit() for word in shell.complete("lattop stack ")), "lattop stack: no pids"
    # zsh lists what stands behind the comma, the others the whole word
    behind_comma = shell.complete("lattop -p 1,")
    assert any(re.fullmatch(r"\d+" if SHELL == "zsh" else r"1,\d+", word) for word in behind_comma), f"lattop -p 1,: {sorted(behind_comma)[:40]}"


def main():
    if shutil.which(SHELL) is None:
        print(f"SKIPPED: no {SHELL}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as here:
        os.chdir(here)
        for name in ("two-files-1", "two-files-2"):
            with open(name, "w", encoding="utf-8"):
                pass
        check({"bash": Bash, "zsh": Zsh, "fish": Fish}[SHELL](folder))


LATTOP = os.path.abspath(LATTOP)
try:
    main()
except AssertionError as wrong:
    sys.exit(f"FAILED  {wrong}")
