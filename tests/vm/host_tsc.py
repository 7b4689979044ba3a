# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate of the host's time stamp counter. Imported by run.

An emulated CPU's counter is the host's. A guest finds its rate by timing loops against emulated timers, which fails on
a busy host: then its clock ticks in jiffies. Telling it (tsc_early_khz=) costs 50 ms and cannot fail.
"""

import ctypes
import mmap
import platform
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")


def host_tsc_khz():
    """kHz, to about 1 in 100,000; None where it cannot be read."""
    if platform.machine() != "x86_64":
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    page.write(RDTSC)
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def sample():
        # Of a few pairs the one read closest together: nothing came between its two clocks
        pairs = []
        for _ in range(20):
            before, ticks, after = time.monotonic_ns(), rdtsc(), time.monotonic_ns()
            pairs.append((after - before, before, ticks))
        return min(pairs)[1:]

    time_0, ticks_0 = sample()
    time.sleep(0.05)
    time_1, ticks_1 = sample()
    return round((ticks_1 - ticks_0) * 1_000_000 / (time_1 - time_0))
