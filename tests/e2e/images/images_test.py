#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay vlm` and `assay imagegen` against the simulator: what is sent, saved, recorded, summed up, and told again."""

import base64
import hashlib
import json
import os
import pathlib
import random
import signal
import struct
import sys
import unittest
import zlib

SOURCE = pathlib.Path(os.environ["ASSAY_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests/e2e/run"))

from harness import ASSAY, DEADLINE_S, Case, Server  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None


def png(width, height, tint=0):
    """A gradient, stored as it is."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in (x % 256, y % 256, tint)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))


def noise_png(side):
    """An image that no encoder makes smaller."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    noise = random.Random(1)
    rows = b"".join(b"\0" + noise.randbytes(3 * side) for _ in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))


class Images(Case):
    def run_tool(self, tool, *words, status=0):
        process = self.start(tool, *words)
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, status, f"{out}\n{err}")
        return out, err

    def check_schemas(self, tool, folder):
        if not jsonschema:
            return
        has_records = (self.folder / folder / "requests.jsonl").exists()
        def validator(kind):
            return jsonschema.Draft202012Validator(json.loads((SOURCE / f"schema/json/metrumbench-{tool}.{kind}.v1.schema.json").read_text()))
        validator("summary").validate(self.summary(folder))
        for record in self.records(folder) if has_records else []:
            validator("request").validate(record)

    def check_identities(self, folder):
        counts = self.summary(folder)["counts"]
        self.assertEqual(counts["planned"], counts["sent"] + counts["refused"] + counts["skipped"] + counts["lost"])
        self.assertEqual(len(self.records(folder)), counts["sent"] + counts["refused"])

    def summarize_again(self, folder):
        """`assay summarize` makes the same summary from the records."""
        self.run_tool("summarize", folder, "--output", "again.json", "--console", "none")
        again, before = json.loads((self.folder / "again.json").read_text()), self.summary(folder)
        again.pop("version"), before.pop("version")
        self.assertEqual(again, before)


class Vlm(Images):
    def images(self, *lines):
        (self.folder / "images").mkdir(exist_ok=True)
        (self.folder / "images/a.png").write_bytes(png(40, 30, 1))
        (self.folder / "images/b.png").write_bytes(png(200, 100, 2))
        path = self.folder / "images/prompts.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def test_images_of_every_kind_arrive_and_bad_ones_are_refused(self):
        data_url = "data:image/png;base64," + base64.b64encode(png(9, 9)).decode()
        (self.folder / "text.png").write_text("no image")
        prompts = self.images(
            {"prompt": "path", "image_urls": ["a.png"]}, {"prompt": "two", "image_urls": ["a.png", "b.png"]},
            {"prompt": "file", "image_url": f"file://{self.folder}/images/b%2Epng"}, {"prompt": "data", "image_url": data_url},
            {"prompt": "gone", "image_url": "gone.png"}, {"prompt": "text", "image_url": "../text.png"},
            {"prompt": "odd", "image_url": "s3://bucket/a.png"})
        url = self.sim("--ttft", "1ms", "--itl", "0ms")
        _, err = self.run_tool("vlm", "--url", url, "--prompts", prompts, "--streaming", "--num-requests", 7, "--result-dir", "r")
        self.assertIn("3 of 7 images cannot be used", err)
        records = {record["prompt_id"]: record for record in self.records("r")}
        self.assertEqual([records[str(i)]["outcome"] for i in range(1, 8)], ["ok"] * 4 + ["refused"] * 3)
        self.assertEqual({(records[str(i)]["error"]["type"], records[str(i)]["http_status"]) for i in (5, 6, 7)}, {("bad_request", None)})
        self.assertEqual(self.summary("r")["errors"]["by_type"]["bad_request"], 3)
        self.assertIn("gone.png", records["5"]["error"]["message"])
        self.assertIn("not an image", records["6"]["error"]["message"])
        self.assertIn("\"s3\" is no scheme", records["7"]["error"]["message"])
        two = records["2"]["vlm"]
        self.assertEqual([image["width"] for image in two["images"]], [40, 200])
        self.assertEqual(two["images"][0]["sha256"], hashlib.sha256(png(40, 30, 1)).hexdigest())
        self.assertEqual(two["payload_bytes"], sum(len(base64.b64encode(png(*size))) + 22 for size in ((40, 30, 1), (200, 100, 2))))
        self.assertEqual(records["4"]["vlm"]["images"][0]["source"], "data:image/png")
        self.check_schemas("vlm", "r")
        self.check_identities("r")
        self.summarize_again("r")
        self.assertEqual(self.summary("r")["vlm"]["images"], 5)
        self.assertGreater(self.summary("r")["latency"]["ttft_ms"]["n"], 3)

    def test_a_server_that_ignores_images_is_found(self):
        prompts = self.images({"prompt": "two of them", "image_urls": ["a.png", "b.png"]}, {"prompt": "one of them here", "image_url": "a.png"})
        for tokens, folder, words in ((0, "blind", ["--streaming"]), (85, "seeing", ["--streaming"]), (85, "unique", ["--unique-prompts"]), (85, "not", ["--no-text-probe"])):
            url = self.sim("--image-tokens", str(tokens))
            self.run_tool("vlm", "--url", url, "--prompts", prompts, "--num-requests", 12, "--warmup-requests", 3, *words, "--result-dir", folder)
            own, records = self.summary(folder)["vlm"], [record for record in self.records(folder) if record["phase"] == "measured"]
            known = [record for record in records if record["vlm"]["text_prompt_tokens"] is not None]
            self.assertEqual(len(known), {"unique": 1, "not": 0}.get(folder, 6), folder)
            self.assertEqual(own["requests_with_known_text"], len(known))
            for record in known:
                self.assertEqual(record["prompt_tokens"] - record["vlm"]["text_prompt_tokens"], tokens * record["vlm"]["image_count"])
            codes = [reason["code"] for reason in self.summary(folder)["validity"]["reasons"]]
            self.assertEqual("images_ignored" in codes, folder == "blind")
            self.assertEqual(own["requests_without_image_tokens"], 6 if folder == "blind" else 0)
            self.assertEqual(own["image_prompt_tokens"]["n"], len(known))
            self.check_schemas("vlm", folder)
            self.summarize_again(folder)

    def test_a_server_that_counts_no_tokens_is_measured_all_the_same(self):
        prompts = self.images({"prompt": "one", "image_url": "a.png"})
        url = self.sim("--usage", "off")
        _, err = self.run_tool("vlm", "--url", url, "--prompts", prompts, "--num-requests", 10, "--result-dir", "r")
        self.assertIn("no usage.prompt_tokens", err)
        self.assertEqual([record["outcome"] for record in self.records("r")], ["ok"] * 10)

    def test_large_images_are_shrunk_before_the_run(self):
        prompts = self.images({"prompt": "small", "image_url": "a.png"}, {"prompt": "large", "image_url": "b.png"})
        url = self.sim("--ttft", "1ms", "--itl", "0ms")
        self.run_tool("vlm", "--url", url, "--prompts", prompts, "--num-requests", 2, "--max-image-dimension", 50, "--image-detail", "low",
                      "--result-dir", "r")
        images = {record["prompt_id"]: record["vlm"]["images"][0] for record in self.records("r")}
        self.assertEqual((images["1"]["width"], images["1"]["height"], images["1"]["encoded"]), (40, 30, False))
        self.assertEqual((images["2"]["width"], images["2"]["height"], images["2"]["resized"]), (50, 25, True))
        self.assertEqual((images["2"]["source_width"], images["2"]["mime"], images["2"]["detail"]), (200, "image/png", "low"))
        self.check_schemas("vlm", "r")

    def test_the_body_is_what_the_api_wants(self):
        answer = json.dumps({"choices": [{"index": 0, "message": {"content": "ok"}, "finish_reason": "stop"}]})
        server = Server({("POST", "/v1/chat/completions"): (200, answer)})
        try:
            prompts = self.images({"prompt": "what", "image_urls": ["http://images.invalid/x.png", "a.png"]})
            self.run_tool("vlm", "--url", server.url, "--model", "m", "--prompts", prompts, "--num-requests", 10, "--server-side-download",
                          "--image-detail", "high", "--system-prompt", "", "--result-dir", "r")
            probe, body = [json.loads(request[3]) for request in server.requests[:2]]
            self.assertEqual(probe, {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "what"}]}], "max_tokens": 1,
                                     **{name: body[name] for name in body if name not in ("model", "messages", "max_tokens")}})
            parts = body["messages"][0]["content"]
            self.assertEqual(parts[0], {"type": "text", "text": "what"})
            self.assertEqual(parts[1], {"type": "image_url", "image_url": {"url": "http://images.invalid/x.png", "detail": "high"}})
            self.assertEqual(base64.b64decode(parts[2]["image_url"]["url"].partition(",")[2]), png(40, 30, 1))
            first = self.records("r")[0]["vlm"]["images"][0]
            self.assertEqual((first["by_url"], first["bytes"], first["width"], first["sha256"]), (True, None, None, None))
            self.check_schemas("vlm", "r")
        finally:
            server.close()

    def test_options_of_texts_are_sent_with_images_too(self):
        answer = json.dumps({"choices": [{"index": 0, "message": {"content": "ok"}, "finish_reason": "stop"}]})
        server = Server({("POST", "/v1/chat/completions"): (200, answer)})
        try:
            prompts = self.images({"prompt": "what", "image_url": "a.png", "expected_output_tokens": 9})
            self.run_tool("vlm", "--url", server.url, "--model", "m", "--prompts", prompts, "--num-requests", 1, "--system-prompt", "Be short.",
                          "--min-tokens", 3, "--ignore-eos", "--temperature", 0.5, "--request-seed", 4, "--extra-body", '{"top_k": 2}',
                          "--result-dir", "r")
            body = json.loads(server.requests[0][3])
            self.assertEqual(body["messages"][0], {"role": "system", "content": "Be short."})
            self.assertEqual([part["type"] for part in body["messages"][1]["content"]], ["text", "image_url"])
            wanted = {"max_tokens": 9, "min_tokens": 3, "ignore_eos": True, "temperature": 0.5, "seed": 4, "top_k": 2}
            self.assertEqual({name: body.get(name) for name in wanted}, wanted)
        finally:
            server.close()

    def test_images_from_a_server_and_a_batch(self):
        sources = {("GET", "/p.jsonl"): (200, json.dumps({"prompt": "web", "image_urls": ["data:image/png;base64,"
                                                          + base64.b64encode(png(5, 5)).decode()]}) + "\n")}
        server = Server(sources)
        try:
            url = self.sim("--ttft", "1ms", "--itl", "0ms")
            self.run_tool("vlm", "--url", url, "--prompts", server.url + "/p.jsonl", "--num-requests", 2, "--num-images-batch", 10,
                          "--result-dir", "r")
            self.assertEqual([record["vlm"]["image_count"] for record in self.records("r")], [10, 10])
            self.assertEqual({record["ttft_ns"] for record in self.records("r")}, {None})  # not streamed: there is none to be made up
            self.assertEqual(self.summary("r")["latency"]["ttft_ms"]["n"], 0)
        finally:
            server.close()

    def test_prompts_from_a_server_name_no_file_of_this_machine(self):
        for reference in ("/etc/hostname", "file:///etc/hostname", "images/a.png"):
            server = Server({("GET", "/p.jsonl"): (200, json.dumps({"prompt": "mine", "image_urls": [reference]}) + "\n")})
            try:
                _, err = self.run_tool("vlm", "--url", "http://127.0.0.1:9", "--model", "m", "--prompts", server.url + "/p.jsonl", "--result-dir", "r", status=65)
                self.assertIn("names a file of this machine", err)
            finally:
                server.close()

    def test_a_cache_smaller_than_the_images(self):
        (self.folder / "many").mkdir()
        lines = []
        for i in range(30):
            (self.folder / f"many/{i}.png").write_bytes(png(256, 256, i))
            lines.append(json.dumps({"prompt": f"number {i}", "image_url": f"many/{i}.png"}) + "\n")
        (self.folder / "many.jsonl").write_text("".join(lines))
        url = self.sim("--ttft", "1ms", "--itl", "0ms")
        _, err = self.run_tool("vlm", "--url", url, "--prompts", "many.jsonl", "--num-requests", 90, "--concurrency", 4, "--image-cache-size",
                               "1MiB", "--result-dir", "r")
        self.assertIn("fit into --image-cache-size", err)
        self.assertEqual({record["outcome"] for record in self.records("r")}, {"ok"})
        for record in self.records("r"):
            number = int(record["prompt_id"]) - 1
            self.assertEqual(record["vlm"]["images"][0]["sha256"], hashlib.sha256(png(256, 256, number)).hexdigest())

    def test_a_fake_image_is_refused_by_the_strict_simulator(self):
        url = self.sim("--ttft", "1ms", "--itl", "0ms")
        prompts = self.images({"prompt": "cut", "image_url": "cut.png"})
        (self.folder / "images/cut.png").write_bytes(png(60, 60)[:6000])
        self.run_tool("vlm", "--url", url, "--prompts", prompts, "--num-requests", 1, "--no-check-images", "--result-dir", "r")
        error = self.records("r")[0]["error"]
        self.assertEqual((error["type"], error["status"]), ("bad_request", 400))
        self.assertIn("image 1: broken PNG", error["message"])


class Imagegen(Images):
    def generate(self, *words, status=0):
        return self.run_tool("imagegen", "--model", "m", "--size", "32x24", *words, status=status)

    def artifacts(self, folder):
        return [artifact for record in self.records(folder) for artifact in record["imagegen"]["artifacts"]]

    def test_images_are_saved_with_their_digests(self):
        for form, mime in (("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/webp")):
            url = self.sim("--ttft", "1ms", "--image-delay", "1ms", "--image-format", form)
            self.generate("--url", url, "--prompt", "a kite", "--n", 2, "--num-requests", 3, "--request-seed", 4, "--result-dir", form)
            artifacts = self.artifacts(form)
            self.assertEqual(len(artifacts), 6)
            self.assertEqual(len({artifact["sha256"] for artifact in artifacts}), 6)
            for artifact in artifacts:
                data = (self.folder / form / artifact["path"]).read_bytes()
                self.assertEqual(artifact["sha256"], hashlib.sha256(data).hexdigest())
                self.assertEqual((artifact["bytes"], artifact["width"], artifact["height"], artifact["mime"]), (len(data), 32, 24, mime))
            self.check_schemas("imagegen", form)
            self.check_identities(form)
            self.summarize_again(form)
            figures = self.summary(form)["imagegen"]
            self.assertEqual((figures["images_requested"], figures["images_returned"], figures["images_saved"]), (6, 6, 6))
            self.assertEqual(figures["artifact_paths"], sorted(artifact["path"] for artifact in artifacts))
            self.assertAlmostEqual(figures["megapixels"], 6 * 32 * 24 / 1e6)
            self.assertEqual(self.summary(form)["latency"]["ttft_spec_ms"]["n"], 0)

    def test_defaults_of_the_spec(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        self.run_tool("imagegen", "--url", url, "--model", "m", "--prompt", "x", "--no-save-images", "--result-dir", "r")
        config = self.summary("r")["config"]
        self.assertEqual((config["concurrency"], config["num_requests"], config["images_per_request"], config["size"],
                          config["response_format"], config["load_balancer"]), (1, 4, 1, "1024x1024", "b64_json", "round-robin"))
        self.assertFalse((self.folder / "r/artifacts").exists())
        self.assertEqual({artifact["path"] for artifact in self.artifacts("r")}, {None})

    def test_every_failure_has_its_own_name(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms", "--fault", "503@at=1", "--fault", "bad-base64@at=2", "--fault", "cut-image@at=3",
                       "--fault", "no-data@at=4", "--fault", "close@at=5", "--fault", "stall@at=6", "--fault", "fewer-images@at=7")
        self.generate("--url", url, "--prompt", "x", "--n", 2, "--num-requests", 8, "--request-timeout", "500ms", "--result-dir", "r",
                      "--save-response-json", "--no-reuse-connections")
        records = self.records("r")
        records.sort(key=lambda record: record["seq"])
        self.assertEqual([(record["error"] or {}).get("type") for record in records],
                         ["http_error", "decode_error", "decode_error", "schema_error", "connection_error", "timeout", None, None])
        self.assertEqual(records[6]["flags"], ["count_mismatch"])
        self.assertEqual(records[5]["outcome"], "timed_out")
        by_type = self.summary("r")["errors"]["by_type"]
        self.assertEqual(by_type, {"timeout": 1, "http_error": 1, "schema_error": 1, "decode_error": 2, "artifact_error": 0,
                                   "connection_error": 1, "request_error": 0})
        saved = json.loads((self.folder / "r" / records[0]["imagegen"]["response_path"]).read_text())
        self.assertIn("error", saved)
        self.assertIsNone(records[5]["imagegen"]["response_path"])
        self.check_schemas("imagegen", "r")
        self.summarize_again("r")

    def test_retries_are_in_the_record(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms", "--fault", "503@first=1")
        self.generate("--url", url, "--prompt", "x", "--num-requests", 1, "--retries", 1, "--retry-backoff", "10ms", "--result-dir", "r")
        record = self.records("r")[0]
        self.assertEqual([attempt["error_type"] for attempt in record["attempts"]], ["http_error", None])
        self.assertGreater(record["response_time_ns"], 10_000_000)

    def test_lines_and_seeds(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        self.prompts.write_text(json.dumps({"prompt": "a", "size": "8x6", "n": 2}) + "\n" + json.dumps({"prompt": "b", "seed": 99}) + "\n")
        self.generate("--url", url, "--prompts", self.prompts, "--num-requests", 4, "--request-seed", 10, "--result-dir", "r")
        for record in self.records("r"):
            block = record["imagegen"]
            first = record["prompt_id"] == "1"
            self.assertEqual(block["request"]["seed"], 10 + record["seq"] if first else 99)
            self.assertEqual([(a["width"], a["height"]) for a in block["artifacts"]], [(8, 6), (8, 6)] if first else [(32, 24)])

    def test_endpoints_are_told_apart(self):
        urls = [self.sim("--ttft", "1ms", "--image-delay", "1ms"), self.sim("--ttft", "1ms", "--image-delay", "1ms")]
        self.generate("--endpoint", urls[0], "--endpoint", urls[1], "--prompt", "x", "--num-requests", 6, "--endpoint-health-check",
                      "--result-dir", "r")
        endpoints = self.summary("r")["endpoints"]
        self.assertEqual([endpoint["imagegen"]["images_returned"] for endpoint in endpoints], [3, 3])
        self.assertEqual([endpoint["counts"]["ok"] for endpoint in endpoints], [3, 3])

    def test_the_record_says_when_an_endpoint_is_taken_out(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        self.generate("--endpoint", url, "--endpoint", "http://127.0.0.1:9", "--prompt", "x", "--num-requests", 12,
                      "--eject-after", 2, "--retries", 1, "--retry-backoff", "1ms", "--result-dir", "r")
        records = sorted(self.records("r"), key=lambda record: record["seq"])
        self.assertEqual([record["seq"] for record in records if "ejected" in record["flags"]], [1])
        self.assertEqual([attempt["endpoint"] for attempt in records[1]["attempts"]], ["http://127.0.0.1:9"] * 2)
        self.assertEqual([record["outcome"] for record in records], ["ok", "failed"] + ["ok"] * 10)
        summary = self.summary("r")
        self.assertEqual((summary["flags"]["ejected"], summary["client"]["ejections"]), (1, 1))
        tries = [(endpoint["counts"]["sent"], endpoint["counts"]["attempts"], endpoint["errors"]["attempt_rate"]) for endpoint in summary["endpoints"]]
        self.assertEqual(tries, [(11, 11, 0), (1, 2, 1)])
        self.check_schemas("imagegen", "r")

    def test_an_ill_endpoint_refuses_the_run(self):
        url = self.sim("--ttft", "1ms")
        _, err = self.generate("--endpoint", url, "--endpoint", "http://127.0.0.1:9", "--prompt", "x", "--endpoint-health-check",
                               "--result-dir", "r", status=69)
        self.assertIn("1 of 2 servers are not well (GET /health): http://127.0.0.1:9", err)
        self.assertEqual(self.summary("r")["counts"]["sent"], 0)
        self.check_schemas("imagegen", "r")

    def test_verify_finds_what_changed(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        self.generate("--url", url, "--prompt", "x", "--num-requests", 4, "--result-dir", "r")
        out, _ = self.run_tool("imagegen", "verify", "r")
        self.assertIn("4 images in 4 records: 4 same, 0 missing", out)
        folder = self.folder / "r/artifacts"
        (folder / "000000-0.png").unlink()
        (folder / "000001-0.png").write_bytes(b"x")
        (folder / "stray.png").write_bytes(b"x")
        out, _ = self.run_tool("imagegen", "verify", "r", "--format", "json", status=1)
        found = json.loads(out)
        self.assertEqual([(f["path"], f["state"]) for f in found["failures"]],
                         [("artifacts/000000-0.png", "missing"), ("artifacts/000001-0.png", "different")])
        self.assertEqual(found["files_without_record"], ["r/artifacts/stray.png"])
        self.run_tool("imagegen", "verify", "nowhere", status=66)

    def test_memory_is_bounded_and_no_connection_waits_for_files(self):
        """5 MB of base64 an answer: at most concurrency × answer, the queue, and for each worker an answer, its bytes and its pixels."""
        side, in_flight, queue, workers = 1120, 8, 16 << 20, 2
        image = noise_png(side)
        answer = json.dumps({"created": 1, "data": [{"b64_json": base64.b64encode(image).decode()}]})
        self.assertGreater(len(answer), 5_000_000)
        server = Server({("POST", "/v1/images/generations"): (200, answer)})
        try:
            process = self.start("imagegen", "--url", server.url, "--model", "m", "--prompt", "x", "--size", f"{side}x{side}", "--num-requests", 64,
                                 "--concurrency", in_flight, "--artifact-memory", queue, "--artifact-threads", workers, "--result-dir", "many", "--quiet")
            out = process.stdout.read() + process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0, out)
            self.assertEqual(self.summary("many")["imagegen"]["images_saved"], 64)
            most = in_flight * 2 * len(answer) + queue + workers * (len(answer) + len(image) + 4 * side * side)  # ×2: buffers grow by doubling
            self.assertLess(usage.ru_maxrss * 1024, most + (48 << 20))
            self.assertLess(most + (48 << 20), 64 * len(answer))  # far from all of them
            self.generate("--url", server.url, "--model", "m", "--prompt", "x", "--num-requests", 12, "--concurrency", 1, "--result-dir", "one")
            records = sorted(self.records("one"), key=lambda record: record["seq"])
            judged = [record["done_ns"] + record["imagegen"]["post_wait_ns"] + record["imagegen"]["post_ns"] for record in records]
            overlaps = sum(after["sent_ns"] < at for at, after in zip(judged, records[1:]))
            self.assertGreater(overlaps, 0, "each request waits for the files of the one before")
        finally:
            server.close()

    def test_a_log_in_another_folder_names_files_that_are_found(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        (self.folder / "logs").mkdir()
        for folder in ("one", "two"):
            self.generate("--url", url, "--prompt", "x", "--num-requests", 2, "--result-dir", folder, "--data-log", "logs/all.jsonl")
        self.generate("--url", url, "--prompt", "x", "--num-requests", 2, "--result-dir", "three", "--data-log", "three/log.jsonl")
        self.generate("--url", url, "--prompt", "x", "--num-requests", 2, "--result-dir", "four", "--artifact-dir", "pictures")
        for place, images in (("logs/all.jsonl", 4), ("one", 2), ("three", 2), ("three/log.jsonl", 2), ("four", 2)):
            out, _ = self.run_tool("imagegen", "verify", place)
            self.assertIn(f"{images} images in {images} records: {images} same, 0 missing", out, place)
        self.assertEqual(self.records("three")[0]["imagegen"]["artifacts"][0]["path"], "artifacts/000000-0.png")
        os.rename(self.folder / "four", self.folder / "moved")
        self.run_tool("imagegen", "verify", "moved")
        os.rename(self.folder / "one", self.folder / "elsewhere")
        self.run_tool("imagegen", "verify", "elsewhere", status=1)
        out, _ = self.run_tool("imagegen", "verify", "elsewhere", "--artifact-dir", "elsewhere/artifacts")
        self.assertIn("2 same, 0 missing, 0 another digest, 0 cannot be read, 0 not saved; 0 files without a record", out)

    def test_compare_pairs_equal_requests(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        for folder, seed in (("a", 1), ("b", 1), ("c", 3)):
            self.generate("--url", url, "--prompt", "x", "--num-requests", 4, "--request-seed", seed, "--result-dir", folder)
        self.run_tool("imagegen", "compare", "a", "b", "--require-equal")
        out, _ = self.run_tool("imagegen", "compare", "a", "c", "--format", "json")
        found = json.loads(out)
        self.assertEqual((found["images_a"], found["images_b"], found["shared"], found["pairs_compared"], found["pairs_equal"]),
                         (4, 4, 2, 2, 2))

    def test_data_log_and_summary_go_where_they_are_wanted(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        for _ in range(2):
            self.generate("--url", url, "--prompt", "x", "--num-requests", 2, "--data-log", "log.jsonl", "--summary", "out.json",
                          "--artifact-dir", "pictures", "--overwrite-artifacts")
        self.assertEqual(len((self.folder / "log.jsonl").read_text().splitlines()), 4)
        self.assertEqual(json.loads((self.folder / "out.json").read_text())["schema"], "metrumbench-imagegen.summary.v1")
        paths = [json.loads(line)["imagegen"]["artifacts"][0]["path"] for line in (self.folder / "log.jsonl").read_text().splitlines()]
        self.assertEqual(set(paths), {f"{self.folder}/pictures/00000{i}-0.png" for i in (0, 1)})
        _, err = self.generate("--url", url, "--prompt", "x", "--num-requests", 1, "--artifact-dir", "pictures", "--result-dir", "n", status=73)
        self.assertIn("--overwrite-artifacts", err)

    def test_a_signal_ends_the_run_with_all_artifacts(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "5ms")
        process = self.start("imagegen", "--model", "m", "--size", "256x256", "--url", url, "--prompt", "x", "--duration", 60, "--concurrency",
                             8, "--result-dir", "r")
        self.wait_for_records("r", 20)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 130)
        self.check_identities("r")
        self.assertTrue(self.summary("r")["partial"])
        self.run_tool("imagegen", "verify", "r")

    def test_a_killed_run_keeps_what_was_judged(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "2ms")
        process = self.start("imagegen", "--model", "m", "--size", "64x64", "--url", url, "--prompt", "x", "--duration", 60, "--concurrency", 4,
                             "--result-dir", "r")
        self.wait_for_records("r", 20)
        process.kill()
        process.communicate()
        out, _ = self.run_tool("imagegen", "verify", "r")
        self.assertIn(" 0 missing, 0 another digest, 0 cannot be read", out)
        self.run_tool("summarize", "r", "--output", "again.json", "--console", "none")
        self.assertGreaterEqual(json.loads((self.folder / "again.json").read_text())["imagegen"]["images_saved"], 20)

    def test_a_file_that_cannot_be_written(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        (self.folder / "pictures/000001-0.png").mkdir(parents=True)
        self.generate("--url", url, "--prompt", "x", "--num-requests", 3, "--artifact-dir", "pictures", "--overwrite-artifacts", "--result-dir",
                      "r")
        records = {record["seq"]: record for record in self.records("r")}
        self.assertEqual([(records[i]["error"] or {}).get("type") for i in range(3)], [None, "artifact_error", None])
        self.assertIsNone(records[1]["imagegen"]["artifacts"][0]["path"])
        self.assertIn("000001-0.png", records[1]["error"]["message"])
        self.check_schemas("imagegen", "r")

    def test_a_full_disk_of_artifacts(self):
        disk = self.small_disk("64k")
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        self.generate("--url", url, "--prompt", "x", "--num-requests", 60, "--concurrency", 4, "--artifact-dir", disk / "a",
                      "--result-dir", "r")
        records, summary = self.records("r"), self.summary("r")
        lost = [record for record in records if record["error"]]
        self.assertEqual({(record["error"]["type"], record["imagegen"]["artifacts"][0]["path"]) for record in lost}, {("artifact_error", None)})
        self.assertIn("No space left on device", lost[0]["error"]["message"])
        self.assertTrue(0 < len(lost) < 60)
        own = summary["imagegen"]
        self.assertEqual((own["images_decoded"], own["images_saved"]), (60, 60 - len(lost)))
        self.assertEqual(summary["errors"]["by_type"]["artifact_error"], len(lost))
        self.assertEqual(sorted(path.name for path in (disk / "a").iterdir()), sorted(
            pathlib.Path(record["imagegen"]["artifacts"][0]["path"]).name for record in records if not record["error"]))
        out, _ = self.run_tool("imagegen", "verify", "r")
        self.assertIn(f"{60 - len(lost)} same, 0 missing, 0 another digest, 0 cannot be read, {len(lost)} not saved", out)

    def test_nothing_is_written_through_links(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        victim = self.folder / "victim"
        victim.write_text("mine")
        (self.folder / "pictures").mkdir()
        (self.folder / "pictures/000000-0.png").symlink_to(victim)
        refused, _ = self.folder / "pictures", self.generate("--url", url, "--prompt", "x", "--artifact-dir", "pictures", "--result-dir", "no",
                                                             status=73)
        self.assertTrue((refused / "000000-0.png").is_symlink())
        self.generate("--url", url, "--prompt", "x", "--num-requests", 1, "--artifact-dir", "pictures", "--overwrite-artifacts", "--result-dir", "r")
        self.assertEqual(victim.read_text(), "mine")
        self.assertFalse((refused / "000000-0.png").is_symlink())
        self.assertEqual([path.name for path in refused.iterdir()], ["000000-0.png"])

    def test_names_come_from_the_request_and_not_from_the_server(self):
        image = base64.b64encode(png(4, 3)).decode()
        item = {"b64_json": image, "filename": "../../evil.png", "name": "/tmp/evil.png", "output_format": "../x", "url": "file:///etc/passwd"}
        server = Server({("POST", "/v1/images/generations"): (200, json.dumps({"created": 1, "id": "../evil", "data": [item]}))})
        try:
            self.generate("--url", server.url, "--prompt", "../../x", "--num-requests", 1, "--save-response-json", "--result-dir", "r")
        finally:
            server.close()
        self.assertEqual([artifact["path"] for artifact in self.artifacts("r")], ["artifacts/000000-0.png"])
        self.assertEqual(sorted(path.name for path in (self.folder / "r/artifacts").iterdir()), ["000000-0.png", "000000.response.json"])
        self.assertFalse((self.folder / "evil.png").exists() or pathlib.Path("/tmp/evil.png").exists())

    def test_steps_that_are_not_sent_are_told(self):
        url = self.sim("--ttft", "1ms", "--image-delay", "1ms")
        _, err = self.generate("--url", url, "--prompt", "x", "--num-requests", 1, "--result-dir", "r")
        self.assertIn("--num-inference-steps is not sent", err)
        self.assertIsNone(self.summary("r")["config"]["num_inference_steps"])
        _, err = self.generate("--url", url, "--prompt", "x", "--num-requests", 1, "--num-inference-steps", 9, "--result-dir", "s")
        self.assertNotIn("--num-inference-steps", err)
        self.assertEqual(self.summary("s")["config"]["num_inference_steps"], 9)
        self.assertEqual(self.records("s")[0]["imagegen"]["request"]["num_inference_steps"], 9)


if __name__ == "__main__":
    unittest.main()
