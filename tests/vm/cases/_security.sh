# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by security-*: programs where every user of the guest may run them, some setuid root, one not to be read.
programs=$TMPDIR/programs
mkdir -p "$programs/setuid" "$programs/unreadable"
for program in lattop-poke public-sleeper secret-sleeper; do
    cp "$(command -v $program)" "$programs"
done
cp "$programs/secret-sleeper" "$programs/setuid"
cp "$programs/secret-sleeper" "$programs/unreadable"
cp "$programs/lattop-poke" "$programs/setuid-poke"
chmod 755 "$TMPDIR" "$programs" "$programs"/*
chmod 711 "$programs/unreadable/secret-sleeper"
chmod 4755 "$programs/setuid/secret-sleeper" "$programs/setuid-poke"
