#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What converting results to a benchmark report costs, against references of the same run.

    bench/report.py --build build/release [--rounds 5] [--out build/bench]

Figures are CPU time (user and system); the programs take turns within a round, each figure is the median over the rounds, each
ratio the median of the ratios within a round. Writes report.json and report.md in --out.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NATIVE = ROOT / "tests/golden/brief/native"
METRICS = ("prompt_token_count", "output_token_count", "time_to_first_token_ms", "time_per_output_token_ms", "inter_token_latency_ms", "request_latency",
           "output_tokens_per_second", "tokens_per_second", "requests_per_second")
PERCENTILES = ("p001", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999")
SILENT = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)]


def run(arguments):
    """Seconds of CPU, seconds on the clock, MiB at most."""
    words = [str(word) for word in arguments]
    started = time.perf_counter()
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=SILENT)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(words)}: status {status}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024


def figures(rng):
    return {"successful": {"mean": rng.uniform(1, 100), "mode": rng.uniform(1, 100), "std_dev": rng.uniform(0, 10), "min": rng.uniform(0, 1),
                           "max": rng.uniform(100, 900), "percentiles": {name: rng.uniform(1, 100) for name in PERCENTILES}}}


def benchmark(rng, index):
    return {"start_time": 1767322800.75 + index, "end_time": 1767322810.25 + index, "duration": 9.5, "config": {"strategy": {"type_": "concurrent", "streams": 4}},
            "metrics": {"request_totals": {"total": 10, "errored": 1, "incomplete": 0, "successful": 9}, **{name: figures(rng) for name in METRICS}}}


def results(count):
    rng = random.Random(1)
    return {"args": {"model": "org/model-b", "profile": "concurrent", "rate": [4], "data": ["prompt_tokens=64,output_tokens=16"]},
            "benchmarks": [benchmark(rng, index) for index in range(count)]}


def write_requests(path, size_mb):
    """One benchmark of figures; the rest of the file is per-request data, which no report has."""
    one = results(1)
    request = json.dumps({"request_id": "0123456789abcdef", "args": "w\u00f6rds and more words " * 40, "output": "an answer of some length\n" * 30,
                          "iterations": [1767322800.123456 + i for i in range(60)], "info": {"a": None, "b": [True, {"c": 1e-3}]}}, ensure_ascii=False)
    one["benchmarks"][0]["requests"] = {"successful": ["@"]}
    before, after = json.dumps(one).split('"@"')
    with open(path, "w", encoding="utf-8") as file:
        file.write(before)
        for index in range(size_mb * 1_000_000 // len(request.encode())):
            file.write(("," if index else "") + request)
        file.write(after)


def written_by_child(write, *arguments):
    """In a process of its own: what this one holds would count as the memory of the programs that it starts."""
    pid = os.fork()
    if pid == 0:
        write(*arguments)
        os._exit(0)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit("the input could not be written")


def write_results(path, count):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results(count), file)


def median(rounds, name, place):
    return statistics.median(each[name][place] for each in rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    options = parser.parse_args()
    program, loop, empty = (options.build.resolve() / name for name in ("benchmark-report", "bench_byte_loop", "bench_startup"))
    with tempfile.TemporaryDirectory() as folder:
        requests, kept = os.path.join(folder, "requests.json"), os.path.join(folder, "kept.json")
        written_by_child(write_requests, requests, 100)
        written_by_child(write_results, kept, 4000)
        sizes = {"requests": os.path.getsize(requests) / 1e6, "kept": os.path.getsize(kept) / 1e6}
        commands = {
            "requests": [program, "-w", "guidellm", "-b", "0.2", requests],
            "requests loop": [loop, requests],
            "kept": [program, "-w", "guidellm", "-b", "0.1", "-i", "0", kept],
            "kept loop": [loop, kept],
            "written": [program, "-w", "guidellm", "-b", "0.2", kept],
            "small": [program, "-w", "vllm-benchmark", "-b", "0.2", NATIVE / "vllm.json"],
            "empty": [empty],
        }
        rounds = []
        for _ in range(options.rounds):
            rounds.append({name: run(command) for name, command in commands.items()})
            rounds[-1]["small"] = min((run(commands["small"]) for _ in range(20)), key=lambda each: each[1])
            rounds[-1]["empty"] = min((run(commands["empty"]) for _ in range(20)), key=lambda each: each[1])
    rows = []
    for name, reference, what in (("requests", "requests loop", "100 MB, most of it per-request data"), ("kept", "kept loop", "every value kept, one report"),
                                  ("written", "kept loop", "every value kept, checked and written (4,000 reports)")):
        size = sizes["requests" if name == "requests" else "kept"]
        ratio = statistics.median(each[name][0] / max(each[reference][0], 1e-4) for each in rounds)
        rows.append({"what": what, "mb_per_s": size / median(rounds, name, 0), "times_byte_loop": ratio, "mib": median(rounds, name, 2)})
    startup = statistics.median(each["small"][1] / each["empty"][1] for each in rounds)
    rows.append({"what": "a small conversion, start to exit", "times_empty_program": startup, "mib": median(rounds, "small", 2)})
    lines = ["| conversion | MB/s of CPU | cost of a byte loop = 1 | start to exit, empty program = 1 | MiB |", "|---|---|---|---|---|"]
    for row in rows:
        cells = [f"{row[key]:.4g}" if key in row else "" for key in ("mb_per_s", "times_byte_loop", "times_empty_program", "mib")]
        lines.append(f"| {row['what']} | {' | '.join(cells)} |")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "report.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    (options.out / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
