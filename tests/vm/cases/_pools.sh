# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by the cases in which the module's worker cannot fill its pools. Which caches may be chosen to fail is said when the kernel boots: slub_debug=A,NAME.
failslab=/sys/kernel/debug/failslab
[ -w $failslab/probability ] || fail "the kernel lacks CONFIG_FAILSLAB"
# Also those that may wait, which by themselves never fail there
echo N >$failslab/ignore-gfp-wait
echo -1 >$failslab/times
# A line for each, by which scan-log knows that what the kernel says of it was asked for
echo 1 >$failslab/verbose
at_end "echo 0 >$failslab/probability"

# pools_fail CACHE POOL...: three in ten of what is asked for fail while programs sleep at ever new stacks; sleeps are counted for each of these pools as without
# an object of it ($lost), totals are exact, and without failures all is as before
pools_fail() {
    local pool
    load reserve=64
    echo 1 >$failslab/cache-filter
    [ "$(cat "/sys/kernel/slab/$1/failslab")" = 1 ] || fail "$1 is not marked to fail"
    echo 30 >$failslab/probability
    all_tasks 20 100 flood 4 200 1 1000 churn 100
    echo 0 >$failslab/probability
    echo 0 >$failslab/cache-filter
    lost=$(header lost)
    echo "$lost"
    for pool in "${@:2}"; do grep -q "\b${pool}_pool=[1-9]" <<<"$lost" || fail "no $pool was missing in the pool"; done
    unload
    load
    truth 1 40 nanosleep 50 1000
    unload
}
