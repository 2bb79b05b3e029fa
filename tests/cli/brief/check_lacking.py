# SPDX-License-Identifier: Apache-2.0
"""Results with each of their members removed, nulled and mistyped in turn, in an empty environment: a valid report in whose every statistic
stands a unit of the list, or a refusal of one line that names the file and the member. The results stay as they are."""
import copy
import hashlib
import json
import os
import re
import subprocess
import sys

import yaml

native, program, folder = sys.argv[1:]
UNITS = {"count", "pixels", "percent", "fraction", "ratio", "ms", "s", "bytes", "MB", "GB", "TB", "MiB", "GiB", "TiB", "Mbit/s", "Gbit/s", "Tbit/s", "MB/s",
         "GB/s", "TB/s", "ms/token", "s/token", "tokens/s", "queries/s", "images/s", "videos/s", "audios/s", "Watts", "GiB/s"}
SOURCES = [("aiperf", "aiperf.json", ()), ("guidellm", "guidellm.json", ()), ("vllm-benchmark", "vllm.json", ()), ("inferencemax", "vllm.json", ()),
           ("nop", "nop.yaml", ()), ("inference-perf", "stage_2_lifecycle_metrics.json", ()), ("inference-perf", "stage_3_lifecycle_metrics.json", ()),
           ("inference-perf", "stage_1_session_lifecycle_metrics.json", ("-s",)), ("assay", "run-asr/summary.json", ()),
           ("assay", "run-vlm/summary.json", ()), ("assay", "run-imagegen/summary.json", ())]
DEPTH_MAX, CHANGES_MAX = 4, 60
failures = []
counts = {"report": 0, "refused": 0}


def places(node, path=()):
    """Paths to members, those of the first item of a list among them."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key)
            if len(path) + 1 < DEPTH_MAX:
                yield from places(value, (*path, key))
    elif isinstance(node, list) and node:
        yield from places(node[0], (*path, 0))


def changed(document, path, change):
    copied = copy.deepcopy(document)
    at = copied
    for step in path[:-1]:
        at = at[step]
    if change == "removed":
        del at[path[-1]]
    else:
        at[path[-1]] = None if change == "null" else [] if isinstance(at[path[-1]], (int, float, str)) else 7
    return copied


def statistics(node, path=""):
    if isinstance(node, dict):
        if "mean" in node and not isinstance(node["mean"], dict):
            yield path, node
        for key, value in node.items():
            yield from statistics(value, f"{path}.{key}")
    elif isinstance(node, list):
        for item in node:
            yield from statistics(item, path)


def check(what, arguments, path):
    with open(path, "rb") as file:
        before = hashlib.sha256(file.read()).digest()
    run = subprocess.run([program, *arguments, path], env={}, capture_output=True, text=True, check=False)
    with open(path, "rb") as file:
        if hashlib.sha256(file.read()).digest() != before:
            failures.append(f"{what}: the results were changed")
    lines = [line for line in run.stderr.splitlines() if "WARNING" not in line]
    if run.returncode == 0:
        counts["report"] += 1
        for document in yaml.safe_load_all(re.sub(r"^# Benchmark \d+ of \d+$", "---", run.stdout, flags=re.M)):
            failures.extend(f"{what}: {place} has the unit {found.get('units')}" for place, found in statistics((document or {}).get("results", {}))
                            if found.get("units") not in UNITS)
    elif run.returncode == 1:
        counts["refused"] += 1
        if not lines or os.path.basename(path) not in lines[0] or not re.search(r"[a-z_]+(\.[a-z_0-9]+)*: ", lines[0].split(path)[-1]):
            failures.append(f"{what}: neither file nor member in {lines}")
    else:
        failures.append(f"{what}: exit {run.returncode}: {run.stderr[:200]}")


for generator, name, more in SOURCES:
    source = os.path.join(native, name)
    with open(source, encoding="utf-8") as file:
        document = yaml.safe_load(file) if name.endswith(".yaml") else json.load(file)
    target = os.path.join(folder, os.path.basename(name))
    versions = ["0.1"] if generator == "nop" else ["0.2"] if generator == "assay" else ["0.1", "0.2"]
    for version in versions:
        arguments = ["-w", generator, "-b", version, *more]
        check(f"{generator} {version}: whole", arguments, source)
        found = list(places(document))
        step = max(1, 3 * len(found) // CHANGES_MAX)
        for number, path in enumerate(found[::step] if len(found) > CHANGES_MAX else found):
            for change in ("removed", "null", "mistyped") if number % 3 == 0 else ("removed",):
                with open(target, "w", encoding="utf-8") as file:
                    (yaml.safe_dump if name.endswith(".yaml") else json.dump)(changed(document, path, change), file)
                check(f"{generator} {version}: {'.'.join(map(str, path))} {change}", arguments, target)
        os.path.exists(target) and os.remove(target)

# Figures in another unit than the format says are a thousand times off: latencies of more than an hour are doubted.
with open(os.path.join(native, "vllm.json"), encoding="utf-8") as file:
    document = json.load(file)
document["mean_e2el_ms"] = 9e9
with open(os.path.join(folder, "vllm.json"), "w", encoding="utf-8") as file:
    json.dump(document, file)
run = subprocess.run([program, "-w", "vllm-benchmark", os.path.join(folder, "vllm.json")], env={}, capture_output=True, text=True, check=False)
if run.returncode != 0 or "is that the unit of the results?" not in run.stderr:
    failures.append(f"a latency of three months is not doubted: {run.stderr}")

print(counts)
if counts["report"] < 100 or counts["refused"] < 10:
    failures.append(f"hardly anything was tried: {counts}")
for failure in failures[:40]:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)
