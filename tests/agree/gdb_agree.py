# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the rows lead up a stack as gdb does? Run by gdb, attached to a process (tests/vm/cases/user-stack-agree-gdb):

    LATTOP_AGREE=.../lattop-agree AGREE_STACKS=1000 gdb -nx -batch -p PID -x gdb_agree.py

Again and again the process is held at whatever it does, the stack of each of its threads is walked by gdb and, from the registers
gdb read, by rows (lattop-agree --walk); then it runs for some milliseconds. One gdb for many stacks: it reads a program's files
once, and that takes longer than a thousand walks.

Frames are compared by (pc, sp). Left out are those that are not on the stack: inlined ones, and callers by a tail call, which gdb
reconstructs from debug information. What is not the same is put down under one of these, with its place:

    DIFFERS          a frame of the rows is another than gdb's: shown with both stacks
    rows end first   alike as far as the rows come, which say themselves that they are not complete
    gdb ends first   alike as far as gdb comes
    gdb guesses      alike up to code that nothing describes (a JIT's, and some that is in a file), where gdb reads instructions and
                     guesses, while the rows go by frame pointers

A walk by rows that says it is complete and has fewer frames than gdb's is a DIFFERS too. The last line is the sum; exit status 1
where something DIFFERS, or nothing was compared.
"""
import collections
import os
import subprocess
import time

import gdb

for setting in ("backtrace past-main on", "backtrace past-entry off", "pagination off", "print thread-events off",
                "print inferior-events off", "confirm off", "breakpoint always-inserted on", "debuginfod enabled off"):
    gdb.execute("set " + setting)
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("handle SIGSTOP stop print nopass", to_string=True)


def frames_by_gdb(frame):
    frames = []
    try:
        while frame is not None and len(frames) < 1024:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                frames.append((int(frame.pc()), int(frame.read_register("rsp"))))
            frame = frame.older()
    except gdb.error as error:
        return frames, str(error)
    return frames, "end"


def place(pc):
    symbol = gdb.execute(f"info symbol {pc:#x}", to_string=True).strip()
    return f"{pc:#x} {'' if symbol.startswith('No symbol') else symbol}".strip()


def code_place(pc):
    """The same without the address: what many stacks have in common."""
    return place(pc).partition(" ")[2] or "code without a name"


class Rows:
    """The other walker: asked a thread at a time, while gdb holds the process."""

    def __init__(self, pid):
        self.walker = subprocess.Popen([os.environ["LATTOP_AGREE"], "--walk", str(pid)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)

    def walk(self, tid, registers):
        print(tid, *registers, file=self.walker.stdin, flush=True)
        frames, _, end = self.walker.stdout.readline().partition(" | ")
        if not end:
            raise gdb.GdbError("lattop-agree --walk has ended")
        words = frames.split()[1:]
        guessed = {i for i, word in enumerate(words) if word.endswith("?")}
        return [tuple(int(part, 16) for part in word.rstrip("?").split(":")) for word in words], guessed, end.strip()

    def stop_soon(self):
        """It stops the process, in a moment: Python stands still while gdb lets a process run."""
        print("stop", file=self.walker.stdin, flush=True)


def judge(rows, guessed, end, theirs, why):
    """What to put a pair of walks down under, and the place. guessed: frames whose callers the rows found by frame pointer, since
    nothing describes their code."""
    common = min(len(rows), len(theirs))
    alike = next((i for i in range(common) if rows[i] != theirs[i]), common)
    complete = end.startswith("complete")
    if alike < common:
        if alike - 1 in guessed:
            return "gdb guesses", f"behind code that nothing describes; rows go on, and end: {end.partition(':')[0]}"
        return "DIFFERS", f"behind {code_place(rows[alike - 1][0]) if alike else 'nothing'}"
    if len(rows) < len(theirs):
        if complete:
            return "DIFFERS", "rows end too soon and say that they are complete"
        return "rows end first", f"in {code_place(rows[-1][0]) if rows else 'the first frame'}: {end.rpartition(':')[2].strip()}"
    if len(rows) > len(theirs):
        return "gdb ends first", f"in {code_place(theirs[-1][0]) if theirs else 'the first frame'}: {why}"
    return "same", ""


def show(tid, rows, end, theirs, why):
    print(f"  thread {tid} DIFFERS: rows end with {end}, gdb with {why}")
    for i in range(max(len(rows), len(theirs))):
        left, right = (f"{place(stack[i][0])} sp {stack[i][1]:#x}" if i < len(stack) else "-" for stack in (rows, theirs))
        print(f"    {' ' if left == right else '!'} {left:80} | {right}")


def main():
    process = gdb.selected_inferior()
    pid, wanted = process.pid, int(os.environ.get("AGREE_STACKS", "1"))
    rows_walker, found, reasons, frames = Rows(pid), collections.Counter(), collections.Counter(), 0
    start, name = time.monotonic(), open(f"/proc/{pid}/comm", encoding="utf-8").read().strip()
    while sum(found.values()) < wanted:
        for thread in process.threads():
            thread.switch()
            frame = gdb.newest_frame()
            registers = [int(frame.read_register(name)) & (1 << 64) - 1 for name in ("rip", "rsp", "rbp")]
            theirs, why = frames_by_gdb(frame)
            rows, guessed, end = rows_walker.walk(thread.ptid[1], registers)
            verdict, where = judge(rows, guessed, end, theirs, why)
            found[verdict] += 1
            frames += len(rows)
            if verdict == "DIFFERS":
                show(thread.ptid[1], rows, end, theirs, why)
            elif verdict != "same":
                reasons[f"{verdict} {where}"] += 1
        if sum(found.values()) < wanted:
            rows_walker.stop_soon()
            gdb.execute("continue", to_string=True)
            if not process.pid:
                print(f"  {name} has ended")
                break
    for reason, count in reasons.most_common():
        print(f"  {count:6} {reason}")
    counts = ", ".join(f"{name} {found[name]}" for name in ("same", "rows end first", "gdb ends first", "gdb guesses", "DIFFERS"))
    print(f"gdb {name} {sum(found.values())} stacks {frames} frames "
          f"in {time.monotonic() - start:.0f} s: {counts}")
    if process.pid:
        gdb.execute("detach", to_string=True)
    gdb.execute(f"quit {1 if found['DIFFERS'] or not sum(found.values()) else 0}")


main()
