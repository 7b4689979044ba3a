#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what lattop prints as JSON against docs/lattop.schema.json.

usage: schema.py SCHEMA LATTOP WRITE_RECORDS     runs lattop on a written recording
       schema.py SCHEMA -                        documents, one a line, from standard input (a guest's)

A reader may meet keys that the schema does not name; here none may be printed that it does not name. Exit status 77: no validator.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
    from jsonschema import Draft202012Validator  # noqa: F401  from 4.0 on
except ImportError:
    print("SKIPPED: no python3-jsonschema of 4.0 or later")
    sys.exit(77)


def strict(schema):
    """The same schema, where no object has keys that it does not name."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: strict(value) for key, value in schema.items()}
    if "object" in schema.get("type", ()) and "properties" in schema:
        result.setdefault("additionalProperties", False)
    return result


def refused(validator, document, change):
    """Whether the schema refuses a document after `change`: else it says nothing."""
    wrong = copy.deepcopy(document)
    change(wrong)
    return not validator.is_valid(wrong)


CHANGES = {
    "a figure below 0": lambda d: d["tasks"][0].update(blocked_ns=-1),
    "a figure as text": lambda d: d["tasks"][0]["traces"][0].update(sleeps="7"),
    "a key left out": lambda d: d["tasks"][0]["traces"][0].pop("reason"),
    "a key of another name": lambda d: d["tasks"][0].update(blocked=1),
    "another version": lambda d: d.update(version=2),
    "a trace without an id": lambda d: d["tasks"][0]["traces"][0].pop("id"),
    "no delta": lambda d: d["tasks"][0].pop("delta"),
    "a frame that is text": lambda d: d["tasks"][0]["traces"][0]["kernel"].append("schedule"),
}


def check(validator, name, lines, least):
    documents = [json.loads(line) for line in lines.splitlines()]
    assert len(documents) >= least, f"{name}: {len(documents)} documents"
    for document in documents:
        errors = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]
        assert not errors, f"{name}: " + "\n".join(errors[:5])
        assert document["tasks"] and any(task["traces"] for task in document["tasks"]), f"{name} is empty"
    print(f"ok      {name}: {len(documents)} documents, {sum(len(d['tasks']) for d in documents)} tasks")
    return documents


def main():
    schema_path, lattop, *rest = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(strict(schema))
    if lattop == "-":
        check(validator, "standard input", sys.stdin.read(), 1)
        return
    with tempfile.TemporaryDirectory() as folder:
        records = os.path.join(folder, "records")
        subprocess.run([rest[0], records, "3"], check=True)

        def run(*words):
            return subprocess.run([lattop, *words], capture_output=True, text=True, check=True).stdout

        document = check(validator, "lattop --json", run("--json", "-i", records, "-d", "0.1"), 3)[-1]
        check(validator, "lattop report --json", run("report", "--json", records), 1)
        check(validator, "lattop export -f json", run("export", "-f", "json", records), 1)
    for name, change in CHANGES.items():
        assert refused(validator, document, change), f"the schema takes a document with {name}"
        print(f"ok      refused: {name}")


try:
    main()
except AssertionError as wrong:
    sys.exit(f"FAILED  {wrong}")
