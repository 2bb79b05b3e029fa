# SPDX-License-Identifier: Apache-2.0
"""Every form of output stands alone: runs without a single success, with standard output or a log that takes nothing, and with a report that
cannot be put in its place, still leave the records, the summary and all other forms."""
import json
import os
import socket
import subprocess
import sys
import tempfile

import yaml

assay = sys.argv[1]
FILES = {"benchmark_report.yaml", "command.txt", "data.jsonl", "requests.jsonl", "run.json", "summary.json"}


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(folder, url, *words, stdout=subprocess.PIPE):
    return subprocess.run([assay, "llm", "--url", url, "--model", "m", "--concurrency", "2", "--num-requests", "4", "--prompts", prompts, "--quiet",
                           "--result-dir", folder, *words], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


def check_files(what, folder, lacking=()):
    there = {name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name))}
    expect(FILES - set(lacking) <= there, f"{what}: only {sorted(there)}")
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    with open(os.path.join(folder, "requests.jsonl"), encoding="utf-8") as file:
        expect(len(file.readlines()) >= summary["counts"]["sent"], f"{what}: records")
    if "benchmark_report.yaml" not in lacking:
        with open(os.path.join(folder, "benchmark_report.yaml"), encoding="utf-8") as file:
            expect(yaml.safe_load(file)["run"]["uid"] == summary["unique_id"], f"{what}: the report is of another run")
    return summary


def nobody():
    """A port where nothing listens: it stays taken by the socket that is returned."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    return held, f"http://127.0.0.1:{held.getsockname()[1]}"


def without_success(work):
    held, url = nobody()
    with held:
        for console in ("table", "json", "vllm", "none"):
            folder = os.path.join(work, console)
            done = run(folder, url, "--console", console)
            expect(done.returncode in (0, 1), f"no success, {console}: exit {done.returncode}: {done.stderr}")
            summary = check_files(f"no success, {console}", folder)
            expect(summary["counts"]["ok"] == 0, f"{console}: a success")
            expect(bool(done.stdout.strip()) == (console != "none"), f"{console}: {done.stdout!r}")
            shown = subprocess.run([assay, "report", "show", folder], capture_output=True, text=True, check=False)
            expect(shown.returncode == 0 and "requests.failures" in shown.stdout, f"{console}: show: {shown.stderr}")


def one_form_fails(work, url):
    with open("/dev/full", "w", encoding="utf-8") as full:
        folder = os.path.join(work, "stdout")
        done = run(folder, url, "--console", "json", stdout=full)
        expect(done.returncode == 74, f"standard output is full: exit {done.returncode}: {done.stderr}")
        expect(check_files("standard output is full", folder)["counts"]["ok"] == 4, "standard output is full: successes")
    folder = os.path.join(work, "log")
    done = run(folder, url, "--console", "table", "--data-log", "/dev/full")
    expect(done.returncode != 0 and "/dev/full" in done.stderr, f"the log is full: exit {done.returncode}: {done.stderr}")
    check_files("the log is full", folder)
    expect("Files: " in done.stdout, f"the log is full: nothing printed: {done.stdout!r}")
    folder = os.path.join(work, "report")
    os.makedirs(os.path.join(folder, "benchmark_report.yaml"))
    done = run(folder, url, "--console", "table")
    expect(done.returncode != 0 and "benchmark_report.yaml" in done.stderr, f"no report: exit {done.returncode}: {done.stderr}")
    check_files("no report", folder, lacking=("benchmark_report.yaml",))
    expect("Files: " in done.stdout, f"no report: nothing printed: {done.stdout!r}")
    later = os.path.join(work, "later.yaml")
    done = subprocess.run([assay, "report", "convert", folder, later], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and os.path.getsize(later) > 500, f"the report made later: {done.stderr}")


with tempfile.TemporaryDirectory() as work_folder:
    prompts = os.path.join(work_folder, "prompts.jsonl")
    with open(prompts, "w", encoding="utf-8") as lines:
        lines.write('{"prompt": "Describe a harbour."}\n')
    sim = subprocess.Popen([assay, "sim", "--port", "0", "--model", "m", "--ttft", "1ms", "--itl", "1ms"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        without_success(work_folder)
        one_form_fails(work_folder, sim.stdout.readline().strip())
    finally:
        sim.terminate()
        sim.wait(20)
print("ok")
