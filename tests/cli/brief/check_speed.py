# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys
import time

program, work, native = sys.argv[1:]
failures = []
NO_OUTPUT = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)]


def run(arguments):
    """Seconds on the clock, seconds of CPU, KiB at most."""
    started = time.perf_counter()
    pid = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=NO_OUTPUT)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"FAILED: {arguments}: status {status}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def best(arguments, times):
    runs = [run(arguments) for _ in range(times)]
    return min(r[0] for r in runs), min(r[1] for r in runs), max(r[2] for r in runs)


def expect(what, value, limit, is_good):
    print(f"{what}: {value:.4g} (limit {limit:g})")
    if not is_good:
        failures.append(what)


with open(os.path.join(native, "guidellm.json"), encoding="utf-8") as file:
    results = json.load(file)
request = json.dumps({"request_id": "0123456789abcdef", "args": "w\u00f6rds and more words " * 40, "output": "an answer of some length\n" * 30,
                      "iterations": [1767322800.123456 + i for i in range(60)], "info": {"a": None, "b": [True, {"c": 1e-3}]}}, ensure_ascii=False)
marker = "@REQUESTS@"
results["benchmarks"][0]["requests"] = {"successful": [marker]}
before, after = json.dumps(results).split(json.dumps(marker))
path = os.path.join(work, "large.json")
with open(path, "w", encoding="utf-8") as file:
    file.write(before)
    for index in range(100_000_000 // len(request.encode())):
        file.write(("," if index else "") + request)
    file.write(after)
size_mb = os.path.getsize(path) / 1e6
seconds, _, kib = best([program, "-w", "guidellm", "-b", "0.2", path], 5)
expect("MB/s of a large file", size_mb / seconds, 150, size_mb / seconds >= 150)
expect("MiB of memory", kib / 1024, 64, kib / 1024 <= 64)
os.remove(path)

results["benchmarks"][0]["requests"] = None
results["benchmarks"] = results["benchmarks"] * 4000
with open(path, "w", encoding="utf-8") as file:
    json.dump(results, file)
size_mb = os.path.getsize(path) / 1e6
_, cpu, _ = best([program, "-w", "guidellm", "-b", "0.1", "-i", "0", path], 5)
with open(path, encoding="utf-8") as file:
    text = file.read()
started = time.process_time()
json.loads(text)
reference = time.process_time() - started
# On a machine that is busy or slow the reference is too.
print(f"CPU time of json.loads in the same run: {reference / cpu:.3g} times ours")
expect("MB/s of figures", size_mb / cpu, 40, size_mb / cpu >= 40 or cpu <= 0.7 * reference)

small = [program, "-w", "vllm-benchmark", "-b", "0.2", os.path.join(native, "vllm.json")]
ratio = min(best(small, 20)[0] / best([os.path.join(work, "empty")], 20)[0] for _ in range(3))
expect("times an empty program", ratio, 4, ratio <= 4)
sys.exit(f"FAILED: {', '.join(failures)}" if failures else 0)
