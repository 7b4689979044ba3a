# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by the cases of exits and execs.
need stress-ng

# Not entry_limit: each exec makes other traces of the same place, and more than 512 of one task stand under [other]
lost() { header lost | grep -oE '(task_limit|trace_limit|(task|entry|trace)_(pool|user)|order)=[1-9][0-9]*' || true; }

# storms THREADS AT_ONCE EXECS: one after another; "processes" fork and die meanwhile
storms() {
    local threads=$1 at_once=$2 execs=$3 forks tasks most
    stress-ng --fork 1 --timeout 3600 --quiet >"$TMPDIR/forks" 2>&1 &
    forks=$!
    sleep 2
    tasks=$(header_value used tasks)
    # Looked at without a process of its own for each look
    while read -rt 0.2 <> <(:) || :; do header_value used exited >>"$TMPDIR/exited"; done &
    most=$!
    truth 2 "$threads" thread-churn "$threads"
    truth $((execs + 1)) $((execs * 5)) exec-chain "$execs"
    kill -INT $forks
    wait $forks || true
    truth 2 "$at_once" thread-churn "$at_once" "$at_once"
    kill $most
    most=$(sort -n "$TMPDIR/exited" | tail -n 1)
    echo "$tasks records in use before, $(header_value used tasks) now; at most $most exited kept; lost: $(lost)"
    # The worker is called when there are 256 too many, and takes its time
    [ "$most" -lt $((256 + 256 + at_once)) ] || fail "$most exited tasks were kept"
    [ -z "$(lost)" ] || fail "lost: $(lost)"
    given_back() { [ "$(header_value used tasks)" -le $((tasks + 20)) ]; }
    within 60 "$(header_value used tasks) records are kept, $tasks before" given_back
    few_exited() { [ "$(header_value used exited)" -le 258 ]; }
    within 60 "$(header_value used exited) exited tasks are kept" few_exited
    lattop-oracle check
}
