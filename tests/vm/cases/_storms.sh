# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by the cases of exits and execs.
need stress-ng

# Not entry_limit: each exec makes other traces of the same place, and more than 512 of one task stand under [other]
lost() { header lost | grep -oE '(task_limit|trace_limit|(task|entry|trace)_(pool|user)|order)=[1-9][0-9]*' || true; }

# said ROLE FIGURE: of those that were there together
said() { sed -n "s/.* role=$1 .* $2=\([0-9]*\).*/\1/p" "$TMPDIR/together"; }

# What they slept stands in other records by now, most of it, and is whole
nothing_went_with_them() {
    local records sleeps blocked runq
    read -r records sleeps blocked runq < <(awk -v tgid="$(sed -n 's/.* pid=\([0-9]*\) .*/\1/p;q' "$TMPDIR/together")" \
        '/^[0-9]/ && $2 == tgid { n++; sleeps += $9; blocked += $6; runq += $10 } END { printf "%d %d %.0f %.0f\n", n, sleeps, blocked, runq }' $LATTOP)
    echo "together they had blocked $(said all-alive l_blocked_ns) ns; when all but the first had gone $(said all-threads l_blocked_ns), with" \
        "$(said all-threads l_sleeps) sleeps; now $blocked, with $sleeps, in $records records"
    [ "$(said all-threads l_blocked_ns)" -ge "$(said all-alive l_blocked_ns)" ] || fail "blocked time of those that exited is lost"
    [ "$blocked" -ge "$(said all-threads l_blocked_ns)" ] || fail "blocked time is lost in the merging"
    [ "$runq" -ge "$(said all-threads l_runq_ns)" ] || fail "run-queue delay is lost in the merging"
    # A few on their way out were not quite gone
    sleeps=$((sleeps - $(said all-threads l_sleeps)))
    [ "$sleeps" -ge 0 ] && [ "$sleeps" -le 30 ] || fail "$sleeps sleeps more than they were"
}

# Records in use but those of tasks that exited, which each look here adds to
alive() { header used | awk -F'[ =]' '{ for (i = 1; i < NF; i++) n[$i] = $(i + 1); print n["tasks"] - n["exited"] }'; }

most_used() { grep -o " $1=[0-9]*" "$TMPDIR/used" | cut -d= -f2 | sort -n | tail -n 1; }

# execs_at_once CHAINS EXECS: so many processes replace their programs so often, all at the same time
execs_at_once() {
    local chain started=()
    for ((chain = 1; chain <= $1; chain++)); do
        exec-chain "$2" >"$TMPDIR/chain-$chain" &
        started+=($!)
    done
    wait "${started[@]}" && cat "$TMPDIR"/chain-*
}

# storms THREADS AT_ONCE EXECS: one after another; "processes" fork and die meanwhile
storms() {
    local threads=$1 at_once=$2 execs=$3 chains=10 forks tasks most
    at_end 'echo "lost: $(lost)"; header used'
    stress-ng --fork 1 --timeout 3600 --quiet >"$TMPDIR/forks" 2>&1 &
    forks=$!
    sleep 2
    tasks=$(alive)
    # By the shell alone: processes that exit, one a look, would soon be so many on a slow kernel that who exited before is merged with all
    while nap 0.2; do read_header used && echo "$REPLY"; done >"$TMPDIR/used" &
    most=$!
    truth 2 "$threads" thread-churn "$threads"
    truth $((execs + 1)) $((execs * 5)) exec-chain "$execs"
    truth $((execs + chains)) $((execs * 5)) execs_at_once $chains $((execs / chains))
    kill -INT $forks
    wait $forks || true
    truth 3 "$at_once" thread-churn "$at_once" "$at_once"
    grep ^process "$TMPDIR/truth" >"$TMPDIR/together"
    kill $most
    most=$(most_used exited)
    echo "$tasks records of tasks that were there before, $(alive) now; at most $most exited kept, $(most_used entries) entries, $(most_used traces) traces"
    # The worker is called when there are 256 too many, and takes its time
    [ "$most" -lt $((256 + 256 + at_once)) ] || fail "$most exited tasks were kept"
    [ -z "$(lost)" ] || fail "lost: $(lost)"
    # At once: what exited processes had is told apart for retain_s
    nothing_went_with_them
    given_back() { [ "$(alive)" -le $((tasks + 20)) ]; }
    within 60 "$(alive) records are kept, $tasks before" given_back
    few_exited() { [ "$(header_value used exited)" -le 258 ]; }
    within 60 "$(header_value used exited) exited tasks are kept" few_exited
    lattop-oracle check
}
