#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds `lattop export -f speedscope` against the schema that speedscope's own package has.

usage: speedscope.py READERS LATTOP WRITE_RECORDS

READERS is the folder that packaging/setup installs npm packages in. Exit status 77: the package or a validator is not there.
tests/formats/browser.mjs opens the same file in speedscope itself.
"""
import json
import os
import subprocess
import sys
import tempfile

readers, lattop, write_records = sys.argv[1:]
schema_path = os.path.join(readers, "node_modules/speedscope/dist/release/file-format-schema.json")
try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(77)
if not os.path.exists(schema_path):
    print("SKIPPED: npm's speedscope is not installed (packaging/setup test)")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    records = os.path.join(folder, "records")
    subprocess.run([write_records, records, "3"], check=True)

    def export(form):
        return subprocess.run([lattop, "export", "-f", form, records], capture_output=True, text=True, check=True).stdout

    document, folded = json.loads(export("speedscope")), export("folded")
with open(schema_path, encoding="utf-8") as file:
    schema = json.load(file)
# Its top says how to write the type down, not what a file must be.
validator = jsonschema.Draft7Validator(schema if "$ref" in schema or "properties" in schema else
                                       {**schema, "$ref": "#/definitions/FileFormat.File"})
errors = [error.message[:300] for error in validator.iter_errors(document)]
profile = document["profiles"][0]
blocked = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
if errors:
    sys.exit("FAILED  speedscope's schema: " + "\n".join(errors[:5]))
if sum(profile["weights"]) != blocked or blocked == 0:
    sys.exit(f"FAILED  {sum(profile['weights'])} ns, {blocked} in the folded stacks")
profile["weights"][0] = "1"
if validator.is_valid(document):
    sys.exit("FAILED  the schema takes a weight that is text: it says nothing")
print(f"ok      {len(profile['samples'])} stacks, {blocked} ns")
