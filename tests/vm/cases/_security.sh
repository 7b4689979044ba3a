# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by security-*: programs where every user of the guest may run them, some setuid root.
programs=$TMPDIR/programs
mkdir -p "$programs/setuid"
for program in lattop-poke public-sleeper secret-sleeper; do
    cp "$(command -v $program)" "$programs"
done
cp "$programs/secret-sleeper" "$programs/setuid"
cp "$programs/lattop-poke" "$programs/setuid-poke"
chmod 755 "$TMPDIR" "$programs" "$programs"/*
chmod 4755 "$programs/setuid/secret-sleeper" "$programs/setuid-poke"
