#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Control plane under readers: latency of every page's call, memory, start, on a seeded base.

    bench/plane.py --build build/release [--jobs 10000] [--rate 350] [--rounds 2000] [--only TEXT] [--without TEXT] [--out build/bench]
    script/with-postgres python3 bench/plane.py ...        the same on PostgreSQL

Every GET route of the contract is called `rounds` times, all routes shuffled together, `rate` calls a second in all, planned
beforehand (plane_load); the same plan goes against a server that does no work (bare_server), before and after, with an answer of the
size of a page of jobs. Start is from exec to the first answered list of jobs. Writes plane_STORE.json and plane_STORE.md in --out.
"""
import argparse
import http.client
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.parse

from plane_seed import seed

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
LIMITS_MS = (("p50_ms", 10), ("p95_ms", 50), ("p99_ms", 100))
MEMORY_LIMIT_MB, START_LIMIT_MS, KILLED_LIMIT_MS = 128, 250, 500
PROJECTS, WORKLOADS, SCENARIOS, STARTS = 10, 40, 5, 7
WAIT_S = 30
MODEL = "meta-llama/Llama-3.3-70B-Instruct"
LIST_VARIANTS = {
    "/jobs": ("state=failed", "workload_code={workload_code}", "run_code={run_code}", "scenario_code=s1", "hostname=gpu1", "sort=-created_at&limit=100",
              "q=w3-r1"),
    "/runs": ("state=failed", "workload_code={workload_code}", "sort=-created_at&limit=100"),
    "/results": ("workload_code={workload_code}", "project_code=p1", "output_kind=metrumbench-vlm", "gpu_class_code=h100", "model_code={model}&result=accepted&limit=100",
                 "created_at_from=2026-09-01T00:00:00Z", "hostname=gpu1&scenario_concurrency=4"),
}
# Paths that need a query.
NEEDS = {"/results/compare": "job_code={job_code},w3-r2-s1-j6,w3-r2-s2-j5"}
# A stream that never ends, and exports of the whole base, which are no pages: timed alone.
SKIPPED = {"/api/v1/events", "/api/v1/results.csv", "/api/v1/results.json", "/api/v1/prompt-sources/{source_code}/content"}


class Plane:
    def __init__(self, build, folder, database):
        self.serve, self.folder, self.database, self.token = build / "libexec/assay/assay-serve", folder, database, ""
        self.process = None

    def start(self):
        """Seconds from exec to the first answered call."""
        token_file = self.folder / "token"
        words = [] if token_file.exists() else ["--admin-token-file", token_file]
        begun = time.monotonic()
        self.process = subprocess.Popen([self.serve, "--database", self.database, "--key-file", self.folder / "key", "--data", SOURCE / "data", "--port", "0",
                                         *words], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("assay-serve did not start")
        self.port = urllib.parse.urlsplit(line.strip()).port
        self.token = self.token or token_file.read_text().strip()
        self.call("GET", "/api/v1/jobs")
        return time.monotonic() - begun

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(WAIT_S)
        self.process.stdout.close()

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {data.decode()[:300]}")
        return json.loads(data) if data and "json" in response.headers.get("Content-Type", "") else data

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024 / 1e6


def define(plane):
    def post(path, body):
        plane.call("POST", "/api/v1/" + path, body)
    post("server-configs", {"config_code": "dgx1", "location": "on_prem", "gpu_class_code": "h100", "gpu_count": 8})
    for host in range(4):
        post("servers", {"config_code": "dgx1", "hostname": f"gpu{host}", "gpus": [{"gpu_index": i, "gpu_class_code": "h100"} for i in range(8)]})
    post("prompt-sources", {"source_code": "lib1", "source_type": "prompt_library", "name": "Library"})
    post("providers", {"provider_code": "slurm1", "kind": "slurm"})
    post("secrets", {"secret_code": "hf-token", "reference": "env:HF_TOKEN"})
    for number in range(PROJECTS):
        post("projects", {"project_code": f"p{number}", "name": "Project"})
    for number in range(WORKLOADS):
        post("workloads", {"workload_code": f"w{number}", "project_code": f"p{number % PROJECTS}", "name": "Workload", "tool": "metrumbench-llm",
                           "model_code": MODEL, "framework_code": "vllm", "framework_version": "0.12.0", "set_code": "vllm-llama33-70b-instruct-h100-tp4",
                           "config_code": "dgx1", "hostname": f"gpu{number % 4}", "source_code": "lib1"})
        for scenario in range(SCENARIOS):
            post("scenarios", {"workload_code": f"w{number}", "scenario_code": f"s{scenario}", "concurrency": 2 ** scenario, "isl_tokens": 512,
                               "osl_tokens": 128, "request_count": 64})


def member_paths(plane, document, path, base):
    """A path with parameters filled from the first rows of its list, or from a job in the middle of the base."""
    names = re.findall(r"{(\w+)}", path)
    lists = path.split("/{")[0]
    items = plane.call("GET", lists)["items"] if lists in document["paths"] else []
    item = {**(items[len(items) // 2] if items else {}), **{name: base[name] for name in names if name in base}}
    for name in names:
        if name not in item:
            return None
        path = path.replace("{" + name + "}", urllib.parse.quote(str(item[name]), safe=""))
    return path


def calls_of(plane):
    document = plane.call("GET", "/api/v1/openapi.json")
    base = {"model": urllib.parse.quote(MODEL, safe=""), "workload_code": "w3", "scenario_code": "s1", "run_code": "w3-r2", "job_code": "w3-r2-s1-j5"}
    calls, left_out = [], []
    for path, operations in document["paths"].items():
        if "get" not in operations or path in SKIPPED:
            continue
        filled = member_paths(plane, document, path, base) if "{" in path else path
        if not filled:
            left_out.append(path)
            continue
        route = path.removeprefix("/api/v1")
        calls.append((route, filled + ("?" + NEEDS[route].format(**base) if route in NEEDS else "")))
        for variant in LIST_VARIANTS.get(route, ()):
            calls.append((f"{route}?{variant}", filled + "?" + variant.format(**base)))
        if route in ("/jobs", "/results"):
            cursor = None
            for _ in range(50):
                cursor = plane.call("GET", f"{filled}?limit=100" + (f"&cursor={cursor}" if cursor else ""))["next"]
            calls.append((route + " (50 pages on)", f"{filled}?limit=100&cursor={cursor}"))
    return calls, left_out


def load(options, port, token, calls, rounds):
    with tempfile.NamedTemporaryFile("w", suffix=".calls") as file:
        file.writelines(f"{route}\t{path}\n" for route, path in calls)
        file.flush()
        done = subprocess.run([options.build / "bench_plane_load", str(port), str(options.rate), str(rounds), "1", file.name], input=token, text=True,
                              capture_output=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def bare(options, folder, calls, body_bytes):
    answer = folder / "answer"
    answer.write_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % body_bytes + b"x" * body_bytes)
    with subprocess.Popen([options.build / "bench_bare_server", answer], stdout=subprocess.PIPE, text=True) as server:
        port = urllib.parse.urlsplit(server.stdout.readline().strip()).port
        result = load(options, port, "none", [("bare", path) for _, path in calls], max(1, 4000 // len(calls)))
        server.kill()
    return {name: statistics.median(row[name] for row in result["routes"]) for name, _ in LIMITS_MS}


def starts(plane):
    """Medians in ms: after a clean end, and after kill -9 with calls under way. The plane runs before and after."""
    clean, killed = [], []
    for _ in range(STARTS):
        plane.stop()
        clean.append(plane.start() * 1e3)
    for number in range(STARTS):
        plane.call("POST", "/api/v1/projects", {"project_code": f"killed-{number}", "name": "x"})
        plane.stop(signal.SIGKILL)
        killed.append(plane.start() * 1e3)
        plane.call("GET", f"/api/v1/projects/killed-{number}")
    return {"clean_ms": statistics.median(clean), "clean_max_ms": max(clean), "killed_ms": statistics.median(killed), "killed_max_ms": max(killed)}


def export_ms(plane):
    took = []
    for _ in range(3):
        begun = time.monotonic()
        plane.call("GET", "/api/v1/results.csv")
        took.append((time.monotonic() - begun) * 1e3)
    return statistics.median(took)


def busy_share():
    """Of the processors, over two seconds, before the bench itself does anything."""
    def read():
        return [int(word) for word in open("/proc/stat").readline().split()[1:]]
    before = read()
    time.sleep(2)
    delta = [after - old for after, old in zip(read(), before)]
    return 1 - (delta[3] + delta[4]) / max(1, sum(delta))


def table(result):
    def holds(is_held):
        return "yes" if is_held else "**no**"
    rows = ["| figure | value | limit | holds |", "|---|--:|--:|---|",
            f"| peak memory, MB | {result['memory_mb']:.1f} | < {MEMORY_LIMIT_MB} | {holds(result['memory_mb'] < MEMORY_LIMIT_MB)} |"]
    for name, limit, words in (("clean", START_LIMIT_MS, "start"), ("killed", KILLED_LIMIT_MS, "start after kill -9")):
        worst = result["starts"][name + "_max_ms"]
        rows.append(f"| {words}, ms: median (worst of {STARTS}) | {result['starts'][name + '_ms']:.0f} ({worst:.0f}) | < {limit} | {holds(worst < limit)} |")
    rows.append(f"| all results as CSV, alone, ms | {result['export_csv_ms']:.0f} | | |")
    rows += ["", "| call | n | failed | bytes | p50 ms | p95 ms | p99 ms | max ms | holds |", "|---|--:|--:|--:|--:|--:|--:|--:|---|"]
    for when in ("before", "after"):
        row = result["bare_" + when]
        rows.append(f"| bare server, {when} | | | | {row['p50_ms']:.2f} | {row['p95_ms']:.2f} | {row['p99_ms']:.2f} | | |")
    for row in result["routes"]:
        rows.append(f"| `{row['route']}` | {row['n']} | {row['failed']} | {row['bytes']:.0f} | {row['p50_ms']:.2f} | {row['p95_ms']:.2f} | {row['p99_ms']:.2f} "
                    f"| {row['max_ms']:.1f} | {holds(row['holds'])} |")
    return "\n".join(rows) + "\n"


def measure(options, folder, database):
    result = {"busy_share_before": busy_share(), "load_average_before": os.getloadavg(), "machine": platform.platform(), "cores": os.cpu_count(),
              "jobs": options.jobs, "rate_per_s": options.rate, "without": options.without}
    plane = Plane(options.build, folder, database)
    plane.start()
    define(plane)
    plane.stop()
    begun = time.monotonic()
    result["runs"], result["jobs"] = seed(database, options.jobs)
    result["seed_s"] = time.monotonic() - begun
    plane.start()
    try:
        result["starts"] = starts(plane)
        calls, result["left_out"] = calls_of(plane)
        calls = [call for call in calls if (options.only or "") in call[0] and not (options.without and options.without in call[0])]
        page_bytes = len(json.dumps(plane.call("GET", "/api/v1/jobs")))
        result["bare_before"] = bare(options, folder, calls, min(page_bytes, 60000))
        result.update(load(options, plane.port, plane.token, calls, options.rounds))
        result["memory_mb"] = plane.peak_mb()
        result["export_csv_ms"] = export_ms(plane)
        result["bare_after"] = bare(options, folder, calls, min(page_bytes, 60000))
    finally:
        plane.stop()
    for row in result["routes"]:
        row["holds"] = row["failed"] == 0 and all(row[name] <= limit for name, limit in LIMITS_MS)
    result["load_average_after"] = os.getloadavg()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=10000)
    parser.add_argument("--rate", type=float, default=350)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--only", help="calls whose route holds this")
    parser.add_argument("--without", help="no calls whose route holds this")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    options = parser.parse_args()
    options.build = options.build.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-bench-plane-"))
    server, name = os.environ.get("ASSAY_TEST_POSTGRES"), "sqlite"
    database = str(folder / "plane.db")
    if server:
        name = "postgresql"
        subprocess.run(["psql", "-q", server, "-c", "CREATE DATABASE plane_bench"], check=True)
        database = urllib.parse.urlunsplit(urllib.parse.urlsplit(server)._replace(path="/plane_bench"))
    try:
        result = {"store": name, **measure(options, folder, database)}
    finally:
        shutil.rmtree(folder)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"plane_{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (options.out / f"plane_{name}.md").write_text(table(result))
    print(json.dumps({key: value for key, value in result.items() if key != "routes"}, indent=1))
    print(table(result))


if __name__ == "__main__":
    main()
