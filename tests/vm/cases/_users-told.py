#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom the text's "# user" lines are about, for each pair of one who opens /proc/lattop and one who reads by that descriptor.

Run by view-what-users-hold, as root: _users-told.py UID UID, users who have tasks. Root by root's is told of both, each user by his own of himself,
and by a descriptor that another has opened nobody is told of anybody.
"""

import os
import re
import socket
import sys

ROOT = 0


def become(uid):
    if uid != ROOT:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def as_user(uid, do):
    """What do() returns, bytes and descriptors, in a process of that user."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            become(uid)
            answer, fds = do()
            socket.send_fds(theirs, [answer + b"."], fds)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    answer, fds, _, _ = socket.recv_fds(ours, 1 << 16, 1)
    ours.close()
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit(f"as user {uid}: nothing")
    return answer[:-1], fds


def open_it():
    return b"", [os.open("/proc/lattop", os.O_RDONLY)]


def users_told_by(fd):
    text = b""
    while more := os.pread(fd, 1 << 16, len(text)):
        text += more
    if not text.startswith(b"# lattop"):
        raise ValueError(text[:80])
    return b" ".join(re.findall(rb"^# user uid=(\d+) ", text, re.M)), []


def is_right(told, opener, reader, users):
    if opener == reader == ROOT:
        return told >= set(users)
    return told == ({reader} if opener == reader else set())


def main():
    users = [int(uid) for uid in sys.argv[1:]]
    wrong = 0
    for opener in (ROOT, *users):
        fd = as_user(opener, open_it)[1][0]
        for reader in (ROOT, *users):
            told = {int(uid) for uid in as_user(reader, lambda: users_told_by(fd))[0].split()}  # pylint: disable=cell-var-from-loop
            right = is_right(told, opener, reader, users)
            print(f"{reader} reads what {opener} has opened, and is told of {sorted(told)}{'' if right else ': WRONG'}")
            wrong += not right
        os.close(fd)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
