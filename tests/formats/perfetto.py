#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens `lattop export -f perfetto` with Perfetto's trace_processor.

usage: perfetto.py LATTOP WRITE_RECORDS

Neither Debian nor npm has it: exit status 77 where no trace_processor is on PATH. What the file must hold by the format's
description is in tests/unit/export/perfetto_test.cc; tests/formats/browser.mjs opens it in another reader of the format.
"""
import os
import shutil
import subprocess
import sys
import tempfile

lattop, write_records = sys.argv[1:]
reader = shutil.which("trace_processor") or shutil.which("trace_processor_shell")
if reader is None:
    print("SKIPPED: no trace_processor on PATH")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    records, trace, query = (os.path.join(folder, name) for name in ("records", "trace.json", "query"))
    subprocess.run([write_records, records, "4"], check=True)
    subprocess.run([lattop, "export", "-f", "perfetto", "-o", trace, records], check=True)
    with open(query, "w", encoding="utf-8") as file:
        file.write("select (select count(*) from counter) as counters, (select count(*) from slice) as slices,"
                   " (select sum(value) from stats where severity = 'error') as errors;")
    out = subprocess.run([reader, "-q", query, trace], capture_output=True, text=True, check=True).stdout
counters, slices, errors = (int(n) for n in out.strip().splitlines()[-1].split(","))
if not counters or not slices or errors:
    sys.exit(f"FAILED  {out}")
print(f"ok      {counters} counter values, {slices} slices")
