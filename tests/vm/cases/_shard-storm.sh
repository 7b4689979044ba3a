# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by the cases of one shard.
bits=$(sed -nE 's/.*LT_SHARD_BITS\t*= ([0-9]+),/\1/p' module/lattop.h)
kernel_sums_on
[ $(</proc/sys/kernel/pid_max) -ge 65536 ] || echo 65536 >/proc/sys/kernel/pid_max
# While they work every task's traces add up to its time, and no total shrinks
all_tasks 32 1000 shard-storm "$bits" 16 1000000 >"$TMPDIR/watch" || { cat "$TMPDIR/watch"; fail "not every task agrees"; }
truth 32 $((${LATTOP_NOISE:-0} ? 0 : 50)) shard-storm "$bits" 16 500
