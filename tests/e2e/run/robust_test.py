#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that meet a full disk, a signal too early, a server that goes away, damaged files; and what is told of them."""

import resource

from harness import *


class Summaries(Case):
    def summarize(self, *words, status=0, stdout=None):
        """(stdout, stderr)"""
        process = subprocess.run([ASSAY, "summarize", *map(str, words)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                 stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=False)
        self.assertEqual(process.returncode, status, process.stderr)
        return process.stdout, process.stderr

    def summary_again(self, *words):
        out, err = self.summarize(*words, "--output", "-")
        return json.loads(out), err

    def reasons(self, summary, severity=None):
        return [reason["code"] for reason in summary["validity"]["reasons"] if severity in (None, reason["severity"])]

    def line(self, folder):
        """The one line of data.jsonl."""
        lines = (self.folder / folder / "data.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 1)
        return json.loads(lines[0])


class FullDisk(Summaries):
    def limited(self, url, bytes_max, *words):
        """A run whose files may not grow beyond so many bytes."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

        process = subprocess.Popen([ASSAY, "llm", "--prompts", str(self.prompts), "--url", url, "--result-dir", "r", *map(str, words)], cwd=self.folder,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=limit)
        self.processes.append(process)
        return process

    def in_both(self):
        """What summarize finds after the run, and that it is all that was begun."""
        self.assertTrue((self.folder / "r/journal").is_dir())
        again, err = self.summary_again("r")
        self.assertIn("records more were in the journal", err)
        self.assertEqual(again["counts"]["lost"], 0)
        self.assertEqual(again["counts"]["sent"] + again["counts"]["skipped"], again["counts"]["planned"])
        return again

    def test_the_run_ends_and_nothing_finished_is_lost(self):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        ring_bytes = 4096 + 4 * 1024 * 1024  # the rings are the largest files that there are
        process = self.limited(url, ring_bytes, "--concurrency", 8, "--num-requests", 100000, "--disk-wait", "0.3s",
                               "--threads", "1", "--quiet")
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 74, err)
        self.assertIn("requests.jsonl takes no more records (File too large): make room within 0.3 s, or the run is ended", err)
        self.assertIn("no more requests are begun", err)
        self.assertIn("could not be written to 'r/requests.jsonl'; the journal beside it holds", err)
        summary = self.summary("r")
        self.assertTrue(summary["partial"])
        self.assertIn("partial", self.reasons(summary))
        self.assertIn("records_in_journal", self.reasons(summary))
        self.assertGreater(summary["counts"]["skipped"], 0)
        again = self.in_both()
        self.assertEqual(again["counts"], summary["counts"])
        self.assertGreater(again["counts"]["sent"], len(self.records("r")))

    def test_a_small_file_system(self):
        disk = self.small_disk("6m")
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 4, "--num-requests", 100000, "--disk-wait", "0.3s", "--threads", 1,
                             "--result-dir", disk / "r", "--quiet", "--data-log", "all.jsonl")
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 74, err)
        self.assertIn("No space left on device", err)
        summary = json.loads((disk / "r/summary.json").read_text())  # into the room that was reserved
        self.assertTrue(summary["partial"])
        self.assertEqual(json.loads((self.folder / "all.jsonl").read_text())["counts"], summary["counts"])
        again, _ = self.summary_again(disk / "r")
        self.assertEqual(again["counts"], summary["counts"])
        self.assertEqual(again["counts"]["lost"], 0)

    def test_room_that_comes_back(self):
        disk = self.small_disk("6m")
        (disk / "filler").write_bytes(b"x" * (1200 * 1024))
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 4, "--num-requests", 700, "--threads", 1, "--result-dir", disk / "r",
                             "--console", "none")
        line = ""
        while "takes no more records" not in line:
            line = process.stderr.readline()
            self.assertTrue(line)
        (disk / "filler").unlink()
        _, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("takes records again", err)
        self.assertFalse((disk / "r/journal").exists())
        self.assertEqual((disk / "r/requests.jsonl").read_text().count("\n"), 700)


class DamagedJournal(Summaries):
    def killed_run(self):
        url = self.sim("--ttft", "3ms", "--tokens", "2")
        process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 4, "--duration", 60, "--result-dir", "r", "--quiet", "--threads", 2)
        self.wait_for_records("r", 20)
        process.kill()
        process.wait()
        return len(self.records("r"))

    def test_a_damaged_ring_is_told_and_the_rest_is_read(self):
        written = self.killed_run()
        ring = self.folder / "r/journal/0.ring"
        whole = ring.read_bytes()
        for damaged, why in ((b"\xff" * 64 + whole[64:], "its head is damaged"), (whole[:4096], "it is cut short"), (whole[:100000], "it is cut short")):
            ring.write_bytes(damaged)
            summary, err = self.summary_again("r")
            self.assertIn(f"r/journal/0.ring: {why}", err)
            self.assertGreaterEqual(summary["counts"]["ok"], written)
            self.assertIn("records_lost", self.reasons(summary, "invalid"))


class NeverBegun(Summaries):
    def closed_url(self):
        held = socket.socket()
        held.bind(("127.0.0.1", 0))
        self.addCleanup(held.close)
        return f"http://127.0.0.1:{held.getsockname()[1]}"

    def test_the_folder_of_a_refused_run_is_free_again(self):
        self.run_llm("--url", self.closed_url(), "--result-dir", "r", status=69)
        self.assertEqual(self.line("r")["counts"]["sent"], 0)
        self.run_llm("--url", self.closed_url(), "--result-dir", "r", "--run-description", "second", status=69)
        self.assertEqual(self.line("r")["run_description"], "second")
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        self.run_llm("--url", url, "--result-dir", "r")
        self.assertEqual(self.line("r")["counts"]["ok"], 4)
        _, err = self.run_llm("--url", url, "--result-dir", "r", status=73)
        self.assertIn("holds a run already", err)

    def test_a_signal_before_the_first_request(self):
        for number, status, words in ((signal.SIGINT, 130, ()), (signal.SIGTERM, 143, ("--synthetic-isl", "20", "--synthetic-osl", "2", "--model", "m"))):
            with socket.socket() as silent:
                silent.bind(("127.0.0.1", 0))
                silent.listen()
                source = () if words else ("--prompts", self.prompts)
                process = self.start("llm", "--url", f"http://127.0.0.1:{silent.getsockname()[1]}", "--result-dir", "r", "--data-log", "all.jsonl", *source, *words)
                connection, _ = silent.accept()  # the question for the model, or the first probe: it gets no answer
                with connection:
                    connection.recv(1)
                    process.send_signal(number)
                    _, err = process.communicate(timeout=DEADLINE_S)
            self.assertEqual(process.returncode, status, err)
            self.assertIn("stopped before the first request", err)
            for summary in (self.line("r"), self.summary("r")):
                self.assertTrue(summary["partial"])
                self.assertEqual((summary["counts"]["sent"], summary["counts"]["ok"]), (0, 0))
                self.assertIsNone(summary["latency"]["response_time_ms"]["p50"])
            self.assertEqual(summary["schema"], "metrumbench-llm.summary.v1")
        self.assertEqual(len((self.folder / "all.jsonl").read_text().splitlines()), 2)

    def test_a_signal_while_connections_are_opened(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            process = self.start("llm", "--url", f"https://127.0.0.1:{silent.getsockname()[1]}", "--insecure", "--model", "m", "--prompts", self.prompts,
                                 "--result-dir", "r", "--prewarm", "--concurrency", 2)
            connection, _ = silent.accept()
            with connection:
                connection.recv(1)
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 130, err)
        summary = self.line("r")
        self.assertTrue(summary["partial"])
        self.assertEqual((summary["counts"]["sent"], summary["counts"]["skipped"]), (0, summary["counts"]["planned"]))


class Verdicts(Summaries):
    def test_a_server_that_goes_away(self):
        url = self.sim("--ttft", "2ms", "--tokens", "2")
        server = self.processes[-1]
        process = self.start("llm", "--prompts", self.prompts, "--url", url, "--concurrency", 2, "--num-requests", 400, "--result-dir", "r", "--require-valid", "--console", "none")
        self.wait_for_records("r", 40)
        server.kill()
        _, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 3, err)
        self.assertRegex(err, r"not valid: \w+: .*; files: r\n")
        summary = self.summary("r")
        self.assertGreaterEqual(summary["counts"]["ok"], 40)
        self.assertIn("too_many_errors", self.reasons(summary, "invalid"))

    def test_requests_that_never_got_a_place(self):
        url = self.sim("--ttft", "400ms", "--tokens", "1")
        out, _ = self.run_llm("--url", url, "--request-rate", 50, "--arrival", "constant", "--max-concurrency", 2, "--duration", "1s", "--result-dir", "r")
        counts = self.summary("r")["counts"]
        self.assertGreater(counts["late_unsent"], 20)
        self.assertLessEqual(counts["late_unsent"], counts["skipped"])
        self.assertTrue(500 < counts["late_unsent_wait_ms"] <= 1000, counts)
        self.assertIn("late_unsent", self.reasons(self.summary("r"), "invalid"))
        self.assertIn("of them due, the first for", out)
        again, _ = self.summary_again("r")
        self.assertEqual(again, self.summary("r"))

    def test_one_figure_of_the_clients_lag(self):
        url = self.sim("--ttft", "5ms", "--itl", "1ms", "--tokens", "10")
        out, _ = self.run_llm("--url", url, "--streaming", "--concurrency", 8, "--num-requests", 100, "--max-lag-share", "0.0000001", "--result-dir", "r")
        summary = self.summary("r")
        p99_us = summary["client"]["client_lag_us"]["p99"]
        reason = next(reason for reason in summary["validity"]["reasons"] if reason["code"] == "client_lag")
        self.assertIn(f"(p99 {p99_us:.0f} µs", reason["message"])
        budget = summary["client"]["error_budget"]
        self.assertAlmostEqual(budget["itl_ratio"] * summary["latency"]["itl_ms"]["p50"] * 1000, p99_us, places=3)
        self.assertAlmostEqual(budget["ttft_ratio"] * summary["latency"]["ttft_ms"]["p50"] * 1000, p99_us, places=3)
        self.assertIn("lag p50", out)


class Rebuilt(Summaries):
    def small_run(self, folder, *words):
        url = self.sim("--ttft", "1ms", "--tokens", "2")
        self.run_llm("--url", url, "--result-dir", folder, "--num-requests", 6, *words)

    def test_records_that_are_there_twice(self):
        self.small_run("r")
        lines = (self.folder / "r/requests.jsonl").read_text().splitlines()
        far = [line.replace('"seq":5,', f'"seq":{2**63 - 1},') for line in lines if '"seq":5,' in line]
        self.assertEqual(len(far), 1)
        (self.folder / "twice.jsonl").write_text("\n".join(lines + lines[:2] + far + far) + "\n")
        summary, _ = self.summary_again("twice.jsonl")
        self.assertEqual((summary["counts"]["ok"], summary["counts"]["duplicates"]), (7, 3))
        self.assertIn("duplicates", self.reasons(summary))

    def test_records_of_two_runs_in_one_file(self):
        self.small_run("a")
        self.small_run("b")
        both = (self.folder / "a/requests.jsonl").read_text() + (self.folder / "b/requests.jsonl").read_text()
        (self.folder / "both.jsonl").write_text(both + both)
        summary, _ = self.summary_again("both.jsonl")
        self.assertEqual((summary["counts"]["ok"], summary["counts"]["duplicates"]), (12, 12))

    def test_several_shards_show_what_they_share(self):
        for i in range(2):
            self.small_run(f"s{i}", "--shard", f"{i}/2", "--model", "m")
        config = self.summary_again("s0", "s1")[0]["config"]
        self.assertEqual((config["model"], config["num_requests"]), ("m", 6))
        self.assertEqual((config["shard"], config["result_dir"]), (None, None))
        self.assertEqual([(each["path"], each["shard"], each["shard_count"], each["result_dir"]) for each in config["inputs"]],
                         [("s0", 0, 2, "s0"), ("s1", 1, 2, "s1")])
        self.assertEqual([each["run_id"] for each in config["inputs"]], [self.summary(f"s{i}")["unique_id"] for i in range(2)])

    def test_standard_output(self):
        self.small_run("r")
        out, _ = self.summarize("r", "--output", "-")
        self.assertEqual(out, (self.folder / "r/summary.json").read_text())
        out, _ = self.summarize("r", "--data-log", "-")
        self.assertEqual(out, (self.folder / "r/data.jsonl").read_text())
        _, err = self.summarize("r", "--output", "-", "--console", "json", status=2)
        self.assertIn("only one of --output -, --data-log - and --console can have standard output", err)
        self.assertFalse((self.folder / "-").exists())

    def test_standard_output_that_takes_nothing(self):
        self.small_run("r")
        with open("/dev/full", "w", encoding="utf-8") as full:
            _, err = self.summarize("r", "--console", "table", status=74, stdout=full)
        self.assertIn("standard output: No space left on device", err)
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())


if __name__ == "__main__":
    unittest.main()
