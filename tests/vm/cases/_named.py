# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user's tasks have under [other], in the record view. _named.py UID prints "TASKS ENTRIES SLEEPS_UNDER_OTHER"."""

import struct
import sys

from _records import snapshot

SECTIONS = 600  # the layouts are those of module/uapi/lattop.h
OTHER = 0xFFFFFFFF

data = snapshot(int(sys.argv[1]))
(tasks_at, tasks, task_bytes), (entries_at, _, entry_bytes) = (struct.unpack_from("=QII", data, SECTIONS + 16 * i) for i in range(2))
entries = unnamed = 0
for i in range(tasks):
    first, count = struct.unpack_from("=II", data, tasks_at + i * task_bytes + 100)
    entries += count
    for e in range(first, first + count):
        trace, = struct.unpack_from("=I", data, entries_at + e * entry_bytes)
        sleeps, = struct.unpack_from("=Q", data, entries_at + e * entry_bytes + 40)
        unnamed += sleeps if trace == OTHER else 0
print(tasks, entries, unnamed)
