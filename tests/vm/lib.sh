# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the scripts of this folder share: where things are, the kernel list, messages. Sourced, never run.

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP_DIR=$(cd "$VM_DIR/../.." && pwd)
CACHE_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/lattop
BUILD_DIR=$TOP_DIR/build/vm
# One QEMU everywhere: what is counted with -icount is comparable. And before 8.1 a guest of several CPUs dies of "Oops: int3" sooner
# or later when its kernel patches its code (tracepoints on or off): QEMU may go on executing the instruction that was replaced.
QEMU_SUITE=trixie
QEMU_ROOT=$CACHE_DIR/qemu/$QEMU_SUITE
export VM_DIR TOP_DIR CACHE_DIR BUILD_DIR QEMU_SUITE QEMU_ROOT

# Where an ordinary user's shell does not look: depmod, chroot, mkfs
PATH=$PATH:/usr/sbin:/sbin

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# die WHAT [WHAT-TO-DO...]: a line each, then exit 1
die() {
    local line
    for line in "$@"; do say "$line"; done
    exit 1
}

kernel_names() { awk '!/^#/ && NF { print $1 }' "$VM_DIR/kernels"; }

# kernel_line NAME: sets NAME SUITE PACKAGE COMPILER FRAGMENTS from the list
kernel_line() {
    # shellcheck disable=SC2034  # the caller's variables
    read -r NAME SUITE PACKAGE COMPILER FRAGMENTS < <(awk -v name="$1" '!/^#/ && $1 == name' "$VM_DIR/kernels") ||
        die "no kernel named '$1'" "tests/vm/kernels lists: $(kernel_names | tr '\n' ' ')"
}

kernel_dir() { printf '%s/kernels/%s\n' "$CACHE_DIR" "$1"; }

# lock FILE [-s]: held until this process ends; taking it again is free
declare -A LOCKED=()
lock() {
    local fd
    [ -z "${LOCKED[$1]:-}" ] || return 0
    LOCKED[$1]=1
    mkdir -p "$(dirname "$1")"
    exec {fd}>"$1"
    flock "${2:--x}" -n "$fd" && return
    say "waiting for another run that holds $1"
    flock "${2:--x}" "$fd"
}

need() {
    local tool missing=()
    for tool in "$@"; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    [ ${#missing[@]} -eq 0 ] || die "missing: ${missing[*]}" "packaging/setup build vm installs them"
}
