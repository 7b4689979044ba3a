# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the guest's halves of bench share: the module, and a program that measures when it is asked to. Sourced by them.
cycles=${LATTOP_CYCLES:-2000}
TMPDIR=$(mktemp -d)

die() { echo "${0##*/}: $*"; exit 1; }

# load [ARGUMENT...]
load() { insmod "$LATTOP_KO" hook="${LATTOP_HOOK:-tracepoint}" "$@" || die "the module was not loaded"; }

# start PROGRAM WAY DEPTH [STACKS]: sleep-cycle, as a coprocess
start() {
    coproc PROGRAM { exec "$1" "$2" "$3" "$cycles" "${@:4}"; }
    program=$PROGRAM_PID
}

# once [STACKS]: sets figure to a measurement, instructions of a sleep and its wake-up
# shellcheck disable=SC2034  # the caller's figure
once() {
    echo "${1-}" >&"${PROGRAM[1]}"
    read -r figure <&"${PROGRAM[0]}" || die "the program ended"
}

# best [STACKS]: the least of three, where nothing of the machine's own came between
best() {
    local least=
    for _ in {1..3}; do
        once "$@"
        if [ -z "$least" ] || [ "${figure%.*}" -lt "${least%.*}" ]; then least=$figure; fi
    done
    figure=$least
}

stop() {
    kill "$program"
    wait "$program" 2>/dev/null
}

# The daemon learns what everybody sleeps at. Until it says so it may still be read from the host, and SIGINT, which a script's background
# jobs ignore, is not blocked yet and would be lost
start_daemon() {
    lattop daemon >"$TMPDIR/daemon" &
    daemon=$!
    until grep -q 'learning user stacks' "$TMPDIR/daemon"; do
        kill -0 "$daemon" 2>/dev/null || die "the daemon ended"
        sleep 0.1
    done
    sleep 0.5
}

stop_daemon() {
    kill -INT "$daemon"
    wait "$daemon"
}

# frames: how many user frames the stack has that the program sleeps most often at; 0 when no stack of it is whole
frames() {
    lattop --json -n 1 -p "$program" | python3 -c '
import json, sys
traces = [trace for task in json.load(sys.stdin)["tasks"] for trace in task["traces"] if trace["complete"]]
best = max(traces, key=lambda trace: trace["sleeps"], default=None)
print(len(best["user"]) if best else 0)'
}

# whole FRAMES: it has that many at least
whole() {
    local found
    found=$(frames)
    [ "$found" -ge "$1" ] || die "the trace has $found user frames, or is not whole"
}

# header LINE NAME: a number of the module's
header() { sed -nE "/^# $1 /{s/.* $2=([0-9]+).*/\1/p;q}" /proc/lattop; }

# nothing_lost CAUSE...
nothing_lost() {
    local cause
    for cause; do [ "$(header lost "$cause")" = 0 ] || die "$cause: $(header lost "$cause")"; done
}

# start_crowd THREADS [MS]: that many more tasks; all have slept when this returns
start_crowd() {
    local answer ready
    echo 200000 >/proc/sys/kernel/pid_max
    echo 200000 >/proc/sys/kernel/threads-max
    exec {ready}< <(exec crowd "$@")
    crowd=$!
    read -r answer <&$ready && [ "$answer" = ready ] || die "no crowd of $1"
    exec {ready}<&-
}

stop_crowd() {
    kill "$crowd"
    while kill -0 "$crowd" 2>/dev/null; do sleep 0.1; done
}
