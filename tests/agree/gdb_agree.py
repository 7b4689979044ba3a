# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the rows lead up a stack as gdb does? Run by gdb, attached to a process:

    LATTOP_AGREE=.../lattop-agree gdb -nx -batch -p PID -x gdb_agree.py

While gdb holds the process, the stack of each thread is walked by gdb and, from the registers gdb read, by rows
(lattop-agree --walk). Frames are compared by (pc, sp). Left out are those that are not on the stack: inlined ones, and callers by
a tail call, which gdb reconstructs from debug information. Behind code that no file describes (a JIT's) gdb guesses, and what it
says then is no judgement. Where one ends first, that is said and counted; a
frame that differs is a disagreement, shown with both stacks. The last line is the sum.
"""
import os
import subprocess

import gdb

# Registers to start from; frames end where gdb's do, at the first one
for setting in ("backtrace past-main on", "backtrace past-entry off", "pagination off"):
    gdb.execute("set " + setting)


def gdb_frames():
    frames, frame = [], gdb.newest_frame()
    try:
        while frame is not None and len(frames) < 1024:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                frames.append((int(frame.pc()), int(frame.read_register("rsp"))))
            frame = frame.older()
    except gdb.error as error:
        return frames, str(error)
    return frames, "end"


def place(pc):
    return f"{pc:#x} {gdb.execute(f'info symbol {pc:#x}', to_string=True).strip()}"


def has_file(pid, pc):
    for line in open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= pc < end:
            return len(line.split()) > 5
    return False


def main():
    process = gdb.selected_inferior()
    stacks, question = {}, []
    for thread in process.threads():
        thread.switch()
        frame = gdb.newest_frame()
        registers = [int(frame.read_register(name)) & (1 << 64) - 1 for name in ("rip", "rsp", "rbp")]
        stacks[thread.ptid[1]] = gdb_frames()
        question.append(" ".join(map(str, [thread.ptid[1], *registers])))
    answer = subprocess.run([os.environ["LATTOP_AGREE"], "--walk", str(process.pid)], input="\n".join(question) + "\n",
                            capture_output=True, text=True, check=True).stdout
    same, rows_first, gdb_first, guesses, differ = 0, 0, 0, 0, 0
    for line in answer.splitlines():
        head, _, rest = line.partition(" | ")
        tid, *words = head.split()
        rows = [tuple(int(part, 16) for part in word.split(":")) for word in words]
        theirs, why = stacks[int(tid)]
        common = min(len(rows), len(theirs))
        alike = next((i for i in range(common) if rows[i] != theirs[i]), common)
        if alike < common and alike and not has_file(process.pid, rows[alike - 1][0]):
            guesses += 1
            print(f"  thread {tid}: gdb guesses behind {place(rows[alike - 1][0])}, which no file describes; rows end with {rest}")
        elif alike < common:
            differ += 1
            print(f"  thread {tid} DIFFERS: rows end with {rest}, gdb with {why}")
            for i in range(max(len(rows), len(theirs))):
                left, right = (f"{place(stack[i][0])} sp {stack[i][1]:#x}" if i < len(stack) else "-" for stack in (rows, theirs))
                print(f"    {' ' if left == right else '!'} {left:80} | {right}")
        elif len(rows) < len(theirs):
            rows_first += 1
            print(f"  thread {tid}: rows end first, with {rest}, at {place(rows[-1][0]) if rows else '-'}")
        elif len(rows) > len(theirs):
            gdb_first += 1
            print(f"  thread {tid}: gdb ends first, with {why}, at {place(theirs[-1][0])}")
        else:
            same += 1
    print(f"gdb {process.pid}: {same} stacks the same, rows end first {rows_first}, gdb ends first {gdb_first}, "
          f"gdb guesses {guesses}, differ {differ}")


main()
