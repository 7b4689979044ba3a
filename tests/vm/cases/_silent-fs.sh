# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by cases with a file system that does not answer: silent-fs, which is test-progs/silent-fs.c.
need silent-fs

# Who waits for it for a minute or two is no fault that the kernel has to tell of
hung_task_timeout=/proc/sys/kernel/hung_task_timeout_secs

# silent_fs SILENCE [OPTION...]: mounts it at $TMPDIR/fs until the case ends, with FUSE's options; it answers until there is a file SILENCE. $fs is its server
silent_fs() {
    [ -e /dev/fuse ] || modprobe fuse
    [ ! -w $hung_task_timeout ] || set_to 0 $hung_task_timeout
    : >"$TMPDIR/silent-fs"
    mkdir "$TMPDIR/fs"
    SILENCE=$1 silent-fs "$TMPDIR/fs" -f "${@:2}" >"$TMPDIR/silent-fs" 2>&1 &
    fs=$!
    at_end "kill -9 $fs; umount -l $TMPDIR/fs"
    within 20 "silent-fs does not mount: $(<"$TMPDIR/silent-fs")" test -e "$TMPDIR/fs/memory"
}

# $locked is a program whose memory map stays locked until the case ends
lock_a_map() {
    silent_fs "$TMPDIR/silence"
    unanswered-write "$TMPDIR/fs/memory" "$TMPDIR/silence" 600 mprotect >"$TMPDIR/said" &
    locked=$!
    at_end "kill -9 $locked"
    within 20 "nobody waits to change a mapping: this case shows nothing" map_is_locked
}
map_is_locked() { grep -qs mprotect /proc/$locked/task/*/stack; }
