# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by cases that drive lattop in a terminal, tmux's: _terminal.sh [SECONDS]. Those are how long await waits at most (20).
await_seconds=${1:-20}
need tmux
at_end "tmux -S $TMPDIR/tmux kill-server 2>/dev/null"
# What the screen shows is kept when it ends: each begins as for somebody who has kept nothing
export XDG_CONFIG_HOME=$TMPDIR/config
terminal() {
    [ "$1" != new-session ] || rm -rf "$XDG_CONFIG_HOME"
    tmux -f /dev/null -u -S "$TMPDIR/tmux" "$@"
}
screen() { terminal capture-pane -p; }

# await PATTERN...: until the screen, kept in $TMPDIR/screen, shows all of them
await() {
    local pattern missing
    for _ in $(seq $((5 * await_seconds))); do
        screen >"$TMPDIR/screen"
        missing=
        for pattern in "$@"; do grep -qe "$pattern" "$TMPDIR/screen" || missing=$pattern; done
        [ -n "$missing" ] || return 0
        sleep 0.2
    done
    cat "$TMPDIR/screen"
    fail "the screen never showed $missing"
}
