# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by table-quota*: a user who floods and another one, and what each may hold.
need python3 setpriv prlimit
. "${0%/*}/_security.sh"
cp "$(command -v flood)" "$(command -v sleepers)" "$programs"
chmod 755 "$programs"/*
# shellcheck disable=SC2034  # for the cases
as_flooder=(setpriv --reuid=2001 --regid=2001 --clear-groups --)
# He may be a real-time task, as root may: on a kernel that preempts itself no sample is had without a switch among so many, otherwise
as_other=(prlimit --rtprio=1 setpriv --reuid=2002 --regid=2002 --clear-groups --)

# within_his_share UID TABLE...: what the text says that this user holds of each, against what it says that one user may
within_his_share() {
    awk -v uid="uid=$1" -v tables="${*:2}" '
        $1 != "#" { next }
        $2 == "share" { for (i = 3; i <= NF; i++) { split($i, pair, "="); share[pair[1]] = pair[2] } }
        $2 == "user" && $3 == uid { there = 1; for (i = 4; i <= NF; i++) { split($i, pair, "="); held[pair[1]] = pair[2] } }
        END {
            bad = !there
            for (n = split(tables, name, " "); n; n--) {
                printf "%s of %s %s\n", held[name[n]], share[name[n]], name[n]
                bad += !(name[n] in share) || held[name[n]] + 0 > share[name[n]] + 0
            }
            exit bad > 0
        }' $LATTOP || fail "user $1 holds more than his share, or is not named"
}
# counted CAUSE...: waits until each is not 0. By the shell alone: each command is a program with misses of its own, and root's would fill the queue
# of the daemon that is stopped before the flooder has his share of it
nap 0.1  # what the first one needs
is_counted() { read_header lost && [[ $REPLY == *" $1="[1-9]* ]]; }
counted() {
    local cause tries
    for cause; do
        for ((tries = 0; tries < 150; tries++)); do
            ! is_counted "$cause" || continue 2
            nap 0.2
        done
        fail "$cause is 0"
    done
}
# all_is_the_others: the other user's and root's figures are exact, and none of his are under [other]
all_is_the_others() {
    local tasks entries unnamed sleepers
    truth 20 380 "${as_other[@]}" "$programs/sleepers" 20 20 5
    truth 20 380 "$programs/sleepers" 20 20 5
    "${as_other[@]}" "$programs/sleepers" 10 100000 10 >/dev/null &
    sleepers=$!
    threads_are_there $sleepers 11
    sleep 1
    read -r tasks entries unnamed <<<"$(python3 "${0%/*}/_named.py" 2002)"
    header lost
    echo "the other user: $tasks tasks, $entries traces of theirs, $unnamed sleeps under [other]"
    [ "$tasks" -ge 10 ] && [ "$entries" -ge "$tasks" ] && [ "$unnamed" = 0 ] || fail "the other user has not all that is his"
    # Its program is a new one: its misses come through, and its rows are held
    for _ in {1..20}; do
        if whole $sleepers; then break; fi
        sleep 2
    done
    whole $sleepers || fail "the other user's program is not learned: $(lattop -b --no-learn -n 1 -p $sleepers)"
    kill $sleepers
    wait $sleepers || true
}
