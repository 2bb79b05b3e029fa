# SPDX-License-Identifier: Apache-2.0
"""Runs every case of cases.json: the same exit status and equal reports (numbers to 1e-12, run.uid aside)."""
import glob
import json
import os
import re
import subprocess
import sys

import yaml

data, program = sys.argv[1], sys.argv[2]
failures = []


def differences(a, b, path=""):
    if isinstance(a, float) and isinstance(b, float):
        if a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b)):
            return []
    elif type(a) is type(b):
        if isinstance(a, dict):
            found = [f"{path}.{k} only on one side" for k in a.keys() ^ b.keys() if not f"{path}.{k}".endswith(".run.uid")]
            for key in a.keys() & b.keys():
                if not f"{path}.{key}".endswith(".run.uid"):
                    found += differences(a[key], b[key], f"{path}.{key}")
            return found
        if isinstance(a, list):
            if len(a) == len(b):
                return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}.{i}")]
        elif a == b:
            return []
    return [f"{path}: {a!r:.60} {b!r:.60}"]


def documents(text):
    parts = re.split(r"^# Benchmark \d+ of \d+\n", text, flags=re.M)
    return [yaml.safe_load(part) for part in (parts[1:] if len(parts) > 1 else parts)]


with open(os.path.join(data, "cases.json"), encoding="utf-8") as file:
    cases = json.load(file)["cases"]
for case in cases:
    run = subprocess.run([program, *case["argv"]], cwd=data, env={"TZ": "UTC", **case["env"]}, capture_output=True, text=True, check=False)
    if run.returncode != case["exit"]:
        failures.append(f"{case['id']}: exit {run.returncode}: {run.stderr}")
    elif case["exit"] == 0:
        with open(os.path.join(data, case["stdout"]), encoding="utf-8") as file:
            expected, found = documents(file.read()), documents(run.stdout)
        failures += [f"{case['id']}: {d}" for d in differences(expected, found)]
        if run.stdout.count("# Benchmark") != (len(expected) if len(expected) > 1 else 0):
            failures.append(f"{case['id']}: banners")
    elif "\n" in run.stderr.strip() and "WARNING" not in run.stderr:
        failures.append(f"{case['id']}: one line was expected: {run.stderr}")

assay = os.path.join(os.path.dirname(program), "assay")
examples = sorted(glob.glob(os.path.join(data, "examples", "*.yaml")))
if os.access(assay, os.X_OK):
    run = subprocess.run([assay, "report", "validate", *examples], capture_output=True, text=True, check=False)
    if run.returncode != 0 or run.stdout.count(": valid") != len(examples):
        failures.append(f"examples: {run.stdout}{run.stderr}")
print("\n".join(failures) or f"{len(cases)} cases, {len(examples)} examples")
sys.exit(1 if failures else 0)
