# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program on a terminal of its own, and counts what its refreshes cost. Called by the script screen, inside a guest under -icount,
where a nanosecond of CPU time is an instruction.

terminal.py PREFIX SHOWN COMMAND...: its table is there once it wrote SHOWN; prints "PREFIX what value" for
  first, first_memory   CPU time of the program, ns, and its resident memory at most, bytes, when its first whole screen was there
  refresh, memory       the same of one refresh, the mean of ten, behind five more; and at the end
  calls                 system calls of one refresh, the mean of two, in a second run under strace
A refresh is what the program writes behind half a second of silence: the interval is two seconds.
"""

import fcntl
import glob
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios

SILENCE_S, PATIENCE_S = 0.5, 120
LINES, COLUMNS = 40, 120
EMPTY, WARM, COUNTED, TRACED = 10, 5, 10, 2


class Program:
    """One on a terminal; ended with the context."""

    def __init__(self, command):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execvp(command[0], command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def refreshes(self, count):
        """Returns when that many more are written; what they wrote, in bytes."""
        written = b""
        for _ in range(count):
            burst = b""
            while select.select([self.terminal], [], [], SILENCE_S if burst else PATIENCE_S)[0]:
                burst += os.read(self.terminal, 65536)
            if not burst:
                sys.exit("terminal.py: no refresh any more")
            written += burst
        return written

    def cpu_ns(self):
        total = 0
        for path in glob.glob(f"/proc/{self.pid}/task/*/schedstat"):
            with open(path, encoding="ascii") as f:
                total += int(f.read().split()[0])
        return total

    def resident(self):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))


def main():
    prefix, shown, command = sys.argv[1], sys.argv[2].encode(), sys.argv[3:]
    with Program(command) as program:
        # Some draw an empty screen before they know anything
        if not any(shown in program.refreshes(1) for _ in range(EMPTY)):
            sys.exit(f"terminal.py: {command[0]} does not show '{shown.decode()}'")
        print(prefix, "first", program.cpu_ns())
        print(prefix, "first_memory", program.resident())
        program.refreshes(WARM)
        before = program.cpu_ns()
        program.refreshes(COUNTED)
        print(prefix, "refresh", (program.cpu_ns() - before) // COUNTED)
        print(prefix, "memory", program.resident(), flush=True)
    with Program(command) as program, tempfile.NamedTemporaryFile() as calls:
        program.refreshes(WARM)
        with subprocess.Popen(["strace", "-f", "-qq", "-o", calls.name, "-p", str(program.pid)]) as tracer:
            program.refreshes(2)  # attached by then
            begin = os.path.getsize(calls.name)
            program.refreshes(TRACED)
            end = os.path.getsize(calls.name)
            tracer.send_signal(signal.SIGINT)
        with open(calls.name, "rb") as f:
            f.seek(begin)
            n = sum(b"resumed>" not in line for line in f.read(end - begin).splitlines())
    print(prefix, "calls", n // TRACED, flush=True)


main()
