#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Opens `lattop export -f pprof` with `go tool pprof`. Go is 460 MB, so nothing installs it for this: exit status 77 without it.
# usage: go-pprof.sh LATTOP WRITE_RECORDS    GO_PPROF: the pprof program where it is not `go tool pprof`
set -euo pipefail
lattop=$1 write_records=$2
if [ -n "${GO_PPROF:-}" ]; then
    pprof=("$GO_PPROF")
elif command -v go >/dev/null; then
    pprof=(go tool pprof)
else
    echo "SKIPPED: no go, nor GO_PPROF"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$write_records" "$folder/records" 3
"$lattop" export -f pprof -o "$folder/profile" "$folder/records"
total=$("$lattop" export -f folded "$folder/records" | awk '{ n += $NF } END { printf "%d", n }')
shown=$("${pprof[@]}" -sample_index=blocked -unit=ns -raw "$folder/profile" 2>&1)
sum=$(awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+:$/ { n += $2 } END { printf "%d", n }' <<<"$shown")
if [ "$sum" != "$total" ] || [ "$total" = 0 ]; then
    printf 'FAILED  %s ns, %s in the folded stacks\n%s\n' "$sum" "$total" "$shown"
    exit 1
fi
"${pprof[@]}" -sample_index=blocked -top -cum "$folder/profile"
