# SPDX-License-Identifier: Apache-2.0
"""Each tool's benchmark_report.yaml holds the figures of its summary.json: media, rates, the digest of the source, and equal settings
give an equal cfg_id. Read by PyYAML, so that none of our own readers is in between."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import yaml

assay, data = sys.argv[1:]
VLM_AND_IMAGEGEN = {"count": ("images_per_request", "count"), "filesize": ("image_bytes", "bytes"), "pixels": ("image_pixels", "pixels"),
                    "aspect_ratio": ("image_aspect_ratio", "ratio")}


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(folder, tool, *words):
    subprocess.run([assay, tool, *words, "--result-dir", folder], check=True, capture_output=True)
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    with open(os.path.join(folder, "benchmark_report.yaml"), encoding="utf-8") as file:
        return summary, yaml.safe_load(file)


def check_statistics(report, distribution, units, what):
    expect(report["units"] == units and distribution["n"] > 0, f"{what}: {report['units']}")
    for ours, theirs in (("mean", "mean"), ("std", "stddev"), ("min", "min"), ("p50", "p50"), ("p99", "p99"), ("max", "max")):
        expect(distribution[ours] == report[theirs], f"{what}.{theirs}")


def check_common(tool, summary, report, source):
    load = report["scenario"]["load"]
    aggregate = report["results"]["request_performance"]["aggregate"]
    expect(report["run"]["uid"] == summary["unique_id"], f"{tool}: uid")
    expect(summary["human_readable_id"] in report["run"]["description"], f"{tool}: description")
    check_statistics(aggregate["latency"]["request_latency"], summary["latency"]["response_time_ms"], "ms", f"{tool}: latency")
    expect(aggregate["requests"]["total"] == summary["counts"]["measured"]["sent"], f"{tool}: total")
    expect(aggregate["requests"]["request_size"]["mean"] > 0, f"{tool}: request_size")
    expect(aggregate["throughput"]["request_rate"]["mean"] == summary["throughput"]["requests_per_second"], f"{tool}: rate")
    prompts = load["native"]["config"]["prompts"]
    with open(source, "rb") as file:
        expect(prompts["source"] == source and prompts["sha256"] == hashlib.sha256(file.read()).hexdigest(), f"{tool}: source and digest")
    expect(load["standardized"]["source"] == "sampled", f"{tool}: sampled")
    return aggregate


def check_images(tool, summary, aggregate):
    image = aggregate["requests"]["multimodal"]["image"]
    for name, (member, units) in VLM_AND_IMAGEGEN.items():
        check_statistics(image[name], summary[tool][member], units, f"{tool}: {name}")
    expect(aggregate["throughput"]["image_rate"] == {"units": "images/s", "mean": summary[tool]["images_per_second"]}, f"{tool}: image_rate")


def check_audio(summary, aggregate):
    audio = aggregate["requests"]["multimodal"]["audio"]
    check_statistics(audio["duration"], summary["asr"]["audio_duration_s"], "s", "duration")
    check_statistics(audio["filesize"], summary["asr"]["audio_bytes"], "bytes", "filesize")
    expect(audio["count"] == {"units": "count", "mean": 1.0, "min": 1, "max": 1}, "count")
    expect(aggregate["throughput"]["audio_rate"]["mean"] == summary["throughput"]["requests_per_second"], "audio_rate")


def check_tools(folder, url):
    load = ("--url", url, "--concurrency", "2", "--num-requests", "8")
    prompts = os.path.join(folder, "prompts.jsonl")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write('{"prompt": "Describe a harbour."}\n{"prompt": "Explain the salt."}\n')
    ids = set()
    for name in ("one", "two"):
        summary, report = run(os.path.join(folder, name), "llm", "--prompts", prompts, "--unique-prompts", "--streaming", *load)
        aggregate = check_common("llm", summary, report, prompts)
        check_statistics(aggregate["latency"]["time_to_first_token"], summary["latency"]["ttft_ms"], "ms", "ttft")
        expect("multimodal" not in aggregate["requests"] and "observability" not in report["results"], "llm: nothing that there is not")
        ids.add(report["scenario"]["load"]["metadata"]["cfg_id"])
    expect(len(ids) == 1, "two runs with the same settings have one cfg_id")
    stages = [run(os.path.join(folder, f"stage-{stage}"), "llm", "--prompts", prompts, "--sweep", "night", "--stage", str(stage), *load)[1] for stage in (0, 1)]
    expect([report["scenario"]["load"]["standardized"]["stage"] for report in stages] == [0, 1], "the stages of a sweep have their numbers")
    expect(len({report["run"]["eid"] for report in stages}) == 1, "the stages of a sweep share their eid")
    expect(len({report["scenario"]["load"]["metadata"]["cfg_id"] for report in stages}) == 1, "a stage's number is no setting")
    expect(stages[0]["run"]["uid"] != stages[1]["run"]["uid"] and stages[0]["run"]["description"] == "m [night]", "each stage is a run of its own")
    source = os.path.join(data, "images", "prompts.jsonl")
    summary, report = run(os.path.join(folder, "vlm"), "vlm", "--prompts", source, "--streaming", *load)
    check_images("vlm", summary, check_common("vlm", summary, report, source))
    source = os.path.join(data, "images", "generate.jsonl")
    summary, report = run(os.path.join(folder, "imagegen"), "imagegen", "--prompts", source, "--size", "256x256", *load)
    check_images("imagegen", summary, check_common("imagegen", summary, report, source))
    source = os.path.join(data, "audio", "manifest.jsonl")
    summary, report = run(os.path.join(folder, "asr"), "asr", "--input", source, *load)
    check_audio(summary, check_common("asr", summary, report, source))


with tempfile.TemporaryDirectory() as work:
    sim = subprocess.Popen([assay, "sim", "--port", "0", "--model", "m", "--ttft", "5ms", "--itl", "1ms", "--tokens", "8", "--image-delay", "10ms",
                            "--transcripts", os.path.join(data, "audio", "ground_truth.jsonl")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        check_tools(work, sim.stdout.readline().strip())
    finally:
        sim.terminate()
        sim.wait(20)
print("ok")
