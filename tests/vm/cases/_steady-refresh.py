# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads strace -f of lattop's live screen and looks for refreshes in a row that do what they must and nothing else.

usage: _steady-refresh.py PID TRACE
A refresh is from one poll of the main thread that timed out to its next one. What other threads do in it counts, too.
"""
import collections
import re
import sys

IN_A_ROW = 5
MUST = {"pread64": (1, 64), "ppoll": (1, 1), "write": (1, 1)}
# The query is handed over by ioctl. Curses looks for a key (read: EAGAIN), and sets SIGTSTP aside while it draws. Threads that wait
# do so by these.
MAY = {"ioctl", "read", "rt_sigaction", "clock_gettime", "getrusage", "futex", "poll", "brk", "mmap", "munmap", "madvise", "restart_syscall"}
CALL = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)[( ]")


def refreshes(lines, main):
    """The calls of each refresh, by name; None where the poll ended otherwise than by time."""
    calls = None
    for line in lines:
        match = CALL.match(line)
        if not match:
            continue
        tid, name = match.groups()
        whole = "<... " not in line
        if tid == main and name == "ppoll" and "unfinished" not in line:
            if calls is not None:
                calls["ppoll"] += 1
                yield calls
            calls = collections.Counter() if "Timeout" in line else None
        elif calls is not None and whole and not (tid == main and name == "ppoll"):
            calls[name] += 1


def wrong(calls):
    for name, (least, most) in MUST.items():
        if not least <= calls[name] <= most:
            return f"{calls[name]} {name}"
    others = set(calls) - set(MUST) - MAY
    return " ".join(sorted(others))


def main():
    with open(sys.argv[2], encoding="utf-8", errors="replace") as file:  # strace may be at it
        seen = list(refreshes(file, sys.argv[1]))
    row = best = 0
    steady = None
    for calls in seen:
        row = 0 if wrong(calls) else row + 1
        if row > best:
            best, steady = row, calls
    print(f"{len(seen)} refreshes, {best} in a row steady; the last of these: {dict(sorted((steady or {}).items()))}")
    if best < IN_A_ROW:
        for calls in seen[-5:]:
            print(f"not steady: {wrong(calls)}: {dict(calls)}")
        sys.exit("FAIL no refreshes in a row that only read, poll and write")


main()
