# SPDX-License-Identifier: Apache-2.0
"""One simulator, two tools: `assay llm`, and a client of Python's own library that writes its figures as vLLM's benchmark does. The reports of
both agree, and request.http holds what was asked, so that a difference could be found."""
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import yaml

assay, program = sys.argv[1:]
TTFT_MS, ITL_MS, TOKENS, REQUESTS = 60, 5, 20, 12
PROMPT = "Tell me about the harbour at dawn."


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def ask(port, body):
    """One streamed answer: time to the first content and to the end in ms, the usage figures."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    begun = time.monotonic()
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    answer, first, usage = connection.getresponse(), None, None
    for line in answer:
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        usage = event.get("usage") or usage
        if first is None and event["choices"] and event["choices"][0]["delta"].get("content"):
            first = (time.monotonic() - begun) * 1000
    connection.close()
    return first, (time.monotonic() - begun) * 1000, usage


def other_tool(port, body, path):
    begun = time.monotonic()
    first, whole, usages = zip(*(ask(port, body) for _ in range(REQUESTS)))
    duration = time.monotonic() - begun
    tpot = [(w - f) / (u["completion_tokens"] - 1) for f, w, u in zip(first, whole, usages)]
    output = sum(u["completion_tokens"] for u in usages)
    results = {"date": "20260102-030405", "model_id": "m", "num_prompts": REQUESTS, "request_rate": "inf", "max_concurrency": 1, "duration": duration,
               "completed": REQUESTS, "total_input_tokens": sum(u["prompt_tokens"] for u in usages), "total_output_tokens": output,
               "request_throughput": REQUESTS / duration, "output_throughput": output / duration, "mean_ttft_ms": statistics.mean(first),
               "median_ttft_ms": statistics.median(first), "mean_tpot_ms": statistics.mean(tpot), "median_tpot_ms": statistics.median(tpot),
               "mean_e2el_ms": statistics.mean(whole)}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file)


def aggregate_of(text):
    return yaml.safe_load(text)["results"]["request_performance"]["aggregate"]


def milliseconds(statistic):
    return statistic["mean"] * (1000 if statistic["units"] in ("s", "s/token") else 1)


with tempfile.TemporaryDirectory() as work:
    prompts, folder, results = (os.path.join(work, name) for name in ("prompts.jsonl", "run", "vllm.json"))
    with open(prompts, "w", encoding="utf-8") as file:
        file.write(json.dumps({"prompt": PROMPT}) + "\n")
    sim = subprocess.Popen([assay, "sim", "--port", "0", "--model", "m", "--ttft", f"{TTFT_MS}ms", "--itl", f"{ITL_MS}ms", "--tokens", str(TOKENS)],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = sim.stdout.readline().strip()
        subprocess.run([assay, "llm", "--url", url, "--prompts", prompts, "--streaming", "--num-requests", str(REQUESTS), "--quiet", "--console", "none",
                        "--api-key", "a-key-to-be-kept", "--result-dir", folder], check=True, capture_output=True)
        with open(os.path.join(folder, "request.http"), encoding="utf-8", newline="") as file:
            head, _, body = file.read().partition("\r\n\r\n")
        expect("a-key-to-be-kept" not in head and "Authorization: ***" in head, f"the key stays hidden: {head}")
        expect(json.loads(body)["messages"][-1] == {"role": "user", "content": PROMPT}, f"the body as it was sent: {body}")
        expect(f"Content-Length: {len(body.encode())}\r\n" in head, f"the whole body: {head}")
        other_tool(int(url.rsplit(":", 1)[1]), body, results)
    finally:
        sim.terminate()
        sim.wait(20)
    with open(os.path.join(folder, "benchmark_report.yaml"), encoding="utf-8") as file:
        ours = aggregate_of(file.read())
    theirs = aggregate_of(subprocess.run([program, "-w", "vllm-benchmark", "-b", "0.2", results], check=True, capture_output=True, text=True).stdout)
    for length in ("input_length", "output_length"):
        expect(ours["requests"][length]["mean"] == theirs["requests"][length]["mean"], f"{length}: {ours['requests']} {theirs['requests']}")
    for name, true_ms in (("time_to_first_token", TTFT_MS), ("time_per_output_token", ITL_MS), ("request_latency", TTFT_MS + ITL_MS * (TOKENS - 1))):
        mine, other = (milliseconds(side["latency"][name]) for side in (ours, theirs))
        # The simulator is not early, and no machine is late by as much as a mistaken unit or definition would make it.
        expect(true_ms * 0.9 < mine < true_ms * 3 + 50 and true_ms * 0.9 < other < true_ms * 3 + 50, f"{name}: {mine} and {other} ms, true {true_ms}")
print("ok")
