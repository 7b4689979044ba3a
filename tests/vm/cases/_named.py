# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user's tasks have under [other], in the record view. _named.py UID prints "TASKS ENTRIES SLEEPS_UNDER_OTHER"."""

import fcntl
import os
import struct
import sys

QUERY = 0x4C70  # LT_IOC_QUERY; the layouts are those of module/uapi/lattop.h
RECORDS, ALL_TRACES, SECTIONS = 1, 2, 600
OTHER = 0xFFFFFFFF

fd = os.open("/proc/lattop", os.O_RDONLY)
fcntl.ioctl(fd, QUERY, struct.pack("=8I2Q", 48, RECORDS, 0, 1 << 16, ALL_TRACES, 0, int(sys.argv[1]), 0, 0, 0))
data = b""
while chunk := os.pread(fd, 1 << 20, len(data)):
    data += chunk
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
