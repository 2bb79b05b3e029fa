#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the golden outputs against their JSON schemas, and damaged copies of them, which must be refused.

usage: check_schema.py SOURCE_DIR
"""
import copy
import json
import pathlib
import sys

import jsonschema

source = pathlib.Path(sys.argv[1])
golden = source / "tests/golden/summary"
failures = []


def validator(name):
    schema = json.loads((source / "schema/json" / name).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def paths(value, at=()):
    """Every member of every object, as a path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield at + (key,)
            yield from paths(inner, at + (key,))
    elif isinstance(value, list) and value:
        yield from paths(value[0], at + (0,))


def parent_of(document, path):
    for step in path[:-1]:
        document = document[step]
    return document


def check(name, check_with, document, free):
    """The document fits; with any one member taken out or of a wrong type it does not. Objects of one shape share one
    definition in the schema: each shape is damaged once."""
    for error in check_with.iter_errors(document):
        failures.append(f"{name}: {'/'.join(map(str, error.path))}: {error.message}")
    tried, seen = 0, set()
    for path in paths(document):
        parent = parent_of(document, path)
        shape = (path[-1], tuple(parent)) if isinstance(parent, dict) else None
        if shape in seen or any(path[: len(root)] == root for root in free):
            continue
        seen.add(shape)
        for damage in ("missing", "wrong type"):
            damaged = copy.deepcopy(document)
            inner = parent_of(damaged, path)
            if damage == "missing":
                if path[-1] in ("ci95", "few_samples") or path[-2:-1] in (("ci95",), ("by_status",)):
                    continue
                del inner[path[-1]]
            else:
                inner[path[-1]] = {"odd": True} if not isinstance(inner[path[-1]], dict) else "odd"
            tried += 1
            if check_with.is_valid(damaged):
                failures.append(f"{name}: {'/'.join(map(str, path))} {damage} is not refused")
    return tried


summary = validator("metrumbench-llm.summary.v1.schema.json")
request = validator("metrumbench-llm.request.v1.schema.json")
tried = check("summary.json", summary, json.loads((golden / "summary.json").read_text()), [("config",)])
for number, line in enumerate((golden / "requests.jsonl").read_text().splitlines(), 1):
    tried += check(f"requests.jsonl:{number}", request, json.loads(line), [])
more = json.loads((golden / "summary.json").read_text())
more["a_new_member"] = 1
if not summary.is_valid(more):
    failures.append("a further member is refused, though members may be added")
print(f"{tried} damaged documents tried")
for failure in failures[:20]:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)
