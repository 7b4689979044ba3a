# SPDX-License-Identifier: GPL-2.0-or-later
"""What the QEMU of a guest that hangs is at. Imported by run.

Asked over QMP, as a guest whose CPUs are all stuck says nothing itself. A QEMU that does not answer either hangs as
a program of the host: that is no news of the guest's kernel, and its threads are shown instead.
"""

import json
import os
import re
import time

ANSWER_SECONDS = 10


class Silent(Exception):
    """QEMU did not answer in time, or has ended."""


class Qmp:
    """One end of QMP's socket; see QEMU's docs/interop/qmp-spec."""

    def __init__(self, port):
        self.port, self.rest = port, b""
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        """What the command returns; an error's text where it failed. Raises Silent."""
        request = {"execute": command, "arguments": arguments} if arguments else {"execute": command}
        deadline = time.monotonic() + ANSWER_SECONDS
        try:
            self.port.settimeout(ANSWER_SECONDS)
            self.port.sendall(json.dumps(request).encode() + b"\n")
            while time.monotonic() < deadline:
                *lines, self.rest = (self.rest + self.receive()).split(b"\n")
                for line in lines:
                    answer = json.loads(line)
                    # Others are the greeting and events
                    if "return" in answer:
                        return answer["return"]
                    if "error" in answer:
                        return answer["error"].get("desc", "an error")
        except OSError:
            pass
        raise Silent(command)

    def receive(self):
        data = self.port.recv(1 << 16)
        if not data:
            raise OSError("the other end was closed")
        return data


def cpus(qmp):
    """A line for each CPU: where it is, and whether it takes interrupts."""
    text = qmp.execute("human-monitor-command", **{"command-line": "info registers -a"})
    lines = []
    for cpu in re.split(r"^CPU#", text, flags=re.M)[1:]:
        found = re.search(r"RIP=(\w+) RFL=(\w+).* CPL=(\d).* HLT=(\d)", cpu)
        if found:
            rip, flags, ring, halted = found.groups()
            masked = "" if int(flags, 16) & 0x200 else ", interrupts off"
            lines.append(f"CPU {cpu.split()[0]}: RIP {rip}, ring {ring}{masked}{', halted' if halted == '1' else ''}")
    return lines


def threads(pid):
    """A line for each thread of QEMU's: where it is in the host's kernel, and the ticks it has run."""
    lines = []
    for thread in sorted(os.listdir(f"/proc/{pid}/task"), key=int):
        folder = f"/proc/{pid}/task/{thread}"
        try:
            with open(f"{folder}/stat", encoding="ascii", errors="replace") as stat, open(f"{folder}/wchan", encoding="ascii") as wchan:
                fields = stat.read().rpartition(")")[2].split()
                lines.append(f"thread {thread}: {fields[0]} {wchan.read()}, {fields[11]}+{fields[12]} ticks")
        except OSError:
            continue
    return lines


def look(process, port):
    """Lines that say where a guest hangs; its CPUs get an NMI, which they answer with a panic and everyone's stack."""
    try:
        qmp = Qmp(port)
        lines = cpus(qmp)
        qmp.execute("inject-nmi")
        return ["the guest does not answer: sending an NMI", *lines]
    except Silent as command:
        before = threads(process.pid)
        time.sleep(1)
        after = threads(process.pid)
        return [f"QEMU itself hangs: no answer to {command}", *(f"{a}{' (now, not a second before)' if a not in before else ''}" for a in after)]
