#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay asr` against the simulator: what is sent, what is timed, how transcripts are judged, what goes wrong with files."""

import functools
import http.server
import shutil
import threading

import jsonschema

from harness import *

SOURCE = pathlib.Path(os.environ["ASSAY_SOURCE_DIR"])
AUDIO = SOURCE / "data/audio"
TRUTH = [json.loads(line) for line in (AUDIO / "ground_truth.jsonl").read_text().splitlines()]
SECONDS = {"harbour-at-dawn": 4.277125, "seven-boats": 4.7118125, "letter-to-the-mayor": 3.6394375, "old-lighthouse": 4.1620625,
           "train-to-the-coast": 3.42, "short-answer": 1.85}


def schema(name):
    return jsonschema.Draft202012Validator(json.loads((SOURCE / f"schema/json/metrumbench-asr.{name}.v1.schema.json").read_text()))


REQUEST, SUMMARY = schema("request"), schema("summary")


class AsrCase(Case):
    def sim(self, *words, transcripts=True):
        more = ["--transcripts", str(AUDIO / "ground_truth.jsonl")] if transcripts else []
        return super().sim("--ttft", "5ms", "--audio-rtf", "0.002", *more, *words)

    def run_asr(self, *words, status=0, manifest=AUDIO / "manifest.jsonl", truth=AUDIO / "ground_truth.jsonl", **more):
        compared = ["--ground-truth", truth] if truth else []
        process = self.start("asr", "--input", manifest, *compared, *words, **more)
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, status, f"{out}\n{err}")
        return out, err

    def results(self, folder):
        """Records by place and the summary, both checked against their schemas."""
        records, summary = sorted(self.records(folder), key=lambda record: record["seq"]), self.summary(folder)
        for record in records:
            self.assertEqual([error.message for error in REQUEST.iter_errors(record)], [])
        self.assertEqual([error.message for error in SUMMARY.iter_errors(summary)], [])
        return records, summary

    def manifest(self, *lines):
        path = self.folder / "manifest.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path


DEADLINE_S = 60


class Transcripts(AsrCase):
    def test_every_response_format(self):
        url = self.sim()
        for form in ("verbose_json", "json", "text", "srt", "vtt"):
            self.run_asr("--url", url, "--response-format", form, "--num-requests", 6, "--concurrency", 3, "--save-content", "--result-dir", form)
            records, summary = self.results(form)
            for record, truth in zip(records, TRUTH):
                self.assertEqual(record["outcome"], "ok", record)
                self.assertEqual(record["flags"], [])
                self.assertEqual(record["prompt_id"], truth["id"])
                self.assertEqual(record["content"], truth["transcript"])
                own = record["asr"]
                self.assertEqual(own["words"], len(truth["transcript"].split()))
                self.assertEqual(own["chars"], len(truth["transcript"]))
                self.assertEqual((own["wer"], own["cer"], own["wer_raw"], own["reference_words"]), (0, 0, 0, own["words"]))
                self.assertAlmostEqual(own["audio_duration_ns"] / 1e9, SECONDS[truth["id"]], 6)
                self.assertEqual(own["inference_time_source"], "server" if "json" in form else "client")
                self.assertEqual(own["cues"], -(-own["words"] // 8) if form in ("srt", "vtt") else None)
                self.assertEqual("word_times" in own, "json" in form)
                if form == "verbose_json":
                    self.assertEqual([word["text"] for word in own["word_times"]], truth["transcript"].split())
                    self.assertAlmostEqual(own["word_times"][-1]["end_s"], SECONDS[truth["id"]], 0)
                    self.assertTrue(own["segment_times"] and own["times_cut"] is False)
            self.assertEqual(summary["asr"]["wer_corpus"]["reference"], sum(len(truth["transcript"].split()) for truth in TRUTH))

    def test_known_word_errors(self):
        url = self.sim("--word-errors", "5")
        self.run_asr("--url", url, "--num-requests", 12, "--concurrency", 2, "--result-dir", "r")
        records, summary = self.results("r")
        words = wrong = 0
        for record in records:
            own = record["asr"]
            self.assertEqual((own["word_substitutions"], own["word_insertions"], own["word_deletions"]), (own["words"] // 5, 0, 0))
            self.assertEqual(own["wer"], (own["words"] // 5) / own["words"])
            self.assertNotIn("content", record)  # it was not asked for
            words, wrong = words + own["words"], wrong + own["words"] // 5
        own = summary["asr"]
        self.assertEqual(own["wer_corpus"]["rate"], wrong / words)
        self.assertEqual(own["wer_corpus"]["substitutions"], wrong)
        self.assertAlmostEqual(own["wer"]["mean"], sum(record["asr"]["wer"] for record in records) / 12, 8)
        self.assertAlmostEqual(own["wer_percent"]["max"], 100 * own["wer"]["max"], 6)
        self.assertEqual((own["scored"], own["unscored"], own["normalizer"]), (12, 0, "lowercase"))

    def test_normalizers(self):
        url = self.sim()
        truth = self.folder / "truth.jsonl"
        truth.write_text("".join(json.dumps({"id": t["id"], "transcript": t["transcript"].upper().replace(",", "").replace(".", "")}) + "\n" for t in TRUTH))
        for name, rate in (("none", 64 / 65), ("lowercase", None), ("basic", 0)):  # the word "I" is the same
            self.run_asr("--url", url, "--num-requests", 6, "--normalizer", name, "--result-dir", name, truth=truth)
            own = self.summary(name)["asr"]
            if rate is None:
                self.assertTrue(0 < own["wer_corpus"]["rate"] < 0.2)
            else:
                self.assertEqual(own["wer_corpus"]["rate"], rate)
            self.assertEqual(own["wer_raw_corpus"]["rate"], 64 / 65)
            self.assertEqual(own["normalizer"], name)

    def test_streams(self):
        url = self.sim("--itl", "1ms")
        self.run_asr("--url", url, "--response-format", "json", "--streaming", "--num-requests", 6, "--save-content", "--result-dir", "r")
        records, _ = self.results("r")
        for record, truth in zip(records, TRUTH):
            self.assertEqual((record["outcome"], record["content"]), ("ok", truth["transcript"]))
            self.assertTrue(record["done_seen"])
            self.assertEqual(record["content_chunks"], len(truth["transcript"].split()))
            self.assertIsInstance(record["ttft_ns"], int)

    def test_some_samples_without_a_reference(self):
        url = self.sim()
        truth = self.folder / "truth.jsonl"
        truth.write_text(json.dumps(TRUTH[0]) + "\n" + json.dumps({"id": "other", "transcript": "x"}) + "\n")
        _, err = self.run_asr("--url", url, "--num-requests", 6, "--result-dir", "r", truth=truth)
        self.assertIn("5 of 6 samples have no reference", err)
        records, summary = self.results("r")
        self.assertEqual((summary["asr"]["scored"], summary["asr"]["unscored"]), (1, 5))
        self.assertEqual([record["asr"]["wer"] for record in records], [0] + [None] * 5)


class Times(AsrCase):
    def test_times_and_rates(self):
        truth_log = self.folder / "truth-log.jsonl"
        url = Case.sim(self, "--audio-rtf", "0.01", "--ttft", "10ms", "--truth-log", str(truth_log))
        self.run_asr("--url", url, "--num-requests", 18, "--concurrency", 3, "--result-dir", "r")
        records, summary = self.results("r")
        for process in self.processes[:1]:
            process.send_signal(signal.SIGINT)
            process.wait(DEADLINE_S)
        truth = {line["id"].rsplit("-", 1)[1]: line for line in map(json.loads, truth_log.read_text().splitlines())}
        # The samples in their order, three times.
        self.assertEqual([record["prompt_id"] for record in records], [sample["id"] for sample in TRUTH] * 3)
        for record in records:
            own, seen = record["asr"], truth[str(record["seq"])]
            seconds = SECONDS[record["prompt_id"]]
            # The server's length of an MP3 has the encoder's padding in it.
            self.assertAlmostEqual(own["server_duration_ns"] / 1e9, seconds, delta=0.1 if own["format"] == "mp3" else 1e-3)
            self.assertAlmostEqual(own["inference_time_ns"], 1e7 + 0.01 * own["server_duration_ns"], delta=2)
            self.assertAlmostEqual(own["rtf"] * seconds * 1e9, own["inference_time_ns"], delta=1)
            self.assertAlmostEqual(own["rtf"] * own["rtfx"], 1, 9)
            self.assertGreaterEqual(record["response_time_ns"], seen["end_ns"] - seen["received_ns"])
            self.assertEqual(own["response_time_spec_ns"], record["response_time_ns"] + own["file_read_ns"])
            self.assertGreater(own["file_read_ns"], 0)
            self.assertAlmostEqual(own["words_per_inference_second"], own["words"] / own["inference_time_ns"] * 1e9, 6)
            self.assertAlmostEqual(own["chars_per_inference_second"], own["chars"] / own["inference_time_ns"] * 1e9, 6)
            self.assertGreater(record["bytes_sent"], own["audio_bytes_sent"])
        own, window = summary["asr"], summary["window"]["duration_ms"] / 1000
        audio = sum(record["asr"]["audio_duration_ns"] for record in records) / 1e9
        self.assertAlmostEqual(own["audio_seconds_per_second"], audio / window, 6)
        self.assertAlmostEqual(own["words_per_second"], sum(record["asr"]["words"] for record in records) / window, 6)
        self.assertAlmostEqual(own["bytes_per_second"] * window, own["transferred_bytes"], 3)
        self.assertEqual(own["transferred_bytes"], own["audio_bytes_sent"] + own["response_bytes"])
        self.assertAlmostEqual(own["rtf_pooled"] * own["rtfx_pooled"], 1, 9)
        self.assertEqual({name: form["requests"] for name, form in own["formats"].items()}, {"mp3": 6, "wav": 3, "ogg": 3, "flac": 6})

    def test_summarize_gives_the_same(self):
        url = self.sim("--word-errors", "4", "--fault", "503@every=5")
        self.run_asr("--url", url, "--num-requests", 30, "--concurrency", 4, "--result-dir", "r")
        before = self.summary("r")
        self.assertEqual(sum(form["failed"] for form in before["asr"]["formats"].values()), 6)
        again = self.start("summarize", "r", "--console", "json")
        out, err = again.communicate(timeout=DEADLINE_S)
        self.assertEqual(again.returncode, 0, err)
        self.assertEqual(json.loads(out)["asr"], before["asr"])
        self.assertEqual(json.loads(out)["endpoints"], before["endpoints"])


class Files(AsrCase):
    def test_bad_files_are_refused_and_the_run_goes_on(self):
        (self.folder / "empty.wav").write_bytes(b"")
        (self.folder / "fake.mp3").write_bytes(b"\xff\xfb\x90\x00 this is a placeholder")
        shutil.copy(AUDIO / "short-answer.wav", self.folder / "short-answer.wav")
        shutil.copy(AUDIO / "harbour-at-dawn.flac", self.folder / "really-flac.wav")
        os.mkdir(self.folder / "folder.ogg")
        manifest = self.manifest({"id": "gone", "path": "gone.wav"}, {"id": "short-answer", "path": "short-answer.wav", "duration_s": 3},
                                 {"id": "empty", "path": "empty.wav"}, {"id": "fake", "path": "fake.mp3"},
                                 {"id": "mislabelled", "path": "really-flac.wav", "format": "wav"}, {"id": "folder", "path": "folder.ogg"})
        url = self.sim()
        _, err = self.run_asr("--url", url, "--num-requests", 12, "--result-dir", "r", manifest=manifest, truth=None)
        for warning in ('a member "duration_s" (first in line 2)', "3 of 6 samples cannot be sent", "gone.wav: No such file", "1 samples are not what",
                        "wav\" by the manifest, flac by its bytes"):
            self.assertIn(warning, err)
        records, summary = self.results("r")
        wanted = {"gone": ("refused", "No such file"), "short-answer": ("ok", None), "empty": ("refused", "the file is empty"),
                  "fake": ("failed", "damaged"), "mislabelled": ("failed", "another Content-Type"), "folder": ("refused", "it is no file")}
        self.assertEqual(len(records), 12)
        for record in records:
            outcome, message = wanted[record["prompt_id"]]
            self.assertEqual(record["outcome"], outcome, record)
            if message:
                self.assertIn(message, record["error"]["message"])
                self.assertEqual(record["error"]["type"], "bad_request")
                self.assertEqual(record["http_status"], None if outcome == "refused" else 400)
        formats = summary["asr"]["formats"]
        self.assertEqual((formats["wav"]["ok"], formats["wav"]["refused"], formats["wav"]["failed"]), (2, 4, 2))
        self.assertEqual((formats["mp3"]["failed"], formats["ogg"]["refused"]), (2, 2))
        self.assertEqual(summary["config"]["audio_source"]["unknown_members"], ["duration_s"])

    def test_no_sample_at_all(self):
        url = self.sim()
        manifest = self.manifest({"id": "a", "path": "gone.wav"}, {"id": "b", "path": "gone-too.wav"})
        _, err = self.run_asr("--url", url, "--result-dir", "r", manifest=manifest, truth=None, status=65)
        self.assertIn("no sample can be sent; the first, line 1: ", err)
        self.assertEqual(self.summary("r")["counts"]["sent"], 0)

    def test_durations(self):
        shutil.copy(AUDIO / "short-answer.wav", self.folder / "a.wav")
        manifest = self.manifest({"id": "a", "path": "a.wav"}, {"id": "b", "path": "a.wav", "duration": 2}, {"id": "c", "path": "a.wav", "duration": 1.85})
        url = self.sim()
        _, err = self.run_asr("--url", url, "--num-requests", 3, "--result-dir", "measured", manifest=manifest, truth=None)
        self.assertIn("1 samples are not as long as stated; the first, line 2: 2.000 s by the manifest, 1.850 s by the file", err)
        records, summary = self.results("measured")
        self.assertEqual([(r["asr"]["audio_duration_ns"], r["asr"]["duration_source"]) for r in records],
                         [(1850312500, "file"), (2000000000, "manifest"), (1850000000, "manifest")])
        _, err = self.run_asr("--url", url, "--num-requests", 3, "--no-probe-duration", "--result-dir", "stated", manifest=manifest, truth=None)
        self.assertIn("1 samples have no duration", err)
        records, summary = self.results("stated")
        self.assertEqual([r["asr"]["rtf"] is None for r in records], [True, False, False])
        self.assertEqual((summary["asr"]["without_duration"], summary["asr"]["rtf"]["n"]), (1, 2))

    def test_files_that_do_not_fit_into_memory(self):
        url = self.sim()
        self.run_asr("--url", url, "--num-requests", 12, "--audio-memory", "30000", "--save-content", "--result-dir", "r")
        records, summary = self.results("r")
        self.assertEqual({record["outcome"] for record in records}, {"ok"})
        self.assertEqual(summary["config"]["audio_source"]["read_when_sent"], 5)
        self.assertEqual(summary["asr"]["wer_corpus"]["edits"], 0)
        self.assertEqual(len({record["asr"]["file_read_ns"] for record in records if record["prompt_id"] == "seven-boats"}), 2)

    def test_downloads_are_cached(self):
        class Handler(http.server.SimpleHTTPRequestHandler):
            asked = []

            def do_GET(self):
                self.asked.append(self.path)
                super().do_GET()

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=AUDIO))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        manifest = self.manifest({"id": "short-answer", "url": base + "/short-answer.wav?key=secret"}, {"id": "b", "url": base + "/gone.mp3"},
                                 {"id": "seven-boats", "url": base + "/seven-boats.flac"}, {"id": "again", "url": base + "/seven-boats.flac"})
        url = self.sim()
        options = ["--url", url, "--num-requests", 4, "--audio-cache", "cache"]
        _, err = self.run_asr(*options, "--result-dir", "r", manifest=manifest)
        self.assertIn("1 of 4 samples cannot be sent", err)
        self.assertNotIn("secret", err)
        records, summary = self.results("r")
        self.assertEqual([record["outcome"] for record in records], ["ok", "refused", "ok", "ok"])
        self.assertIn("answered with status 404", records[1]["error"]["message"])
        self.assertEqual(records[0]["asr"]["wer"], 0)  # the upload has the URL's name, not the cache's
        self.assertEqual(sorted(Handler.asked), ["/gone.mp3", "/seven-boats.flac", "/short-answer.wav?key=secret"])
        self.assertEqual(summary["config"]["audio_source"]["downloaded"], 2)
        server.shutdown()
        server.server_close()
        self.run_asr(*options, "--result-dir", "again", manifest=manifest)
        records, summary = self.results("again")
        self.assertEqual([record["outcome"] for record in records], ["ok", "refused", "ok", "ok"])
        self.assertEqual((summary["config"]["audio_source"]["downloaded"], summary["config"]["audio_source"]["from_cache"]), (0, 3))

    def test_librispeech_is_imported(self):
        for chapter, names in (("84/121123", ["harbour-at-dawn", "seven-boats"]), ("1/2", ["seven-boats"])):
            folder = self.folder / "LibriSpeech/test-clean" / chapter
            folder.mkdir(parents=True)
            prefix = chapter.replace("/", "-")
            lines = []
            for number, name in enumerate(names):
                shutil.copy(AUDIO / f"{name}.flac", folder / f"{prefix}-{number:04}.flac")
                lines.append(f"{prefix}-{number:04} WHAT {name.upper()} SAYS\n")
            (folder / f"{prefix}.trans.txt").write_text("".join(lines) + f"{prefix}-0099 WITHOUT A FILE\n")
        process = self.start("asr", "import-librispeech", "LibriSpeech")
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("3 samples of 2 chapters", out)
        self.assertIn("2 transcripts have no audio file", err)
        manifest, truth = self.folder / "LibriSpeech/manifest.jsonl", self.folder / "LibriSpeech/ground_truth.jsonl"
        samples = [json.loads(line) for line in manifest.read_text().splitlines()]
        self.assertEqual([sample["id"] for sample in samples], ["1-2-0000", "84-121123-0000", "84-121123-0001"])
        self.assertEqual(samples[1], {"id": "84-121123-0000", "path": "test-clean/84/121123/84-121123-0000.flac", "format": "flac", "duration": 4.277125})
        self.assertEqual(json.loads(truth.read_text().splitlines()[2]), {"id": "84-121123-0001", "transcript": "WHAT SEVEN-BOATS SAYS"})
        self.run_asr("--url", self.sim(transcripts=False), "--result-dir", "r", manifest=manifest, truth=truth)
        _, summary = self.results("r")
        self.assertEqual((summary["counts"]["ok"], summary["asr"]["scored"]), (4, 4))
        for words, status, message in ((["gone"], 66, "gone: No such file"), (["."], 0, ""), ([], 2, "give one folder"),
                                       (["LibriSpeech/test-clean/1/2/1-2.trans.txt"], 74, "Not a directory")):
            process = self.start("asr", "import-librispeech", *words, "--manifest", "m.jsonl", "--ground-truth", "g.jsonl")
            out, err = process.communicate(timeout=DEADLINE_S)
            self.assertEqual(process.returncode, status, err)
            self.assertIn(message, err)
        self.assertTrue(json.loads((self.folder / "m.jsonl").read_text().splitlines()[0])["path"].startswith("/"))


class Servers(AsrCase):
    def test_the_form(self):
        server = Server({("POST", "/v1/audio/transcriptions"): (200, json.dumps({"text": " Yes I think so\n", "inference_time": "0.5"}))})
        self.run_asr("--url", server.url + "/v1/audio/transcriptions", "--model", "whisper", "--num-requests", 1, "--language", "auto", "--prompt", "Be brief",
                     "--temperature", "0.5", "--extra-body", '{"hotwords":"boat"}', "--result-dir", "r")
        server.close()
        ((_, _, headers, body),) = server.requests
        self.assertTrue(headers["Content-Type"].startswith("multipart/form-data; boundary="))
        self.assertNotIn("Expect", headers)
        boundary = headers["Content-Type"].split("=")[1].encode()
        parts = body.split(b"--" + boundary)
        self.assertEqual(parts[0], b"")
        self.assertEqual(parts[-1], b"--\r\n")
        fields = {part.split(b'name="')[1].split(b'"')[0].decode(): part.split(b"\r\n\r\n", 1)[1][:-2] for part in parts[1:-1]}
        self.assertEqual(fields["file"], (AUDIO / "harbour-at-dawn.flac").read_bytes())
        self.assertIn(b'filename="harbour-at-dawn.flac"\r\nContent-Type: audio/flac\r\n', body)
        self.assertEqual({name: value.decode() for name, value in fields.items() if name != "file"},
                         {"model": "whisper", "prompt": "Be brief", "response_format": "verbose_json", "temperature": "0.5",
                          "timestamp_granularities[]": "word", "hotwords": "boat"})
        records, _ = self.results("r")
        self.assertEqual((records[0]["asr"]["inference_time_ns"], records[0]["asr"]["words"]), (500000000, 4))

    def test_a_format_that_the_server_does_not_offer(self):
        message = "verbose_json is not offered here; use json or text."
        server = Server({("POST", "/v1/audio/transcriptions"): (400, json.dumps({"error": {"message": message, "type": "x", "code": None}}))})
        self.run_asr("--url", server.url, "--model", "m", "--num-requests", 2, "--result-dir", "r")
        server.close()
        records, summary = self.results("r")
        self.assertEqual([(r["error"]["type"], r["error"]["message"]) for r in records], [("bad_request", message)] * 2)
        self.assertEqual((summary["asr"]["wer"], summary["asr"]["scored"], summary["asr"]["rtf"]["n"]), (None, 0, 0))
        self.assertEqual(summary["asr"]["formats"]["flac"]["failed"], 2)

    def test_a_killed_run_keeps_its_scores(self):
        url = self.sim("--slots", "2", "--word-errors", "5")
        process = self.start("asr", "--url", url, "--input", AUDIO / "manifest.jsonl", "--ground-truth", AUDIO / "ground_truth.jsonl",
                             "--num-requests", 100000, "--concurrency", 2, "--result-dir", "r", "--quiet")
        self.wait_for_records("r", 40)
        process.kill()
        process.wait()
        again = self.start("summarize", "r", "--console", "json")
        out, err = again.communicate(timeout=DEADLINE_S)
        self.assertEqual(again.returncode, 0, err)
        summary = json.loads(out)
        self.assertTrue(summary["partial"])
        self.assertGreaterEqual(summary["asr"]["scored"], 40)
        self.assertEqual(summary["asr"]["scored"] + summary["asr"]["unscored"], summary["counts"]["ok"])
        self.assertEqual(summary["asr"]["unscored"], 0)

    def test_a_dry_run_shows_the_form(self):
        out, _ = self.run_asr("--url", "http://127.0.0.1:9", "--model", "m", "--dry-run")
        shown = json.loads(out)
        self.assertEqual(shown["tool"], "asr")
        self.assertIn('name="model"\r\n\r\nm\r\n', shown["config"]["body_template"])
        self.assertEqual(shown["config"]["audio_source"]["count"], 6)

    def test_the_old_name_is_the_same_tool(self):
        process = self.start("--url", self.sim(), "--input", AUDIO / "manifest.jsonl", "--console", "json", "--result-dir", "r",
                             program=str(BUILD / "metrumbench-asr"))
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["tool"], "metrumbench-asr")


if __name__ == "__main__":
    unittest.main()
