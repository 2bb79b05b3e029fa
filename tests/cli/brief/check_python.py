# SPDX-License-Identifier: Apache-2.0
"""Checks that do not use our own code on the other side: PyYAML, json and jsonschema read what we wrote."""
import glob
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings

import jsonschema
import llmd_benchmark_report as br
import yaml

golden, data = sys.argv[1], sys.argv[2]
warnings.simplefilter("ignore")


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def refused(action, part):
    try:
        action()
    except ValueError as error:
        expect(part in str(error), f"{part!r} in {error!s}")
        return
    sys.exit(f"FAILED: accepted, but should name {part}")


def same(a, b):
    """Equal values of equal types; nan is nan."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


# The objects that the documentation of the format builds.
EXAMPLE = {
    "run": {"uid": "38b1f169ca178b756f7483523b17de61"},
    "scenario": {
        "stack": [{
            "metadata": {"schema_version": "0.0.1", "label": "vllm-svc-0", "cfg_id": "cc73fc6b51a1d3b8128f312d70476d7c"},
            "standardized": {
                "kind": "inference_engine", "tool": "llm-d", "tool_version": "ghcr.io/llm-d/llm-d-cuda:0.3.1", "role": "decode", "replicas": 2,
                "model": {"name": "Qwen/Qwen3-0.6B"}, "accelerator": {"model": "NVIDIA-H100-80GB-HBM3", "count": 8, "parallelism": {"tp": 8}}},
            "native": {}}],
        "load": {
            "metadata": {"schema_version": "0.0.1", "cfg_id": "a4e18f265cc33786a42b8a3f7ac2edcb"},
            "standardized": {"tool": "inference-perf", "tool_version": "0.3.0", "input_seq_len": {"distribution": "fixed", "value": 2148}, "source": "sampled"},
            "native": {}}},
    "results": {"request_performance": {"aggregate": {"latency": {"request_latency": {"units": "s", "mean": 0.0368578234128654}}}}},
}
report = br.BenchmarkReportV02(**EXAMPLE)
tree = yaml.safe_load(report.get_yaml_str())
expect(tree["version"] == "0.2.1" and tree["scenario"]["stack"][0]["standardized"]["accelerator"]["parallelism"]["tp"] == 8, "the example")
expect(same(json.loads(report.get_json_str()), tree), "JSON and YAML are equal")
expect(same(report.dump(), tree), "dump")
expect(report.run.uid == EXAMPLE["run"]["uid"], "attributes")
report.run.description = "changed"
expect(report.run.description == "changed", "assignment")
refused(lambda: setattr(report.run, "uid", 5), "run.uid")
refused(lambda: setattr(report.scenario.load.standardized, "stage", -1), "scenario.load.standardized.stage")
expect(report.run.uid == EXAMPLE["run"]["uid"] and report.scenario.load.standardized.stage == 0, "a refused change changes nothing")
report.run.description = None
expect("description" not in report.dump()["run"], "removal")
refused(lambda: br.BenchmarkReportV02(run={}, results={}), "run.uid")
refused(lambda: br.yaml_str_to_benchmark_report("version: 0.2\nrun: {uid: x}\nresults: {}\n"), "Unsupported schema version")
refused(lambda: br.import_benchmark_report("/nonexistent.yaml"), "/nonexistent.yaml")
expect(isinstance(br.load_benchmark_report({**EXAMPLE, "version": "0.2"}), br.BenchmarkReportV02), "0.2")
expect(br.load_benchmark_report({**EXAMPLE, "version": "0.2"}).version == "0.2", "0.2 stays 0.2")


# Lists and mappings behave like such.
stack = report.scenario.stack
expect(len(stack) == 1 and [component.metadata.label for component in stack] == ["vllm-svc-0"] and stack[-1] == stack[0], "a list")
expect("tp" in list(stack[0].standardized.accelerator.parallelism) and stack[0].standardized.accelerator["count"] == 8, "a mapping")
for index, error in ((1, IndexError), ("none", TypeError)):
    try:
        stack[index]
    except error:
        continue
    sys.exit(f"FAILED: stack[{index!r}] is accepted")

with tempfile.TemporaryDirectory() as folder:
    for name, export in (("r.yaml", report.export_yaml), ("r.json", report.export_json)):
        path = os.path.join(folder, name)
        export(path)
        expect(same(br.import_benchmark_report(path).dump(), report.dump()), name)
        refused(lambda: export(os.path.join(folder, "none", name)), "none")

# Odd values come back from PyYAML and json as they went in.
ODD = {"texts": ["1e5", "yes", "", "0.2", "a: b", "- x", "\u00e9\U0001f600\x85\u2028", "a\nb\t", "2026-01-01", "NaN", "=", "<<", " x "], "floats": [1e-7, 1e16, 0.1 + 0.2, 5.0, -0.0, float("inf")],
       "ints": [0, -1, 2**63, 10**30], "others": [True, None, {}, [], {"1": {"yes": [[], [{}]]}}]}
report = br.BenchmarkReportV02(run={"uid": "u"}, results={"profiling": ODD})
expect(same(yaml.safe_load(report.get_yaml_str())["results"]["profiling"], ODD), "odd values in YAML")
expect(same(json.loads(report.get_json_str())["results"]["profiling"], ODD), "odd values in JSON")

# What the converters write is valid for an independent validator.
schemas = {version: json.loads(br.make_json_schema(version)) for version in ("0.1", "0.2", "0.2.1")}
expect(schemas["0.2"] == schemas["0.2.1"], "0.2 and 0.2.1 have one schema")
for schema in schemas.values():
    jsonschema.Draft202012Validator.check_schema(schema)
refused(lambda: br.make_json_schema("0.3"), "0.3")
count = 0
for path in sorted(glob.glob(os.path.join(golden, "expected", "*.yaml"))):
    for text in open(path, encoding="utf-8").read().split("# report ")[1:]:
        tree = yaml.safe_load(text.split("\n", 1)[1])
        jsonschema.Draft202012Validator(schemas[tree["version"]]).validate(tree)
        expect(same(br.load_benchmark_report(tree).dump(), tree), path)
        count += 1
expect(count >= 15, "the reports are there")
native = os.path.join(golden, "native")
expect(len(br.import_guidellm_all(os.path.join(native, "guidellm.json"))) == 2, "all benchmarks")
expect(br.import_guidellm(os.path.join(native, "guidellm.json"), 1).scenario.load.standardized.stage == 1, "one benchmark")
expect(br.import_vllm_benchmark(os.path.join(native, "vllm.json"), "0.1").metrics.requests.total == 48, "0.1")
expect(br.import_inference_perf(os.path.join(native, "stage_2_lifecycle_metrics.json")).scenario.load.standardized.stage == 2, "stage")
expect(br.import_inference_perf_session(os.path.join(native, "stage_1_session_lifecycle_metrics.json")).results.session_performance.sessions.total == 3, "session")
expect(br.import_aiperf(os.path.join(native, "aiperf.json")).results.request_performance.aggregate.requests.total == 33, "aiperf")
expect(br.import_nop(os.path.join(native, "nop.yaml")).scenario.model.name == "org/model-d", "nop")
refused(lambda: br.import_nop(os.path.join(native, "nop.yaml"), "0.2"), "not supported")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    br.import_vllm_benchmark(os.path.join(native, "vllm.json"))
expect(any("no experiment ID" in str(warning.message) for warning in told), "warnings of a conversion")

# The modules of the package, and its former name.
import benchmark_report  # noqa: E402
import benchmark_report.native_to_br0_2 as former  # noqa: E402
from llmd_benchmark_report import native_to_br0_1, native_to_br0_2, schema_v0_1, schema_v0_2  # noqa: E402

expect(benchmark_report is br and former is native_to_br0_2, "the former name is the same module")
expect(schema_v0_1.BenchmarkReportV01 is br.BenchmarkReportV01 and schema_v0_2.BenchmarkReportV02 is br.BenchmarkReportV02, "classes")
expect(native_to_br0_1.import_nop(os.path.join(native, "nop.yaml")).version == "0.1", "native_to_br0_1")
expect(native_to_br0_2.import_guidellm(os.path.join(native, "guidellm.json"), 1).version == "0.2.1", "native_to_br0_2")
program = os.environ.get("ASSAY_REPORT_PROGRAM")
if program:
    run = subprocess.run([sys.executable, "-m", "llmd_benchmark_report.cli", "-w", "guidellm", "-b", "0.2", "-i", "0", os.path.join(native, "guidellm.json")],
                         capture_output=True, text=True, check=False)
    expect(run.returncode == 0 and yaml.safe_load(run.stdout)["version"] == "0.2.1", f"the command line: {run.stderr}")
refused(lambda: br.import_guidellm(os.path.join(native, "guidellm.json"), 7), "no index 7")


def bare(schema, in_names=False):
    """Without descriptions, which are our own; "ge", where the other schema hides a bound, is a minimum."""
    if isinstance(schema, list):
        return [bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    names = {"ge": "minimum"}
    return {k if in_names else names.get(k, k): bare(v, not in_names and k in ("properties", "$defs")) for k, v in schema.items() if in_names or k != "description"}


for version, name in (("0.1", "br_v0_1_json_schema.json"), ("0.2.1", "br_v0_2_json_schema.json")):
    path = os.path.join(data, "schema", name)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            expect(bare(json.load(file)) == bare(schemas[version]), name)
print("ok")
