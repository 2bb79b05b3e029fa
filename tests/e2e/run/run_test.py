#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay llm` from its command line to the files it leaves."""

import fcntl
import pty
import struct
import termios

from harness import *

ANSWER = json.dumps({"id": "x", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {
    "role": "assistant", "content": "an answer"}}], "usage": {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14}})


class Files(Case):
    def test_a_run_leaves_its_files(self):
        url = self.sim("--ttft", "5ms", "--itl", "1ms", "--tokens", "8")
        out, err = self.run_llm("--url", url, "--streaming", "--concurrency", 3, "--num-requests", 12, "--warmup-requests", 2, "--result-dir", "r",
                                "--scenario", "small", "--run-description", "a test", "--run-keywords", "a,b", "--data-log", "all.jsonl")
        self.assertEqual(sorted(path.name for path in (self.folder / "r").iterdir()),
                         ["benchmark_report.yaml", "command.txt", "data.jsonl", "request.http", "requests.jsonl", "run.json", "summary.json"])
        summary = self.summary("r")
        self.assertEqual(summary["schema"], "metrumbench-llm.summary.v1")
        self.assertEqual((summary["counts"]["planned"], summary["counts"]["sent"], summary["counts"]["warmup"], summary["counts"]["ok"]), (14, 14, 2, 14))
        self.assertEqual(summary["counts"]["measured"]["ok"], 12)
        self.assertEqual(summary["scenario"], "small")
        self.assertEqual(summary["run_description"], "a test")
        self.assertFalse(summary["partial"])
        self.assertEqual(summary["ntp"]["outcome"], "skipped")
        config = summary["config"]
        self.assertEqual(config["concurrency"], 3)
        self.assertEqual(config["model"], "sim-model")
        self.assertEqual(config["system_prompt"], "You are a helpful assistant.")
        self.assertEqual(config["request_timeout_s"], 120)
        self.assertEqual(config["origins"]["concurrency"], "command line")
        self.assertEqual(config["origins"]["model"], "run")
        self.assertEqual(config["origins"]["max_tokens"], "default")
        self.assertEqual(config["body_template"]["messages"][1]["content"], "{prompt}")
        self.assertEqual(config["prompt_source"]["count"], 7)
        self.assertEqual(len(self.records("r")), 14)
        self.assertEqual(json.loads((self.folder / "r/data.jsonl").read_text()), json.loads((self.folder / "all.jsonl").read_text()))
        self.assertIn("TTFT", out)
        self.assertIn("Files: r", out)
        command = (self.folder / "r/command.txt").read_text()
        self.assertTrue(command.startswith("assay llm --prompts "), command)

    def test_a_data_log_is_appended_to(self):
        url = self.sim("--ttft", "1ms", "--itl", "1ms", "--tokens", "2")
        for i in range(2):
            self.run_llm("--url", url, "--result-dir", f"r{i}", "--data-log", "all.jsonl", "--quiet")
        lines = (self.folder / "all.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertNotEqual(json.loads(lines[0])["unique_id"], json.loads(lines[1])["unique_id"])

    def test_a_folder_holds_one_run(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        self.run_llm("--url", url, "--result-dir", "r")
        before = (self.folder / "r/summary.json").read_text()
        out, err = self.run_llm("--url", url, "--result-dir", "r", status=73)
        self.assertIn("r holds a run already", err)
        self.assertEqual(before, (self.folder / "r/summary.json").read_text())

    def test_without_a_folder_each_run_makes_its_own(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        for _ in range(2):
            self.run_llm("--url", url)
        self.assertEqual(len(list((self.folder / "assay-results").iterdir())), 2)

    def test_the_old_name_is_the_same_tool(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        process = self.start("--url", url, "--prompts", self.prompts, "--result-dir", "r", "--console", "json", program=str(BUILD / "metrumbench-llm"))
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["counts"]["ok"], 4)
        self.assertTrue((self.folder / "r/command.txt").read_text().startswith("assay llm --url"))

    def test_consoles(self):
        url = self.sim("--ttft", "1ms", "--tokens", "3")
        out, _ = self.run_llm("--url", url, "--console", "vllm", "--streaming", "--metric-percentiles", "90,99", "--percentile-metrics", "ttft")
        self.assertIn("============ Serving Benchmark Result ============", out)
        self.assertIn("P90 TTFT (ms):", out)
        self.assertNotIn("TPOT", out)
        out, err = self.run_llm("--url", url, "--console", "none", "--quiet")
        self.assertEqual((out, err), ("", ""))


class Progress(Case):
    def test_one_line_on_a_terminal(self):
        url = self.sim("--ttft", "20ms", "--itl", "10ms", "--tokens", "30")
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
        process = subprocess.Popen([ASSAY, "llm", "--prompts", str(self.prompts), "--url", url, "--num-requests", "12", "--concurrency", "4", "--streaming"],
                                   cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        self.processes.append(process)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertNotIn(b"\n", text[text.index(b"/12"):])
        drawn = [line for line in text.split(b"\r") if b"/12" in line]
        self.assertGreaterEqual(len(drawn), 3)
        self.assertTrue(all(len(line.replace(b"\x1b[K", b"").decode()) < 50 for line in drawn), drawn)
        self.assertTrue(text.endswith(b"\r\x1b[K"), text[-40:])

    def test_plain_lines_elsewhere(self):
        url = self.sim("--ttft", "20ms", "--itl", "10ms", "--tokens", "30")
        _, err = self.run_llm("--url", url, "--num-requests", 12, "--concurrency", 4, "--progress-interval", "200ms", "--streaming")
        lines = [line for line in err.splitlines() if "/12" in line]
        self.assertGreaterEqual(len(lines), 3)
        self.assertNotIn("\x1b", err)
        self.assertIn("4 in flight", lines[1])


class Sources(Case):
    def test_job_file_environment_and_command_line(self):
        url = self.sim("--ttft", "1ms", "--tokens", "3")
        (self.folder / "job.yaml").write_text(f"url: {url}\nconcurrency: 2\nnum_requests: 6\nmax-tokens: 9\nstreaming: true\ngoodput: [ttft:100, e2e:900]\n")
        self.run_llm("--job", "job.yaml", "--result-dir", "r", "--num-requests", 8, environment={"ASSAY_MAX_TOKENS": "7", "ASSAY_CONCURENCY": "9"})
        config = self.summary("r")["config"]
        self.assertEqual((config["concurrency"], config["num_requests"], config["max_tokens"]), (2, 8, 7))
        self.assertEqual([config["origins"][name] for name in ("concurrency", "num_requests", "max_tokens")],
                         ["job file", "command line", "environment"])

    def test_a_misspelt_variable_is_told(self):
        url = self.sim("--ttft", "1ms", "--tokens", "3")
        _, err = self.run_llm("--url", url, environment={"ASSAY_CONCURENCY": "9"})
        self.assertIn("ASSAY_CONCURENCY is set, but no option of this command reads it; did you mean ASSAY_CONCURRENCY?", err)

    def test_keys_are_sent_and_never_shown(self):
        server = Server({("POST", "/v1/chat/completions"): (401, json.dumps({"error": {"message": "bad key sk-very-secret-key-1"}})),
                         ("GET", "/v1/models"): (200, json.dumps({"data": [{"id": "m"}]}))})
        self.addCleanup(server.close)
        (self.folder / "key.txt").write_text("sk-very-secret-key-1\n")
        outputs = []
        for i, (words, environment) in enumerate([(["--api-key", "sk-very-secret-key-1"], {}), (["--api-key-file", "key.txt"], {"OPENAI_API_KEY": "unused-key-22"}),
                                                  ([], {"OPENAI_API_KEY": "sk-very-secret-key-1"}),
                                                  (["--header", "Authorization: Bearer sk-very-secret-key-1"], {})]):
            server.requests.clear()
            outputs.append("".join(self.run_llm("--url", server.url, "--result-dir", f"r{i}", *words, environment=environment)))
            self.assertEqual({headers["Authorization"] for _, _, headers, _ in server.requests}, {"Bearer sk-very-secret-key-1"})
        self.assertIn("--api-key is visible in the process list", outputs[0])
        for path in self.folder.rglob("*"):
            if path.is_file() and path.name != "key.txt":
                self.assertNotIn("very-secret", path.read_text(errors="replace"), path)
        self.assertNotIn("very-secret", "".join(outputs))
        self.assertEqual(self.summary("r0")["config"]["api_key"], "set")
        self.assertEqual(self.summary("r0")["errors"]["by_type"]["auth"], 4)

    def test_a_query_is_sent_and_its_key_never_shown(self):
        query = "?api-version=2024-06-01&api-key=very-secret-1%2F"
        deployment = "/openai/deployments/x"
        server = Server({("POST", f"{deployment}/chat/completions{query}"): (200, ANSWER),
                         ("GET", f"{deployment}/models{query}"): (200, json.dumps({"data": [{"id": "m"}]})),
                         ("POST", f"/v1/chat/completions{query}"): (401, json.dumps({"error": {"message": "no very-secret-1/"}}))})
        self.addCleanup(server.close)
        (self.folder / "servers.yaml").write_text(f"- url: {server.url}{deployment}{query}\n")
        outputs = []
        for i, (words, failed) in enumerate([(["--url", f"{server.url}{deployment}{query}"], 0),
                                             (["--url", f"{server.url}{deployment}/chat/completions{query}"], 0),
                                             (["--endpoints-file", "servers.yaml"], 0),
                                             (["--url", server.url, "--endpoint", f"/v1/chat/completions{query}", "--model", "m"], 4)]):
            server.requests.clear()
            outputs.append("".join(self.run_llm("--result-dir", f"r{i}", *words)))
            self.assertEqual({path[path.index("?"):] for _, path, _, _ in server.requests}, {query})
            summary = self.summary(f"r{i}")
            self.assertEqual((summary["counts"]["ok"], summary["counts"]["failed"]), (4 - failed, failed), words)
            self.assertTrue(summary["endpoints"][0]["url"].endswith("?api-version=2024-06-01&api-key=***"), summary["endpoints"][0]["url"])
        self.assertIn("a key in a URL's query is visible in the process list", outputs[0])
        self.assertNotIn("process list", outputs[2])
        self.assertNotIn("very-secret", "".join(outputs))
        for path in self.folder.rglob("*"):
            if path.is_file() and path.name != "servers.yaml":
                self.assertNotIn("very-secret", path.read_text(errors="replace"), path)

    def test_models(self):
        def models(*names):
            return {("GET", "/v1/models"): (200, json.dumps({"data": [{"id": name} for name in names]})), ("POST", "/v1/chat/completions"): (200, ANSWER)}

        for names, status, piece in [(["only"], 0, ""), ([], 2, "lists no model; give --model NAME"), (["a", "b"], 2, "lists 2 models (a, b); give --model NAME")]:
            server = Server(models(*names))
            _, err = self.run_llm("--url", server.url, "--result-dir", f"r{len(names)}{status}", status=status)
            server.close()
            self.assertIn(piece, err)
        self.assertEqual(self.summary("r10")["config"]["model"], "only")

    def test_other_tools_command_line(self):
        url = self.sim("--ttft", "1ms", "--tokens", "4")
        host, port = url.removeprefix("http://").split(":")
        process = self.start("llm", "--backend", "openai-chat", "--host", host, "--port", port, "--endpoint", "/v1/chat/completions", "--model", "sim-model",
                             "--dataset-name", "random", "--random-input-len", "40", "--random-output-len", "4", "--num-prompts", "10", "--request-rate", "inf",
                             "--max-concurrency", "4", "--goodput", "ttft:500", "e2el:5000", "--save-result", "--result-dir", "r", "--percentile-metrics",
                             "ttft,tpot,itl,e2el", "--metric-percentiles", "99", "--console", "vllm", "--streaming", "--seed", "1")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("--save-result: every run is saved", err)
        summary = self.summary("r")
        self.assertEqual(summary["counts"]["ok"], 10)
        self.assertEqual(summary["config"]["concurrency"], 4)
        self.assertEqual(summary["goodput"]["good"], 10)

    def test_a_dry_run_sends_nothing(self):
        server = Server({})
        self.addCleanup(server.close)
        out, err = self.run_llm("--url", server.url, "--model", "m", "--request-rate", 5, "--arrival", "constant", "--num-requests", 3, "--dry-run")
        plan = json.loads(out)
        self.assertEqual(plan["plan"]["first_due_ms"], [0, 200, 400])
        self.assertEqual(plan["config"]["body_template"]["model"], "m")
        self.assertEqual(server.requests, [])
        self.assertFalse((self.folder / "assay-results").exists())

    def test_generated_prompts_are_calibrated(self):
        url = self.sim("--ttft", "1ms", "--tokens", "3", "--tokens-per-word", "1.5")
        process = self.start("llm", "--url", url, "--synthetic-isl", "120±20", "--synthetic-osl", "3", "--num-requests", "20", "--result-dir", "r")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        summary = self.summary("r")
        self.assertAlmostEqual(summary["config"]["tokens_per_word"], 1.5, delta=0.05)
        lengths = [record["prompt_tokens"] for record in self.records("r")]
        self.assertTrue(all(98 <= n <= 142 for n in lengths), lengths)
        self.assertGreater(len(set(lengths)), 3)

    def test_a_length_below_the_template_is_told(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        for tokens, is_told in (("2", True), ("40", False)):
            process = self.start("llm", "--url", url, "--synthetic-isl", tokens, "--synthetic-osl", "2", "--num-requests", "2", "--result-dir", f"t{tokens}")
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual(f"--synthetic-isl: {tokens} tokens cannot be reached" in err, is_told, err)
            self.assertGreater(self.summary(f"t{tokens}")["config"]["prompt_source"]["overhead_tokens"], 2)


class Servers(Case):
    def test_forms_of_a_url(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        for i, given in enumerate([url, url + "/", url + "/v1", url + "/v1/chat/completions", url.removeprefix("http://")]):
            self.run_llm("--url", given, "--result-dir", f"r{i}", "--quiet")
            self.assertEqual(self.summary(f"r{i}")["counts"]["ok"], 4, given)
        self.run_llm("--url", url + "/v1/completions", "--result-dir", "c")
        self.assertEqual((self.summary("c")["config"]["mode"], self.summary("c")["counts"]["ok"]), ("completion", 4))

    def test_a_unix_socket(self):
        server = self.start("sim", "--unix", self.folder / "sim.sock", "--ttft", "1ms", "--tokens", "2")
        line = server.stdout.readline().strip()
        self.run_llm("--url", line, "--result-dir", "r")
        self.assertEqual(self.summary("r")["counts"]["ok"], 4)

    def test_tls(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem", "-out",
                        "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       cwd=self.folder, check=True, capture_output=True)
        url = self.sim("--ttft", "1ms", "--tokens", "2", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
        self.assertTrue(url.startswith("https://"), url)
        self.run_llm("--url", url, "--ca-cert", "cert.pem", "--result-dir", "r0")
        self.assertEqual(self.summary("r0")["counts"]["ok"], 4)
        self.assertIsNotNone(self.summary("r0")["latency"]["tls_ms"]["p50"])
        self.run_llm("--url", url, "--insecure", "--result-dir", "r1")
        self.assertEqual((self.summary("r1")["counts"]["ok"], self.summary("r1")["config"]["insecure"]), (4, True))
        self.run_llm("--url", url, "--model", "m", "--result-dir", "r2")
        self.assertEqual(self.summary("r2")["errors"]["by_type"]["connection"], 4)
        self.run_llm("--url", url, "--result-dir", "r3", status=69)

    def test_several_servers(self):
        urls = [self.sim("--ttft", "1ms", "--tokens", "2", "--seed", str(i)) for i in range(2)]
        (self.folder / "servers.yaml").write_text(f"- {{url: {urls[0]}, name: heavy, weight: 3, api_key_env: HEAVY_KEY}}\n- url: {urls[1]}\n  name: light\n")
        self.run_llm("--endpoints-file", "servers.yaml", "--result-dir", "r", "--num-requests", 40, environment={"HEAVY_KEY": "k1"})
        summary = self.summary("r")
        self.assertEqual([(each["name"], each["weight"], each["counts"]["ok"]) for each in summary["endpoints"]], [("heavy", 3, 30), ("light", 1, 10)])
        self.run_llm("--url", urls[0], "--url", urls[1], "--load-balancer", "round-robin", "--result-dir", "e", "--num-requests", 10)
        self.assertEqual([each["counts"]["ok"] for each in self.summary("e")["endpoints"]], [5, 5])
        _, err = self.run_llm("--endpoints-file", "servers.yaml", status=65)
        self.assertIn("servers.yaml, line 1: api_key_env is the NAME", err)


class Ends(Case):
    def test_all_failed_is_still_a_run(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
            self.run_llm("--url", url, "--model", "m", "--result-dir", "r")
            self.run_llm("--url", url, "--model", "m", "--result-dir", "r1", "--fail-on-error", status=1)
            self.run_llm("--url", url, "--model", "m", "--result-dir", "r3", "--require-valid", status=3)
        summary = self.summary("r")
        self.assertEqual(summary["counts"]["failed"], 4)
        self.assertEqual(summary["errors"]["by_type"]["connection"], 4)
        self.assertIsNone(summary["latency"]["ttft_ms"]["p50"])
        self.assertFalse(summary["validity"]["valid"])

    def test_a_run_that_never_began_has_a_summary(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            _, err = self.run_llm("--url", f"http://127.0.0.1:{closed.getsockname()[1]}", "--result-dir", "r", status=69)
        self.assertIn("the list of models cannot be read", err)
        summary = json.loads((self.folder / "r/data.jsonl").read_text())
        self.assertEqual((summary["counts"]["sent"], summary["counts"]["ok"], summary["counts"]["skipped"]), (0, 0, 4))
        self.assertTrue(summary["partial"])
        self.assertIsNone(summary["latency"]["response_time_ms"]["p50"])

    def test_the_first_signal_drains(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            url = self.sim("--ttft", "10ms", "--itl", "5ms", "--tokens", "20")
            folder = f"r{status}"
            process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 4, "--duration", 60, "--result-dir", folder, "--streaming")
            self.wait_for_records(folder, 8)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, status, err)
            self.assertIn("a second signal ends at once", err)
            summary = self.summary(folder)
            self.assertTrue(summary["partial"])
            self.assertGreaterEqual(summary["counts"]["ok"], 8)
            self.assertEqual(summary["counts"]["cancelled"], 0)
            self.assertEqual(len(self.records(folder)), summary["counts"]["sent"])

    def test_what_does_not_drain_in_time_is_cancelled(self):
        url = self.sim("--ttft", "30s")
        process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 3, "--duration", 60, "--result-dir", "r", "--drain-seconds", "0.2",
                             "--progress-interval", "100ms")
        line = ""
        while "3 in flight" not in line:
            line = process.stderr.readline()
            self.assertTrue(line)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(self.summary("r")["counts"]["cancelled"], 3)

    def test_the_second_signal_ends_at_once(self):
        url = self.sim("--ttft", "30s")
        process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 2, "--duration", 60, "--result-dir", "r", "--progress-interval", "100ms")
        line = ""
        while "2 in flight" not in line:
            line = process.stderr.readline()
            self.assertTrue(line)
        process.send_signal(signal.SIGTERM)
        while "a second signal" not in line:
            line = process.stderr.readline()
            self.assertTrue(line)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 143)
        self.assertIn("assay summarize ", err)
        self.assertLess(time.monotonic() - began, 2)

    def test_a_killed_run_can_be_summarised(self):
        url = self.sim("--ttft", "5ms", "--itl", "2ms", "--tokens", "10")
        process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 4, "--duration", 60, "--result-dir", "r", "--streaming", "--quiet")
        self.wait_for_records("r", 20)
        process.kill()
        process.wait()
        finished = len(self.records("r"))
        again = self.start("summarize", "r", "--output", "s.json", "--console", "none")
        _, err = again.communicate(timeout=60)
        self.assertEqual(again.returncode, 0, err)
        summary = json.loads((self.folder / "s.json").read_text())
        self.assertGreaterEqual(summary["counts"]["ok"], finished)
        self.assertTrue(summary["partial"])
        self.assertEqual(summary["config"]["concurrency"], 4)

    def test_summarize_gives_the_same_summary(self):
        url = self.sim("--ttft", "5ms", "--itl", "1ms", "--tokens", "10", "--fault", "500@0.2", "--seed", "3")
        self.run_llm("--url", url, "--result-dir", "r", "--streaming", "--concurrency", 3, "--num-requests", 60, "--warmup-requests", 3, "--goodput", "ttft:6")
        again = self.start("summarize", "r/requests.jsonl", "--output", "s.json", "--console", "none")
        again.communicate(timeout=60)
        self.assertEqual((self.folder / "s.json").read_text(), (self.folder / "r/summary.json").read_text())
        self.assertGreater(self.summary("r")["errors"]["count"], 0)

    def test_shards_join(self):
        url = self.sim("--ttft", "2ms", "--tokens", "3")
        for i in range(2):
            self.run_llm("--url", url, "--result-dir", f"s{i}", "--num-requests", 11, "--shard", f"{i}/2", "--seed", 5)
        self.run_llm("--url", url, "--result-dir", "whole", "--num-requests", 11, "--seed", 5)
        again = self.start("summarize", "s0", "s1", "--output", "s.json", "--console", "none")
        again.communicate(timeout=60)
        self.assertEqual(again.returncode, 0)
        summary = json.loads((self.folder / "s.json").read_text())
        self.assertEqual((summary["counts"]["planned"], summary["counts"]["ok"], summary["shards"]), (11, 11, 2))
        parts = {record["seq"]: record["prompt_id"] for i in range(2) for record in self.records(f"s{i}")}
        self.assertEqual(parts, {record["seq"]: record["prompt_id"] for record in self.records("whole")})


class Clock(Case):
    def run_with(self, *servers, status=0):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        words = [word for server in servers for word in ("--ntp-server", server)]
        return self.run_llm("--url", url, "--model", "m", "--result-dir", "r", *words, status=status, environment={"METRUM_SKIP_NTP_CHECK": "false"})

    def test_a_good_clock(self):
        near, far = TimeServer(0.3), TimeServer(None)
        self.addCleanup(near.close)
        self.addCleanup(far.close)
        self.run_with(near.name, far.name)
        ntp = self.summary("r")["ntp"]
        self.assertEqual((ntp["outcome"], ntp["server"]), ("ok", near.name))
        self.assertAlmostEqual(ntp["offset_ms"], 300, delta=100)

    def test_a_clock_that_is_off_refuses_the_run(self):
        server = TimeServer(-3.3)
        self.addCleanup(server.close)
        _, err = self.run_with(server.name, status=4)
        self.assertIn("this machine's clock is 3.", err)
        self.assertIn("--skip-ntp-check", err)
        summary = json.loads((self.folder / "r/data.jsonl").read_text())
        self.assertEqual(summary["counts"]["sent"], 0)
        self.assertEqual(summary["ntp"]["outcome"], "ok")

    def test_no_answer_is_noted_in_time(self):
        server = TimeServer(None)
        self.addCleanup(server.close)
        began = time.monotonic()
        _, err = self.run_with(server.name, "no-such-host.invalid")
        self.assertLess(time.monotonic() - began, 8)
        self.assertIn("no time server answered, the clock is not checked", err)
        self.assertIn("gave no answer in time", err)
        self.assertEqual(self.summary("r")["ntp"]["outcome"], "unreachable")


class Machine(Case):
    def test_too_few_descriptors_refuse_the_run(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        process = subprocess.run(["sh", "-c", f"ulimit -n 120; exec '{ASSAY}' llm --url {url} --model m --prompts '{self.prompts}' --concurrency 200 --result-dir r"],
                                 cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(process.returncode, 4, process.stderr)
        self.assertIn("200 connections need 272 open files, the limit is 120; raise it (ulimit -n 272) or lower the concurrency", process.stderr)
        self.assertEqual(json.loads((self.folder / "r/data.jsonl").read_text())["counts"]["sent"], 0)

    def test_the_soft_limit_is_raised(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        process = subprocess.run(["sh", "-c", f"ulimit -Sn 60; exec '{ASSAY}' llm --url {url} --model m --prompts '{self.prompts}' --concurrency 100 --result-dir r"],
                                 cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.summary("r")["counts"]["ok"], 400)


if __name__ == "__main__":
    unittest.main()
