# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user-stack cases ask of `lattop --json -n 1`, read from standard input.

    _user-stack.py chains FILE              each line of FILE is "PID LABEL FRAME...": the ongoing sleep of thread PID stands
                                            under a complete trace, and these are its frames, innermost first: a function,
                                            N*FUNCTION, or * for any number of frames of libraries (none of FUNCTIONS)
    _user-stack.py share MIN COMM...        at least MIN percent of the blocked time of all tasks of each name stands
                                            under complete user stacks; prints the share and the causes of the rest
    _user-stack.py sites TGID FUNC N...     each thread of a process has at most N traces, whole ones, with FUNC in them
"""
import collections
import itertools
import json
import re
import sys

# Every function of the programs: a frame in one of them is never skipped
FUNCTIONS = set("""main outer inner block block_directly with_alloca with_vla with_alignment in_signal handler on_altstack
    interrupted deep entry in_thread in_library construct open_plugin Square::area Guard::~Guard fail with_cleanup with_catch
    in_virtual in_function on_mutex on_condition on_channel on_panic""".split())


def plain(symbol):
    """A function without what its language adds: namespace of the program, arguments, template's arguments, hash."""
    symbol = symbol.replace("(anonymous namespace)::", "").removeprefix("stack_rust::")
    if "{lambda" in symbol:
        return "lambda"
    return re.split(r"[(<\[]", re.sub(r"::h[0-9a-f]{16}$", "", symbol))[0] or symbol or "?"


def names(trace):
    return [plain(frame.get("sym", "")) for frame in trace["user"]]


def folded(chain):
    """300 times "deep" as "300*deep": what a failure prints is to be read."""
    runs = [(name, len(list(group))) for name, group in itertools.groupby(chain)]
    return [name if n == 1 else f"{n}*{name}" for name, n in runs]


def fits(found, expected):
    if not expected:
        return not found
    if expected[0] != "*":
        return bool(found) and found[0] == expected[0] and fits(found[1:], expected[1:])
    return fits(found, expected[1:]) or bool(found) and found[0] not in FUNCTIONS and fits(found[1:], expected)


def chains(tasks, path):
    by_pid = {task["pid"]: task for task in tasks if not task["exited"]}
    lines = [line.split() for line in open(path, encoding="utf-8")]
    wrong = 0
    for pid, label, *expected in lines:
        traces = by_pid.get(int(pid), {"traces": []})["traces"]
        if any(trace["complete"] and fits(folded(names(trace)), expected) for trace in traces):
            continue
        wrong += 1
        print(f"WRONG {label}: expected {' '.join(expected)}")
        for trace in traces[:2]:
            print(f"    complete {trace['complete']}: {' '.join(folded(names(trace)))}")
    print(f"{len(lines)} stacks, {wrong} wrong")
    return wrong != 0 or not lines


def share(tasks, minimum, *comms):
    failed = 0
    for comm in comms:
        whole, total, rest = 0, 0, collections.Counter()
        for trace in (trace for task in tasks if task["comm"] == comm for trace in task["traces"]):
            total += trace["blocked_ns"]
            if trace["complete"]:
                whole += trace["blocked_ns"]
            else:
                rest[" < ".join(names(trace)[-3:]) or "nothing"] += trace["blocked_ns"]
        percent = 100 * whole / total if total else 0
        print(f"{comm}: {percent:.2f}% of {total / 1e9:.1f} s blocked under complete user stacks")
        for name, blocked_ns in rest.most_common(5):
            print(f"    {100 * blocked_ns / total:.2f}% ends at {name}")
        failed |= percent < float(minimum)
    return failed


def at_spinlock(trace):
    """PREEMPT_RT: not where the program sleeps, but in a spinlock of the kernel's on the way there."""
    return any(frame["sym"] in ("rt_spin_lock", "rt_read_lock", "rt_write_lock") for frame in trace["kernel"])


def sites(tasks, tgid, *wanted):
    """Threads of a process sleep at these functions, often enough to be judged, each thread under so many traces a site."""
    failed, judged = 0, 0
    for task in tasks:
        if task["tgid"] != int(tgid):
            continue
        counts = collections.defaultdict(list)
        for trace in task["traces"]:
            for function in wanted[::2]:
                if function in names(trace) and not at_spinlock(trace):
                    counts[function].append((trace["sleeps"], trace["complete"]))
        for function, most in zip(wanted[::2], map(int, wanted[1::2])):
            print(f"{task['pid']} {function}: (sleeps, complete) of each trace: {counts[function]}")
            judged += sum(sleeps for sleeps, _ in counts[function])
            failed |= len(counts[function]) > most or not all(complete for _, complete in counts[function])
    return failed or judged < 1000


if __name__ == "__main__":
    all_tasks = json.load(sys.stdin)["tasks"]
    sys.exit({"chains": chains, "share": share, "sites": sites}[sys.argv[1]](all_tasks, *sys.argv[2:]))
