# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel says of each task when it ends (taskstats(7)'s records), and whether lattop says the same of a command's tree.

usage: _exit-records.py collect FILE             a line of JSON a task that ends; makes FILE when it listens, ends by SIGTERM
       _exit-records.py compare FILE TREE ROOT   TREE: the last document of a recording by lattop run; ROOT: the pid of its command

The command itself is not compared: it had waited for lattop before it was the command.
"""
import errno
import json
import signal
import socket
import struct
import sys

# linux/netlink.h, linux/genetlink.h, linux/taskstats.h
NLMSG_ERROR, NLM_F_REQUEST, NETLINK_GENERIC = 2, 1, 16
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK = 1, 3
TASKSTATS_TYPE_STATS, TASKSTATS_TYPE_AGGR_PID = 3, 4
NETLINK_HEADER, GENERIC_HEADER = 16, 4
# struct taskstats, of version 1 and since: cpu_delay_total, cpu_run_virtual_total, ac_comm, ac_pid, ac_ppid, ac_etime (us)
FIELDS = struct.Struct("=24xQ40xQ32s16xII8xQ")

TOLERANCE = 0.01


def attributes(data):
    """(type, value) of each; the upper bits of a type are flags."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3:]


def request(netlink, family, command, kind, value):
    value += b"\0"
    attribute = struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)
    body = struct.pack("=BBH", command, 1, 0) + attribute
    netlink.send(struct.pack("=IHHII", NETLINK_HEADER + len(body), family, NLM_F_REQUEST, 0, 0) + body)


def messages(data):
    """The attributes of each message."""
    while len(data) >= NETLINK_HEADER:
        length, kind = struct.unpack_from("=IH", data)
        if kind == NLMSG_ERROR:
            error = -struct.unpack_from("=i", data, NETLINK_HEADER)[0]
            raise OSError(error, errno.errorcode.get(error, "?"))
        yield list(attributes(data[NETLINK_HEADER + GENERIC_HEADER:length]))
        data = data[(length + 3) & ~3:]


def record(stats):
    runq_ns, cpu_ns, comm, pid, ppid, wall_us = FIELDS.unpack_from(stats)
    return {"pid": pid, "ppid": ppid, "comm": comm.split(b"\0")[0].decode(), "wall_ns": wall_us * 1000, "cpu_ns": cpu_ns, "runq_ns": runq_ns}


def collect(path):
    netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    netlink.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE: what finds no room is lost, and recv() fails
    netlink.bind((0, 0))
    request(netlink, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS")
    family = next(struct.unpack("=H", value)[0] for message in messages(netlink.recv(1 << 16)) for kind, value in message if kind == CTRL_ATTR_FAMILY_ID)
    with open("/sys/devices/system/cpu/online", "rb") as cpus:
        request(netlink, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus.read().strip())
    # All that came before the signal is in the socket then
    signal.signal(signal.SIGTERM, lambda *_: netlink.setblocking(False))
    with open(path, "w", encoding="utf-8") as file:
        while True:
            try:
                data = netlink.recv(1 << 16)
            except BlockingIOError:
                return
            for message in messages(data):
                for kind, value in message:
                    if kind == TASKSTATS_TYPE_AGGR_PID:
                        stats = dict(attributes(value))[TASKSTATS_TYPE_STATS]
                        print(json.dumps(record(stats)), file=file)


def below(records, root):
    """The records of all that a process has forked."""
    parents, tree = {root}, {}
    while True:
        children = {pid: one for pid, one in records.items() if one["ppid"] in parents and pid not in tree}
        if not children:
            return tree
        tree |= children
        parents |= children.keys()


def while_ending_ns(task):
    """The record is written at the beginning of a task's end: what it waits for behind it is in none."""
    return sum(trace["blocked_ns"] for trace in task["traces"] if any(frame["sym"] == "do_exit" for frame in trace["kernel"]))


def difference(what, lattop_ns, kernel_ns):
    """As a share of the kernel's."""
    share = (lattop_ns - kernel_ns) / kernel_ns
    print(f"{what}: {lattop_ns} ns by lattop, {kernel_ns} ns by the kernel's records: {100 * share:+.3f}%")
    return share


def compare(path, tree, root):
    with open(path, encoding="utf-8") as file:
        records = {one["pid"]: one for one in map(json.loads, file)}
    with open(tree, encoding="utf-8") as file:
        seen = {task["pid"]: task for task in json.load(file)["tasks"] if task["pid"] != root}
    ended = below(records, root)
    if seen.keys() != ended.keys():
        return f"the tree is {sorted(seen)}, but {sorted(ended)} ended"
    ending_ns = 0
    for pid, one in ended.items():
        ending_ns += while_ending_ns(seen[pid])
        one["blocked_ns"] = one["wall_ns"] - one["cpu_ns"] - one["runq_ns"] + while_ending_ns(seen[pid])
        differences = {key: seen[pid][key] - one[key] for key in ("blocked_ns", "runq_ns")}
        print(f"    {pid} {one['comm']}: wall {one['wall_ns']}, CPU {one['cpu_ns']}; lattop's less the record's: {differences}")

    def total(tasks, key):
        return sum(task[key] for task in tasks.values())

    print(f"{len(ended)} tasks: wall {total(ended, 'wall_ns')} ns, CPU {total(ended, 'cpu_ns')} ns; {ending_ns} ns blocked behind their records")
    # The kernel's clock for run-queue delay misses some of it, which it counts as CPU time: ../oracle/compare.h judges that
    difference("run queue", total(seen, "runq_ns"), total(ended, "runq_ns"))
    share = difference("blocked", total(seen, "blocked_ns"), total(ended, "blocked_ns"))
    return None if abs(share) <= TOLERANCE else f"the totals differ by {100 * share:.3f}%"


def main():
    if sys.argv[1] == "collect":
        return collect(sys.argv[2])
    return compare(sys.argv[2], sys.argv[3], int(sys.argv[4]))


sys.exit(main())
