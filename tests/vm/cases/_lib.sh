# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What cases share. Sourced, never run.
set -euo pipefail

LATTOP=/proc/lattop

fail() {
    echo "FAIL $*"
    exit 1
}

skip() {
    echo "$*"
    exit 77
}

# within SECONDS WHAT COMMAND...: until the command says yes; the case fails with WHAT where it has not by then
within() {
    local tries=$(($1 * 10)) what=$2
    shift 2
    until "$@"; do
        [ $((tries -= 1)) -gt 0 ] || fail "$what"
        sleep 0.1
    done
}

# nap SECONDS: by the shell alone (but for what the first one needs), where a process more would spoil what is looked at
nap() {
    [ -n "${_nap:-}" ] || { mkfifo "$TMPDIR/nap-$BASHPID" && exec {_nap}<>"$TMPDIR/nap-$BASHPID"; }
    read -rt "$1" -u "$_nap" || true
}

# Whose case it is mounts them where the guest has not: the folder of version 2's cgroups
cgroup2_root=/sys/fs/cgroup
need_cgroup2() { [ -e $cgroup2_root/cgroup.procs ] || mount -t cgroup2 cgroup2 $cgroup2_root; }

# threads_are_there PID COUNT: waits until the process has so many, its first one among them
threads_are_there() { until [ -e "$(compgen -G "/proc/$1/task/*" | sed -n "$2p")" ]; do sleep 0.2; done; }

# Runs when the case ends, last added first
_at_end=()
at_end() { _at_end=("$1" "${_at_end[@]}"); }
_end() {
    local command
    for command in "${_at_end[@]}"; do eval "$command" || true; done
}
trap _end EXIT

# set_to VALUE FILE: a setting of the kernel's, until the case ends
set_to() {
    at_end "echo $(<"$2") >$2"
    echo "$1" >"$2"
}

# The kernel's own times of sleeps, while the case runs
kernel_sums_on() {
    local file=/proc/sys/kernel/sched_schedstats
    [ -w $file ] || fail "no $file: the kernel lacks CONFIG_SCHEDSTATS"
    # Each change patches running code, and QEMU's emulation may trip over that: no more of it than needed
    [ "$(<$file)" != 1 ] || return 0
    set_to 1 $file
}

# Without -icount the guest's time is the host's, which may be busy with something else. With it, guest time runs ahead while the
# guest waits for its files, which are the host's: timeouts there are long, and mean little. LATTOP_NOISE: how much of that.
_noise() { if [ -n "${LATTOP_NOISE:-}" ] || ! grep -q '^# vm:.*icount=yes' "$0"; then echo "${LATTOP_NOISE:-1}"; else echo 0; fi; }

# truth LINES SLEEPS PROGRAM [ARGUMENT...]: the program's truth is lattop's, and it told at least so much
truth() {
    local lines=$1 sleeps=$2
    shift 2
    "$@" >"$TMPDIR/truth" || fail "$* ended with $?: $(<"$TMPDIR/truth")"
    head -n 1 "$TMPDIR/truth"
    lattop-oracle truth --noise "$(_noise)" --lines "$lines" --sleeps "$sleeps" <"$TMPDIR/truth" && return
    head -n 10 "$TMPDIR/truth"
    fail "$1: lattop does not say what happened"
}

# still_exact: behind a fault all that is shown adds up, and a program's sleeps are those that it measured itself
still_exact() {
    lattop-oracle check
    truth 8 80 sleepers 8 20 20
}

is_debug_kernel() { [ "$LATTOP_KERNEL" = debug ] || [ "$LATTOP_KERNEL" = kcsan ]; }

# least SLEEPS: of I/O. On a debug kernel most of it is done before its program gets to wait for it
least() { if is_debug_kernel; then echo 1; else echo "$1"; fi; }

# all_tasks TASKS SLEEPS COMMAND...: every task agrees with the kernel while the command works
all_tasks() {
    local tasks=$1 sleeps=$2
    shift 2
    lattop-oracle watch --noise "$(_noise)" --seconds "${LATTOP_SECS:-4}" --tasks "$tasks" --sleeps "$sleeps" -- "$@"
}

# need PROGRAM...
need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || fail "$program is not installed"
    done
}

# kernel_held: KB that the kernel holds for itself: vmalloc, slabs that stay, per CPU
kernel_held() { awk '/^(VmallocUsed|SUnreclaim|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo; }
# held_at_least: the least of it within a second, as work beside moves it
held_at_least() { for _ in 1 2 3 4 5; do kernel_held; sleep 0.2; done | sort -n | head -n 1; }
# none_is_lost ROUNDS EARLY: what it holds behind so many loads, against what it held behind the fifth. A pool that a load leaves is 400 KB and more,
# work beside moves it by 1,300; on debug kernels KASAN's quarantine moves by more, and kmemleak is the judge
none_is_lost() {
    local grown slack=2000
    ! is_debug_kernel || slack=30000
    [ "$1" -ge 8 ] || fail "$1 rounds say nothing of memory: the first five fill caches"
    grown=$(($(held_at_least) - $2))
    echo "$grown KB more in use after $1 rounds than after the fifth"
    [ $grown -lt $((slack + ($1 - 5) * 100)) ] || fail "$grown KB are lost"
}

load() { insmod "$LATTOP_KO" hook="$LATTOP_HOOK" recheck=3 "$@"; }
loaded() { grep -q '^lattop ' /proc/modules; }
unload() { rmmod lattop; }

# header WORD: the rest of the header line "# WORD ..."
header() { awk -v word="$1" '/^#/ && $2 ~ "^" word ":?$" { sub(/^# [^ ]+ /, ""); print; exit } !/^#/ { exit }' $LATTOP; }

# header_value WORD KEY: the number behind KEY= in that line
header_value() { header "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"; }

# read_header WORD: the line "# WORD ..." into REPLY, by the shell alone, as nap
read_header() {
    while read -r; do
        [[ $REPLY != "# $1 "* ]] || return 0
    done <$LATTOP
    return 1
}

# row PID COLUMN: a column (by its name) of the task's line in the text view
row() {
    awk -v pid="$1" -v name="$2" '
        $1 == "#" && $2 == "columns" { for (i = 3; i <= NF; i++) if ($i == name) column = i - 2 }
        /^[0-9]/ && $1 == pid && ($5 == "task" || found == "") { found = $column }
        END { print found }' $LATTOP
}

# whole PID: its stacks are known to their ends, without lattop learning them for that
whole() { grep -q '; complete$' <(lattop -b --no-learn -n 1 -p "$1"); }

# log_from_now: from here on the kernel log is what log_since prints. Not "dmesg -C": suite looks for splats in all of it
log_from_now() {
    [ -n "${_kmsg:-}" ] || exec {_kmsg}</dev/kmsg
    _log_comes >/dev/null
    : >"$TMPDIR/log_since"
}
log_since() {
    _log_comes >>"$TMPDIR/log_since"
    cat "$TMPDIR/log_since"
}
# A read gives a record, "LEVEL,NUMBER,TIME,FLAGS;TEXT"; when there are no more dd complains
_log_comes() { dd iflag=nonblock bs=8192 <&"$_kmsg" 2>/dev/null | sed 's/^[0-9][^;]*;//' || true; }

# splats since the case began are the suite's to find; this is for the module's own messages
module_log() { dmesg | grep -a 'lattop' | tail -n "${1:-5}"; }

# all_tasks_in_total COMMAND...: the sum over all records agrees with the sum over all tasks
all_tasks_in_total() {
    lattop-oracle watch --noise "$(_noise)" --totals 1 --seconds "${LATTOP_SECS:-4}" -- "$@"
}
