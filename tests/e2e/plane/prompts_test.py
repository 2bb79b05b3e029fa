# SPDX-License-Identifier: Apache-2.0
"""Files of prompt sources: sent, checked line by line, read back byte for byte; and what a run may use."""

import hashlib
import json
import socket
import unittest

from plane import DEADLINE_S, LIBRARY, PASSWORD, Case, Client, define, send_file


def digest(data):
    return hashlib.sha256(data).hexdigest()


def content_digest(rows):
    """Over each row's length, text and expected tokens (2^64 - 1 = none), as the tool makes it of its prompts."""
    value = hashlib.sha256()
    for prompt, expected in rows:
        value.update(len(prompt.encode()).to_bytes(8, "little") + prompt.encode() + (expected % 2**64).to_bytes(8, "little"))
    return value.hexdigest()


class Prompts(Case):
    def make(self, code, kind="prompt_library"):
        return self.admin.post("/api/v1/prompt-sources", {"source_code": code, "source_type": kind, "name": code})

    def source(self, code):
        return self.admin.get(f"/api/v1/prompt-sources/{code}")

    def content(self, code, client=None):
        return (client or self.admin).call("GET", f"/api/v1/prompt-sources/{code}/content")

    def test_a_library_comes_back_byte_for_byte(self):
        made = self.make("odd")
        self.assertEqual((made["state"], made["row_count"], made["import_command"]), ("bytes_missing", 0, "assay ctl prompts upload odd FILE"))
        self.assertEqual(self.content("odd").status, 404)
        rows = [("One  two\tthree\u2003four 😀", 7), ("\"quoted\" \\ line\nfeed", -1), ("ein", 1)]
        data = "\ufeff".encode() + (json.dumps({"prompt": rows[0][0], "expected_output_tokens": 7, "own": [1, {"a": None}]}) + "\r\n\n  \n"
                                    + json.dumps({"prompt": rows[1][0]}, ensure_ascii=False) + "\n"
                                    + '{ "expected_output_tokens" : 1, "prompt" : "ein" }').encode()
        sent = send_file(self.admin, "odd", data)
        self.assertEqual(sent.status, 200, sent.body)
        thing = sent.json
        self.assertEqual((thing["state"], thing["row_count"], thing["file_bytes"], thing["file_digest"]), ("ready", 3, len(data), digest(data)))
        self.assertEqual([thing["words_" + name] for name in ("total", "min", "p50", "p95", "max")], [10, 1, 4, 5, 5])
        self.assertEqual((thing["with_expected_tokens"], thing["content_digest"]), (2, content_digest(rows)))
        answer = self.content("odd")
        self.assertEqual((answer.body, answer.headers["ETag"]), (data, f'"{digest(data)}"'))
        again = send_file(self.admin, "odd", data)
        self.assertEqual((again.status, again.json["revision"]), (200, thing["revision"]), "the same file changed something")
        other = send_file(self.admin, "odd", LIBRARY)
        self.assertEqual((other.json["row_count"], self.content("odd").body), (2, LIBRARY))
        actions = [entry["action"] for entry in self.admin.get("/api/v1/audit-log?limit=500")["items"] if entry["object_code"] == "odd"]
        self.assertEqual(actions.count("upload"), 2)

    def test_a_large_library_is_whole(self):
        self.make("large")
        data = b"".join(json.dumps({"prompt": " ".join(f"w{i}" for i in range(number % 50 + 1)), "expected_output_tokens": number % 9 + 1}).encode() + b"\n"
                        for number in range(20000))
        self.assertGreater(len(data), 5 << 19)
        thing = send_file(self.admin, "large", data).json
        self.assertEqual((thing["row_count"], thing["words_total"], thing["words_min"], thing["words_p50"], thing["words_p95"], thing["words_max"]),
                         (20000, 400 * 25 * 51, 1, 25, 48, 50))
        self.assertEqual(self.content("large").body, data)
        self.plane.stop()
        self.plane.start()
        self.admin.plane = self.plane
        self.assertEqual(self.content("large").body, data)

    def test_bad_lines_are_named_and_nothing_is_stored(self):
        self.make("bad")
        good = b'{"prompt": "fine"}\n'
        cases = [
            (b"", 400, "a body with the file is needed"),
            (b"\n \n", 422, "the file holds no row"),
            (good * 40 + b'{"prompt": "cut', 422, "line 41: "),
            (good + b"[1]\n" + good, 422, "line 2: the line is a JSON array: it must be an object"),
            (good + b'{"text": "x"}', 422, 'line 2: the member "prompt" is missing'),
            (good + b'{"prompt": 7}', 422, 'line 2: "prompt" is a JSON number'),
            (good + b'{"prompt": " \\t\\u2003"}', 422, 'line 2: "prompt" is empty'),
            (good + b'{"prompt": "a\\u0000b"}', 422, "line 2: \"prompt\" holds a NUL"),
            (good + b'{"prompt": "a", "prompt": "b"}', 422, 'line 2: the member "prompt" is there twice'),
            (b"\n\n" + b'{"prompt": "a", "expected_output_tokens": 0}', 422, 'line 3: "expected_output_tokens" must be a whole number'),
            (good + b'{"prompt": "a", "expected_output_tokens": 1.5}', 422, 'line 2: "expected_output_tokens"'),
            (good + b'{"prompt": "\xff\xfe"}', 422, "line 2: "),
            (good + b'{"prompt": "' + b"x" * (17 << 20) + b'"}', 413, "line 2 is longer than"),
        ]
        for data, status, words in cases:
            answer = send_file(self.admin, "bad", data)
            self.assertEqual(answer.status, status, (data[:60], answer.body[:300]))
            self.assertIn(words, answer.json["detail"], data[:60])
            if status == 422 and "line" in words:
                self.assertIn("nothing of it was stored", answer.json["detail"])
        thing = self.source("bad")
        self.assertEqual((thing["state"], thing["row_count"], thing["file_digest"], thing["revision"]), ("bytes_missing", 0, None, 1))
        self.assertEqual(send_file(self.admin, "bad", good, media="application/json").status, 415)
        self.assertEqual(send_file(self.admin, "nowhere", good).status, 404)
        self.assertEqual(self.admin.call("GET", "/api/v1/prompt-sources/bad/content?x=1").status, 422)

    def test_a_client_that_goes_away_leaves_nothing(self):
        self.make("gone")
        line = b'{"prompt": "half of it"}\n'
        for number in range(10):  # more than may be sent at once
            sock = self.plane.socket()
            sock.sendall(b"PUT /api/v1/prompt-sources/gone/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.plane.token.encode() +
                         b"\r\nContent-Type: application/jsonl\r\nContent-Length: 1000000\r\n\r\n" + line * 1000)
            if number % 2:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            sock.close()
        status = 503
        while status == 503:  # until the server has seen all of them go; the test's own deadline ends it
            status = send_file(self.admin, "gone", b"{").status
        self.assertEqual(status, 422)
        thing = self.source("gone")
        self.assertEqual((thing["state"], thing["row_count"], thing["revision"]), ("bytes_missing", 0, 1))

    def test_too_many_and_too_large_are_refused(self):
        self.make("full")
        head = (b"PUT /api/v1/prompt-sources/full/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.plane.token.encode() +
                b"\r\nContent-Type: application/jsonl\r\nContent-Length: %d\r\n\r\n{")
        waiting = []
        try:
            for _ in range(8):
                sock = self.plane.socket()
                sock.sendall(head % 100)
                waiting.append(sock)
            refused = None
            while refused is None:  # until the loop has seen all eight heads
                sock = self.plane.socket()
                sock.sendall(head % 2 + b"}")
                answer = sock.recv(65536)
                sock.close()
                refused = answer if b" 503 " in answer[:20] else None
            self.assertIn(b"Retry-After: 1", refused)
            self.assertIn(b"too many files are being sent already", refused)
        finally:
            for sock in waiting:
                sock.close()
        sock = self.plane.socket()
        sock.sendall(head % (300 << 20))
        self.assertIn(b" 413 ", sock.recv(65536)[:20])
        sock.close()

    def test_a_repeat_with_its_key_is_the_first_answer(self):
        self.make("keyed")
        first = send_file(self.admin, "keyed", LIBRARY, **{"Idempotency-Key": "k1"})
        again = send_file(self.admin, "keyed", LIBRARY, **{"Idempotency-Key": "k1"})
        self.assertEqual((first.body, again.headers["Idempotent-Replay"]), (again.body, "true"))
        self.assertEqual(send_file(self.admin, "keyed", LIBRARY + b"\n", **{"Idempotency-Key": "k1"}).status, 422)

    def test_snapshots_need_their_bytes(self):
        sound = b'{"id": "a", "path": "a/1.flac", "duration": 1.5, "transcript": "one two", "digest": "%s"}\n{"id": 7, "path": "b.wav"}\n' % (b"0" * 64)
        self.make("speech", "metrumbench_asr_snapshot")
        for data, words in ((b'{"id": "a", "path": "x"}', "no ending"), (b'{"id": "a", "path": "x.wav", "url": "http://y/z.wav"}', "either"),
                            (b'{"path": "x.wav"}', '"id"'), (b'{"id": "a", "path": "x.wav", "duration": 0}', "duration"),
                            (b'{"id": "a", "path": "x.wav", "digest": "00"}', "SHA-256"),
                            (b'{"id": "a", "path": "x.wav"}\n{"id": "a", "path": "y.wav"}', "twice")):
            answer = send_file(self.admin, "speech", data)
            self.assertEqual(answer.status, 422, (data, answer.body))
            self.assertIn(words, answer.json["detail"])
        place = {"restic_repository": "/srv/restic", "restic_snapshot": "0123abcd", "bytes_total": 5}
        early = self.admin.call("POST", "/api/v1/prompt-sources/speech/snapshot", place)
        self.assertEqual(early.status, 409, early.body)
        thing = send_file(self.admin, "speech", sound).json
        self.assertEqual((thing["state"], thing["row_count"], thing["words_total"]), ("bytes_missing", 2, None))
        secret = self.admin.call("POST", "/api/v1/prompt-sources/speech/snapshot", {**place, "restic_repository": "rest:https://u:pw@host/x"})
        self.assertEqual((secret.status, secret.json["errors"][0]["pointer"]), (422, "/restic_repository"))
        thing = self.admin.post("/api/v1/prompt-sources/speech/snapshot", place)
        self.assertEqual((thing["state"], thing["restic_snapshot"], thing["bytes_total"]), ("ready", "0123abcd", 5))
        thing = send_file(self.admin, "speech", sound.replace(b"one", b"two")).json
        self.assertEqual((thing["state"], thing["restic_snapshot"]), ("bytes_missing", None), "another file kept the old one's bytes")
        self.make("pictures", "metrumbench_vlm_snapshot")
        self.assertEqual(send_file(self.admin, "pictures", b'{"prompt": "what?", "image_urls": []}').status, 422)
        web = send_file(self.admin, "pictures", b'{"prompt": "what?", "image_urls": ["https://example.org/1.png"]}')
        self.assertEqual(web.json["state"], "ready")
        self.assertEqual(self.admin.call("POST", "/api/v1/prompt-sources/pictures/snapshot", place).status, 409)
        self.assertEqual(send_file(self.admin, "pictures", b'{"prompt": "what?", "image_url": "file:///x/1.png"}').json["state"], "bytes_missing")
        self.make("images", "metrumbench_imagegen_snapshot")
        self.assertEqual(send_file(self.admin, "images", b'{"prompt": "a cat", "size": "big"}').status, 422)
        self.assertEqual(send_file(self.admin, "images", b'{"prompt": "a cat", "size": "64x64", "negative_prompt": "dog"}').json["state"], "ready")

    def test_shipped_codes_are_filled_by_the_operator_alone(self):
        code = "librispeech-test-clean"
        before = self.source(code)
        self.assertEqual((before["state"], before["is_shipped"]), ("bytes_missing", True))
        self.assertIn("assay ctl prompts", before["import_command"])
        other = Client(self.plane, self.admin.post("/api/v1/tenants", {"tenant_code": "rest", "name": "Rest"})["admin_token"])
        self.admin.post("/api/v1/users", {"user_name": "some-member", "role": "member", "password": PASSWORD})
        member = Client(self.plane, self.admin.post("/api/v1/tokens", {"token_code": "some-member", "user_name": "some-member", "role": "member"})["token"])
        data = b'{"id": "1089-0", "path": "1089-0.flac", "transcript": "he hoped"}\n'
        for client in (other, member):
            self.assertEqual(send_file(client, code, data).status, 403)
        self.assertEqual(send_file(self.admin, code, data).status, 200)
        filled = self.admin.post(f"/api/v1/prompt-sources/{code}/snapshot",
                                 {"restic_repository": "/srv/restic", "restic_snapshot": "0123abcd", "bytes_total": 5})
        self.assertEqual(filled["state"], "ready")
        self.assertEqual(self.content(code, other).body, data, "what is shipped is for all tenants")
        self.make("mine")
        send_file(self.admin, "mine", LIBRARY)
        self.assertEqual(self.content("mine", other).status, 404)
        self.assertEqual(send_file(other, "mine", LIBRARY).status, 404)

    def test_a_run_needs_what_it_sends_and_keeps_it(self):
        define(self.admin, 5)
        self.make("empty")
        self.admin.ok("PATCH", "/api/v1/workloads/w5", {"source_code": "empty"})
        checks = self.admin.post("/api/v1/workloads/w5/check", {})["checks"]
        stop = [check for check in checks if check["verdict"] == "stop" and "prompt" in check["check_code"]]
        self.assertEqual(len(stop), 1, checks)
        self.assertIn("assay ctl prompts upload empty FILE", stop[0]["remedy"])
        self.admin.ok("PATCH", "/api/v1/workloads/w5", {"source_code": "lib5"})
        self.plane.stop()
        self.plane.sql("UPDATE servers SET state = 'online', last_seen_ns = 1, disk_free_bytes = 4000000000000")
        self.plane.start()
        run = self.admin.post("/api/v1/runs", {"workload_code": "w5"})
        self.assertEqual(run["state"], "queued")
        plan = self.admin.get(f"/api/v1/jobs/{run['run_code']}-j1")["plan"]
        self.assertEqual(plan["source_digest"], self.source("lib5")["content_digest"])
        changed = send_file(self.admin, "lib5", LIBRARY + b'{"prompt": "more"}\n')
        self.assertEqual(changed.status, 409)
        self.assertIn("another code", changed.json["detail"])
        self.assertEqual(send_file(self.admin, "lib5", LIBRARY).status, 200)


if __name__ == "__main__":
    assert DEADLINE_S
    unittest.main()
