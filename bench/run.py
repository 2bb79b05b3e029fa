#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Client benchmarks: what a request and an event cost, and how wrong the times are. Ratios against references of the same run.

    bench/run.py --build build/release [--only nonstream,bulk,…] [--rounds 5] [--out build/bench]

The simulator runs on one core, the client on another. Clients take turns within a round; each figure is the median over the rounds of
the ratio within a round. Writes results.json and table.md in --out. A benchmark whose cores are not free is skipped, not failed.
"""
import argparse, base64, json, os, pathlib, platform, random, re, resource, shutil, signal, socket, statistics, struct, subprocess, sys, tempfile, time, zlib

HERE = pathlib.Path(__file__).resolve().parent
SIM_CPU, CLIENT_CPU = 0, 1
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
BODY = {"model": "sim-model", "messages": [{"role": "system", "content": "You are a helpful assistant."},
                                           {"role": "user", "content": "Tell me about the harbour at dawn."}], "max_tokens": 64}


class Skipped(Exception):
    pass


def free_cores(patience_s=60):
    """Waits until nothing else runs; raises Skipped when the machine stays busy."""
    deadline = time.monotonic() + patience_s
    while True:
        before = open("/proc/stat").readline().split()[1:]
        time.sleep(1)
        after = open("/proc/stat").readline().split()[1:]
        delta = [int(b) - int(a) for a, b in zip(before, after)]
        busy = 1 - (delta[3] + delta[4]) / max(1, sum(delta))
        if busy < float(os.environ.get("ASSAY_BENCH_BUSY", "0.15")):
            return
        if time.monotonic() > deadline:
            raise Skipped(f"the cores are not free (busy {busy:.0%})")


class Sim:
    """The simulator on its own core; `with Sim(...) as sim: sim.url, sim.port`."""

    def __init__(self, options, *words, tls=False):
        self.command = ["taskset", "-c", str(SIM_CPU), *self.program(options), *words]

    @staticmethod
    def program(options):
        return [str(options.assay), "sim", "--port", "0"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        if not re.match(r"https?://127\.0\.0\.1:\d+$", self.url):
            raise RuntimeError(f"the simulator did not start: {self.command}: {self.url!r}")
        self.port = self.url.rsplit(":", 1)[1]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def cpu_s(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(command, **more):
    """
    Runs a command on the client's core: (output, wall s, user+system CPU s, peak RSS kB). A process keeps the peak of the one that it was
    forked from, and this one is large: time(1), which is small, stands between and tells the peak in its last line.
    """
    begun = time.monotonic()
    process = subprocess.Popen(["/usr/bin/time", "-q", "-f", "%M", "taskset", "-c", str(CLIENT_CPU), *map(str, command)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **more)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command}: exit {process.returncode}\n{out[-800:]}{err[-800:]}")
    return out, time.monotonic() - begun, usage.ru_utime + usage.ru_stime, int(err.split()[-1])


class Sink(Sim):
    """A server that throws request bodies away (bench/sink.c): what it costs does not hide what sending costs."""

    @staticmethod
    def program(options):
        return [str(options.build / "bench_sink")]


class BareServer(Sim):
    """The fastest server one core can have: the bytes of a file for each request (bench/bare_server.c)."""

    @staticmethod
    def program(options):
        return [str(options.build / "bench_bare_server")]


def raw_answer(port, body):
    """The bytes of one answer of the simulator, head and all."""
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        answer = b""
        while True:
            answer += peer.recv(65536)
            head, found, rest = answer.partition(b"\r\n\r\n")
            if found and len(rest) >= int(re.search(rb"(?i)content-length: (\d+)", head)[1]):
                return answer


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.body = work / "body.json"
        self.prompts = work / "prompts.jsonl"
        self.prompts.write_text(json.dumps({"prompt": BODY["messages"][1]["content"]}) + "\n")
        self.bin = options.build

    def write_body(self, stream):
        body = dict(BODY, stream=stream)
        if stream:
            body["stream_options"] = {"include_usage": True}
        self.body.write_text(json.dumps(body))

    def assay(self, url, connections, requests, *words, stream, tool="llm"):
        result = self.work / "result"
        shutil.rmtree(result, ignore_errors=True)
        command = [self.options.assay, tool, "--url", url, "--model", "sim-model", *(["--prompts", self.prompts] if tool == "llm" else []),
                   "--num-requests", requests, "--concurrency", connections, "--result-dir", result, "--threads", "1",
                   "--skip-ntp-check", "--quiet", "--console", "none", *(["--streaming"] if stream else []), *words]
        _, wall, cpu, rss = timed(command)
        summary = json.loads((result / "summary.json").read_text())
        if summary["counts"]["ok"] != requests:
            raise RuntimeError(f"assay: {summary['counts']} {summary['errors']}")
        window_s = summary["window"]["duration_ms"] / 1000
        return {"cpu_s": cpu, "wall_s": wall, "window_s": window_s, "rss_kb": rss, "summary": summary, "dir": result}

    def peer(self, program, port, connections, requests):
        command = [self.bin / f"bench_{program}"] if program != "aiohttp" else [PYTHON, HERE / "aiohttp_client.py"]
        out, wall, cpu, rss = timed([*command, port, connections, requests, self.body])
        said = json.loads(out.splitlines()[-1])
        return {"cpu_s": cpu if program != "aiohttp" else said["cpu_ns"] / 1e9, "wall_s": wall, "window_s": said["wall_ns"] / 1e9, "rss_kb": rss}

    def wrk(self, port, connections, seconds):
        script = self.work / "post.lua"
        body = self.body.read_text().replace("\\", "\\\\").replace("'", "\\'")
        script.write_text(f"wrk.method='POST'\nwrk.body='{body}'\nwrk.headers['Content-Type']='application/json'\n")
        out, wall, cpu, rss = timed(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{port}/v1/chat/completions"])
        done = int(re.search(r"(\d+) requests in", out)[1])
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
        if bad:
            raise RuntimeError(f"wrk: {bad[0]}")
        return {"cpu_s": cpu, "window_s": float(re.search(r"requests in ([\d.]+)s", out)[1]), "requests": done}

    # ------------------------------------------------------------------ benchmarks; each returns rounds of named figures

    def small_answers(self, server):
        """Rounds of small JSON answers over 256 kept connections, each client in turn."""
        n = self.options.scale * 150_000
        def us(run, count):
            return run["cpu_s"] / count * 1e6
        for _ in range(self.options.rounds):
            free_cores()
            bare = self.peer("bare_loop", server.port, 256, n)
            ours = self.assay(server.url, 256, n, stream=False)
            wrk = self.wrk(server.port, 256, 3)
            curl = self.peer("curl_client", server.port, 256, n // 8)
            aio = self.peer("aiohttp", server.port, 256, n // 50)
            yield {"bare_us_per_request": us(bare, n), "assay_us_per_request": us(ours, n), "wrk_us_per_request": us(wrk, wrk["requests"]),
                   "curl_us_per_request": us(curl, n // 8), "aiohttp_us_per_request": us(aio, n // 50),
                   "bare_requests_per_s": n / bare["window_s"], "assay_requests_per_s": n / ours["window_s"],
                   "wrk_requests_per_s": wrk["requests"] / wrk["window_s"],
                   "ratio_cpu_to_bare": us(ours, n) / us(bare, n), "ratio_cpu_to_wrk": us(ours, n) / us(wrk, wrk["requests"]),
                   "ratio_bare_cpu_to_wrk": us(bare, n) / us(wrk, wrk["requests"]),
                   "ratio_rate_to_wrk": (n / ours["window_s"]) / (wrk["requests"] / wrk["window_s"]),
                   "ratio_aiohttp_to_assay": us(aio, n // 50) / us(ours, n)}

    def nonstream(self):
        """Small JSON answers of the simulator."""
        self.write_body(False)
        with Sim(self.options, "--ttft", "0ms", "--itl", "0ms", "--tokens", "16") as sim:
            yield from self.small_answers(sim)

    def nonstream_fast(self):
        """The same answers from a server that does nothing else, so that the client is what limits the rate."""
        self.write_body(False)
        with Sim(self.options, "--ttft", "0ms", "--itl", "0ms", "--tokens", "16") as sim:
            answer = self.work / "answer.bin"
            answer.write_bytes(raw_answer(int(sim.port), self.body.read_bytes()))
        with BareServer(self.options, answer) as server:
            yield from self.small_answers(server)

    def bulk(self):
        """16 streams of 1,000 events, sent as fast as they are read."""
        self.write_body(True)
        n, tokens = self.options.scale * 1600, 1000
        with Sim(self.options, "--ttft", "0ms", "--itl", "0ms", "--tokens", str(tokens), "--ignore-max-tokens") as sim:
            def ns(run, count):
                return run["cpu_s"] / (count * tokens) * 1e9
            for _ in range(self.options.rounds):
                free_cores()
                bare = self.peer("bare_loop", sim.port, 16, n)
                ours = self.assay(sim.url, 16, n, stream=True)
                curl = self.peer("curl_client", sim.port, 16, n // 2)
                aio = self.peer("aiohttp", sim.port, 16, max(16, n // 50))
                yield {"bare_ns_per_event": ns(bare, n), "assay_ns_per_event": ns(ours, n), "curl_ns_per_event": ns(curl, n // 2),
                       "aiohttp_ns_per_event": ns(aio, max(16, n // 50)), "ratio_cpu_to_bare": ns(ours, n) / ns(bare, n),
                       "ratio_cpu_to_curl": ns(ours, n) / ns(curl, n // 2), "ratio_aiohttp_to_assay": ns(aio, max(16, n // 50)) / ns(ours, n)}

    def burst(self):
        """2,000 streams, one event each every 50 ms, all on the same tick."""
        self.write_body(True)
        tokens, streams = 40, 2000
        n = streams * max(2, 2 * self.options.scale)
        with Sim(self.options, "--ttft", "50ms", "--itl", "50ms", "--tokens", str(tokens), "--burst-grid", "50ms", "--ignore-max-tokens") as sim:
            def us(run):
                return run["cpu_s"] / (n * tokens) * 1e6
            for _ in range(self.options.rounds):
                free_cores()
                bare = self.peer("bare_loop", sim.port, streams, n)
                ours = self.assay(sim.url, streams, n, stream=True)
                aio = self.peer("aiohttp", sim.port, streams, n)
                yield {"bare_us_per_event": us(bare), "assay_us_per_event": us(ours), "aiohttp_us_per_event": us(aio),
                       "ratio_cpu_to_bare": us(ours) / us(bare), "ratio_aiohttp_to_assay": us(aio) / us(ours)}

    def timing(self, streams, itl_ms, tokens, scheme="http"):
        """Kernel and user stamps against the simulator's truth log."""
        truth = self.work / "truth.jsonl"
        words = ["--tls-self-signed"] if scheme == "https" else []
        n = streams * 2
        for _ in range(max(1, self.options.rounds - 2)):
            free_cores()
            truth.unlink(missing_ok=True)
            with Sim(self.options, "--ttft", f"{itl_ms}ms", "--itl", f"{itl_ms}ms", "--tokens", str(tokens), "--ignore-max-tokens", "--truth-log", str(truth), *words) as sim:
                more = ["--insecure"] if scheme == "https" else []
                ours = self.assay(sim.url, streams, n, "--save-gaps", *more, stream=True)
            error = self.compare(ours, truth)
            ours["summary"] = None
            yield error

    def compare(self, run, truth):
        epoch = run["summary"]["window"]["epoch_monotonic_ns"]
        sent = {}
        for line in open(truth):
            row = json.loads(line)
            if row.get("chunks_ns"):
                sent[row["id"]] = row["chunks_ns"]
        ttft, chunk, user, shared, events = [], [], [], 0, 0
        for line in open(run["dir"] / "requests.jsonl"):
            record = json.loads(line)
            true = sent[f"{record['run_id']}-{record['seq']}"]
            at, marked = record["first_content_ns"], set(record.get("shared_chunks") or [])
            if 0 in marked:
                shared += 1
            else:
                ttft.append(epoch + at - true[0])
                if record["client_lag_ns"] is not None:
                    user.append(epoch + at + record["client_lag_ns"] - true[0])
            for i, gap in enumerate(record["gaps_ns"], 1):
                at += gap
                if i in marked:
                    shared += 1
                else:
                    chunk.append(epoch + at - true[i])
            events += len(record["gaps_ns"]) + 1
        def p(values, q):
            values = sorted(values)
            return values[min(len(values) - 1, int(len(values) * q))] / 1000 if values else None
        client = run["summary"]["client"]
        return {"ttft_error_p50_us": p(ttft, .5), "ttft_error_p99_us": p(ttft, .99), "chunk_error_p50_us": p(chunk, .5), "chunk_error_p99_us": p(chunk, .99),
                "chunk_error_max_us": p(chunk, 1), "user_ttft_error_p99_us": p(user, .99), "client_lag_p99_us": client["client_lag_us"]["p99"],
                "shared_read_share": shared / max(1, events), "events_per_s": events / (run["summary"]["window"]["elapsed_ms"] / 1000), "failed": run["summary"]["counts"]["failed"]}

    def timing_2000(self):
        yield from self.timing(2000, 50, 40)

    def timing_10000(self):
        yield from self.timing(9000 if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 10500 else 10000, 100, 120)

    def timing_tls_500(self):
        yield from self.timing(500, 50, 40, "https")

    def memory(self):
        """Resident memory a stream, and over a million requests."""
        self.write_body(True)
        for scheme, few, many in (("http", 100, 8100), ("https", 50, 850)):
            words = ["--tls-self-signed"] if scheme == "https" else []
            with Sim(self.options, "--ttft", "50ms", "--itl", "100ms", "--tokens", "20", "--ignore-max-tokens", *words) as sim:
                more = ["--insecure"] if scheme == "https" else []
                a = self.assay(sim.url, few, few, *more, stream=True)["rss_kb"]
                b = self.assay(sim.url, many, many, *more, stream=True)["rss_kb"]
            yield {f"{scheme}_bytes_per_stream": (b - a) * 1024 / (many - few)}
        with Sim(self.options, "--ttft", "0ms", "--itl", "0ms", "--tokens", "16") as sim:
            a = self.assay(sim.url, 64, 100_000, stream=False)["rss_kb"]
            b = self.assay(sim.url, 64, 1_000_000, stream=False)["rss_kb"]
            yield {"rss_kb_100k_requests": a, "rss_kb_1m_requests": b}

    def vlm(self):
        """An image of 1 MB (1.4 MB as base64) with each request, from memory, over 256 kept connections."""
        connections, side = 256, 578
        n = self.options.scale * connections * 24
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        noise = random.Random(1)
        rows = b"".join(b"\0" + noise.randbytes(3 * side) for _ in range(side))
        image = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
                 + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))
        (self.work / "image.png").write_bytes(image)
        prompts = self.work / "images.jsonl"
        prompts.write_text(json.dumps({"prompt": "What is there?", "image_url": "image.png"}) + "\n")
        content = [{"type": "text", "text": "What is there?"},
                   {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(image).decode()}}]
        self.body.write_text(json.dumps({"model": "sim-model", "messages": [BODY["messages"][0], {"role": "user", "content": content}], "max_tokens": 16}))
        command = ["--prompts", prompts, "--max-tokens", 16, "--no-text-probe"]
        def us(run, count):
            return run["cpu_s"] / count * 1e6
        with Sink(self.options) as sim:
            for _ in range(self.options.rounds):
                free_cores()
                bare = [self.peer("bare_loop", sim.port, connections, n)]
                few, ours = (self.assay(sim.url, connections, count, *command, stream=False, tool="vlm") for count in (connections, n))
                bare.append(self.peer("bare_loop", sim.port, connections, n))
                bare_us = sum(us(each, n) for each in bare) / 2
                ours_us = (ours["cpu_s"] - few["cpu_s"]) / (n - connections) * 1e6
                yield {"bare_us_per_request": bare_us, "assay_us_per_request": ours_us, "ratio_cpu_to_bare": ours_us / bare_us,
                       "whole_process_us_per_request": us(ours, n), "payload_bytes": self.body.stat().st_size,
                       "rss_beyond_256_requests_kb": ours["rss_kb"] - few["rss_kb"]}

    def startup(self):
        """Process start to first request byte, against an empty program's start to exit."""
        out, *_ = timed([self.bin / "bench_startup", 40, self.options.assay, "llm", "--url", "{url}", "--model", "m", "--prompts", self.prompts, "--num-requests", "1",
                         "--result-dir", "{dir}", "--skip-ntp-check", "--quiet", "--console", "none"],
                         env={**os.environ, "STARTUP_DIR": str(self.work / "start")})
        said = json.loads(out)
        first, empty = statistics.median(said["first_send_ns"]), statistics.median(said["empty_ns"])
        yield {"first_send_ms": first / 1e6, "empty_program_ms": empty / 1e6, "ratio_to_empty": first / empty}


# What must hold: figure → (comparison, limit).
LIMITS = {
    "nonstream": {"ratio_cpu_to_bare": ("<=", 1.4), "ratio_cpu_to_wrk": ("<=", 0.8), "ratio_rate_to_wrk": (">=", 1.2), "ratio_aiohttp_to_assay": (">=", 30)},
    "nonstream_fast": {"ratio_cpu_to_bare": ("<=", 1.4), "ratio_cpu_to_wrk": ("<=", 0.8), "ratio_rate_to_wrk": (">=", 1.2), "ratio_aiohttp_to_assay": (">=", 30)},
    "bulk": {"ratio_cpu_to_bare": ("<=", 2.5), "ratio_cpu_to_curl": ("<=", 0.7), "ratio_aiohttp_to_assay": (">=", 30)},
    "burst": {"ratio_cpu_to_bare": ("<=", 1.25), "ratio_aiohttp_to_assay": (">=", 2.5)},
    "timing_2000": {"ttft_error_p99_us": ("<=", 50), "chunk_error_p99_us": ("<=", 50), "failed": ("<=", 0)},
    "timing_10000": {"ttft_error_p99_us": ("<=", 100), "chunk_error_p99_us": ("<=", 100), "failed": ("<=", 0)},
    "timing_tls_500": {"ttft_error_p99_us": ("<=", 100), "chunk_error_p99_us": ("<=", 100), "failed": ("<=", 0)},
    "memory": {"http_bytes_per_stream": ("<=", 8192), "https_bytes_per_stream": ("<=", 40960)},
    "vlm": {"ratio_cpu_to_bare": ("<=", 1.5), "rss_beyond_256_requests_kb": ("<=", 4096)},
    "startup": {"ratio_to_empty": ("<=", 8)},
}


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    return {"cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release(), "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)}


def table(results):
    lines = ["| benchmark | figure | median | min – max | limit | holds |", "|---|---|--:|---|---|---|"]
    for name, result in results["benchmarks"].items():
        if "skipped" in result:
            lines.append(f"| {name} | skipped: {result['skipped']} | | | | |")
            continue
        for figure, value in result["median"].items():
            limit = LIMITS.get(name, {}).get(figure)
            series = [r[figure] for r in result["rounds"] if r.get(figure) is not None]
            holds = "" if not limit or value is None else "yes" if (value <= limit[1] if limit[0] == "<=" else value >= limit[1]) else "**no**"
            span = f"{min(series):.4g} – {max(series):.4g}" if series else ""
            lines.append(f"| {name} | {figure} | {'–' if value is None else format(value, '.4g')} | {span} | {' '.join(map(str, limit)) if limit else ''} | {holds} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder with assay and the bench_ programs")
    parser.add_argument("--only", default=",".join(LIMITS), help="benchmarks, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=int, default=1, help="multiplies the number of requests")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parent / "build" / "bench")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a limit does not hold")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.assay = options.build / "assay"
    options.out.mkdir(parents=True, exist_ok=True)
    results = {"machine": machine(), "version": subprocess.run([options.assay, "--version"], capture_output=True, text=True).stdout.strip(), "benchmarks": {}}
    failed = 0
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as work:
        bench = Bench(options, pathlib.Path(work))
        for name in options.only.split(","):
            rounds = []
            try:
                for figures in getattr(bench, name)():
                    rounds.append(figures)
                    print(name, json.dumps({k: v if v is None else round(v, 3) for k, v in figures.items()}), flush=True)
            except Skipped as reason:
                results["benchmarks"][name] = {"skipped": str(reason)}
                print(f"{name} skipped: {reason}", flush=True)
                continue
            keys = dict.fromkeys(k for r in rounds for k in r)
            median = {}
            for k in keys:
                series = [r[k] for r in rounds if r.get(k) is not None]
                median[k] = statistics.median(series) if series else None
            results["benchmarks"][name] = {"median": median, "rounds": rounds}
            for figure, (comparison, limit) in LIMITS.get(name, {}).items():
                value = median.get(figure)
                if value is None or not (value <= limit if comparison == "<=" else value >= limit):
                    failed += 1
                    print(f"{name}: {figure} = {value}, limit {comparison} {limit}")
    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (options.out / "table.md").write_text(table(results))
    print(f"{options.out}/results.json and table.md written; {failed} limit(s) do not hold")
    return 1 if failed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
