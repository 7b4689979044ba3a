# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that wait for one known thing each, named by it; and the check of what lattop --json says of them.

usage: _known-waits.py DISK TMPDIR    waits until it is killed; makes TMPDIR/ready when all have slept
       _known-waits.py --check        reads the JSON from standard input
"""
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import sys
import time

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
SETTLE_SECONDS = 4


def accept(_disk, _tmp):
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        door.accept()


def receive(_disk, _tmp):
    ends = socket.socketpair()
    ends[0].recv(1)


def send(_disk, _tmp):
    ends = socket.socketpair()
    while True:
        ends[0].send(bytes(1 << 16))


def read_pipe(_disk, _tmp):
    ends = os.pipe()
    os.read(ends[0], 1)


def write_pipe(_disk, _tmp):
    ends = os.pipe()
    os.write(ends[1], bytes(1 << 20))


def open_fifo(_disk, tmp):
    os.mkfifo(tmp + "/fifo")
    os.open(tmp + "/fifo", os.O_RDONLY)


def epoll(_disk, _tmp):
    select.epoll().poll()


def poll(_disk, _tmp):
    select.poll().poll()


def child(_disk, _tmp):
    if os.fork() == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pause()
    os.wait()


def terminal(_disk, _tmp):
    os.read(os.openpty()[1], 1)


def file_lock(_disk, tmp):
    ends = [os.open(tmp + "/lock", os.O_CREAT | os.O_RDWR) for _ in range(2)]
    for end in ends:
        fcntl.flock(end, fcntl.LOCK_EX)


def fsync(disk, _tmp):
    file = os.open(disk + "/fsync", os.O_CREAT | os.O_RDWR)
    while True:
        os.pwrite(file, bytes(8192), 0)
        os.fsync(file)


def disk_read(disk, _tmp):
    file = os.open(disk + "/read", os.O_CREAT | os.O_RDWR)
    os.write(file, bytes(4 << 20))
    os.fsync(file)
    while True:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        for at in range(0, 4 << 20, 1 << 19):
            os.pread(file, 4096, at)


# name -> (what waits, the reason lattop is to give most of its time, whether that is waiting for work)
WAITS = {
    "w-accept": (accept, "accept", True),
    "w-receive": (receive, "socket recv", False),
    "w-send": (send, "socket send", False),
    "w-read-pipe": (read_pipe, "pipe read", False),
    "w-write-pipe": (write_pipe, "pipe write", False),
    "w-fifo": (open_fifo, "pipe open", False),
    "w-epoll": (epoll, "epoll", True),
    "w-poll": (poll, "poll", True),
    "w-child": (child, "child", False),
    "w-sleep": (lambda _disk, _tmp: time.sleep(1000), "sleep", False),
    "w-terminal": (terminal, "terminal", True),
    "w-signal": (lambda _disk, _tmp: signal.pause(), "signal", True),
    "w-lock": (file_lock, "file lock", False),
    "w-fsync": (fsync, "fsync", False),
    "w-disk-read": (disk_read, "disk read", False),
}


def wait_for_all(disk, tmp):
    for name, (wait, _reason, _idle) in WAITS.items():
        if os.fork() == 0:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            LIBC.prctl(PR_SET_NAME, name.encode())
            wait(disk, tmp)
            os._exit(1)
    time.sleep(SETTLE_SECONDS)
    with open(tmp + "/ready", "w", encoding="ascii"):
        pass
    signal.pause()


def check(document):
    said = {}
    for task in document["tasks"]:
        if task["comm"] in WAITS and task["traces"]:
            # The child of w-child has its name too, and waits for a signal
            worst = task["traces"][0]
            said.setdefault(task["comm"], set()).add((worst["reason"], worst["idle"]))
    wrong = 0
    for name, (_wait, reason, idle) in WAITS.items():
        if (reason, idle) not in said.get(name, set()):
            print(f"{name}: {said.get(name)}, not {(reason, idle)}")
            wrong += 1
    print(f"{len(WAITS) - wrong} of {len(WAITS)} reasons are right")
    return wrong


if sys.argv[1] == "--check":
    sys.exit(1 if check(json.load(sys.stdin)) else 0)
wait_for_all(*sys.argv[1:])
