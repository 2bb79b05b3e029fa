# SPDX-License-Identifier: Apache-2.0
"""The control plane when it is killed, its answers are lost, its disk is full, its certificate changes, or another one runs."""

import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from plane import DEADLINE_S, SERVE, Case, Client, Plane, define

KILLS = int(os.environ.get("ASSAY_KILLS", "12"))
START_S = 1.0


class Kills(Case):
    def write(self, mine, kept, unknown):
        """Projects, one after the other, until the server is gone; what was answered is kept."""
        while True:
            code = f"k{mine}-{len(kept[mine]) + len(unknown[mine])}"
            try:
                answer = Client(self.plane, self.plane.token).call("POST", "/api/v1/projects", {"project_code": code, "name": code},
                                                                  headers={"Idempotency-Key": code})
                assert answer.status == 201, answer.body
                kept[mine].append(code)
            except (OSError, http.client.HTTPException):
                unknown[mine].append(code)
                return

    def test_kill_9_under_writes_loses_nothing_that_was_answered(self):
        rng = random.Random(5)
        kept, unknown = [[] for _ in range(4)], [[] for _ in range(4)]
        slowest = 0
        for _ in range(KILLS):
            threads = [threading.Thread(target=self.write, args=(mine, kept, unknown)) for mine in range(4)]
            for thread in threads:
                thread.start()
            before = sum(map(len, kept))
            until = time.monotonic() + DEADLINE_S
            while sum(map(len, kept)) < before + rng.randrange(1, 40):
                self.assertLess(time.monotonic(), until)
                time.sleep(0.001)
            self.plane.stop(signal.SIGKILL)
            for thread in threads:
                thread.join()
            begun = time.monotonic()
            self.plane.start()
            slowest = max(slowest, time.monotonic() - begun)
        self.assertLess(slowest, START_S)
        there, cursor = [], ""
        while cursor is not None:
            page = self.admin.get("/api/v1/projects?limit=500&sort=project_code" + (f"&cursor={cursor}" if cursor else ""))
            there, cursor = there + [item["project_code"] for item in page["items"]], page["next"]
        self.assertEqual(len(there), len(set(there)))
        self.assertEqual(set(sum(kept, [])) - set(there), set())
        self.assertEqual(set(there) - set(sum(kept, [])) - set(sum(unknown, [])), set())
        # What nobody was told of is asked for again, with its key: made now, or the first answer.
        for code in sum(unknown, []):
            answer = self.admin.call("POST", "/api/v1/projects", {"project_code": code, "name": code}, headers={"Idempotency-Key": code})
            self.assertEqual((answer.status, answer.headers.get("Idempotent-Replay") == "true"), (201, code in there), code)


class LostAnswers(Case):
    def lost(self, method, path, body, key):
        """Sends it and goes away before the answer is read; returns when the server has done it."""
        data = json.dumps(body).encode() if body is not None else b""
        head = (f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.plane.token}\r\nIdempotency-Key: {key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n")
        with self.plane.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            sock.sendall(head.encode() + data)
            sock.recv(1)  # it is being answered: the act is done

    def again(self, method, path, body, key):
        first = self.admin.call(method, path, body, headers={"Idempotency-Key": key})
        second = self.admin.call(method, path, body, headers={"Idempotency-Key": key})
        self.assertEqual((first.status, first.body), (second.status, second.body), path)
        return first

    def test_a_repeat_gives_the_first_answer_on_every_writing_route(self):
        define(self.admin)
        bodies = {
            "/api/v1/projects": {"project_code": "lost", "name": "Lost"}, "/api/v1/models": {"model_code": "lost-model"},
            "/api/v1/gpu-classes": {"gpu_class_code": "lost-gpu"}, "/api/v1/frameworks": {"framework_code": "lost-fw", "display_name": "x"},
            "/api/v1/framework-versions": {"framework_code": "vllm", "version": "99.0"},
            "/api/v1/engine-args-templates": {"framework_code": "vllm", "version": "99.0", "arg_key": "probe", "flag": "--probe", "value_type": "int"},
            "/api/v1/engine-args-sets": {"set_code": "lost-set", "framework_code": "vllm"},
            "/api/v1/command-templates": {"template_code": "lost-template", "kind": "tool", "tool": "guidellm", "argv": ["true"]},
            "/api/v1/providers": {"provider_code": "lost", "kind": "slurm"}, "/api/v1/secrets": {"secret_code": "lost", "reference": "env:X"},
            "/api/v1/server-configs": {"config_code": "lost", "location": "on_prem", "gpu_class_code": "h100", "gpu_count": 1},
            "/api/v1/servers": {"config_code": "lost", "hostname": "lost"},
            "/api/v1/prompt-sources": {"source_code": "lost", "source_type": "prompt_library", "name": "x"},
            "/api/v1/scenarios": {"workload_code": "w1", "scenario_code": "lost", "concurrency": 1, "isl_tokens": 1, "osl_tokens": 1, "request_count": 1},
            "/api/v1/users": {"user_name": "lost", "role": "viewer"}, "/api/v1/runs": {"workload_code": "w1"},
        }
        for number, (path, body) in enumerate(bodies.items()):
            key = f"lost-{number}"
            before = len(self.admin.get(path + "?limit=500&retired=all")["items"])
            self.lost("POST", path, body, key)
            answer = self.again("POST", path, body, key)
            self.assertEqual((answer.status, answer.headers.get("Idempotent-Replay")), (201, "true"), f"{path}: {answer.body}")
            self.assertEqual(len(self.admin.get(path + "?limit=500&retired=all")["items"]), min(500, before + 1), path)
        for number, (method, path, body) in enumerate((("PATCH", "/api/v1/projects/lost", {"name": "Found"}), ("DELETE", "/api/v1/projects/lost", None),
                                                       ("POST", "/api/v1/runs/w1-r1/clone", {}))):
            key = f"changed-{number}"
            self.lost(method, path, body, key)
            answer = self.again(method, path, body, key)
            self.assertEqual((answer.status < 300, answer.headers.get("Idempotent-Replay")), (True, "true"), f"{path}: {answer.body}")
        self.assertEqual(self.admin.get("/api/v1/projects/lost")["revision"], 3)
        self.assertEqual(len(self.admin.get("/api/v1/runs?workload_code=w1")["items"]), 2)


class Two(Case):
    def test_a_second_process_on_the_file_is_refused_with_the_first_ones_number(self):
        if not self.plane.is_sqlite:
            self.skipTest("PostgreSQL serves several")
        second = subprocess.run(self.plane.command("--port", "0"), capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(second.returncode, 70)
        self.assertIn(f"in use by process {self.plane.process.pid}", second.stderr)
        self.assertEqual(self.admin.call("GET", "/api/v1/health").status, 200)

    def test_two_planes_serve_one_postgresql(self):
        if self.plane.is_sqlite:
            self.skipTest("one process has a SQLite store")
        other = Plane.__new__(Plane)
        other.folder, other.database, other.is_sqlite, other.words, other.contract = self.folder, self.plane.database, False, (), self.plane.contract
        other.token = self.plane.token
        other.start()
        try:
            a, b = self.admin, Client(other, self.plane.token)
            define(a)
            self.assertEqual(b.get("/api/v1/workloads/w1"), a.get("/api/v1/workloads/w1"))
            first = a.call("POST", "/api/v1/projects", {"project_code": "both", "name": "x"}, headers={"Idempotency-Key": "both"})
            again = b.call("POST", "/api/v1/projects", {"project_code": "both", "name": "x"}, headers={"Idempotency-Key": "both"})
            self.assertEqual((first.status, first.body, again.body), (201, again.body, first.body))
            statuses, codes = [], []

            def work(client, name):
                for number in range(10):
                    statuses.append(client.call("POST", "/api/v1/projects", {"project_code": f"race-{number}", "name": name}).status)
                    codes.append(client.post("/api/v1/runs", {"workload_code": "w1"})["run_code"])
            threads = [threading.Thread(target=work, args=(client, name)) for client, name in ((a, "a"), (b, "b"), (a, "c"), (b, "d"))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(statuses), [201] * 10 + [409] * 30)
            self.assertEqual(len(set(codes)), 40)
            self.assertEqual(b.get("/api/v1/runs?limit=500"), a.get("/api/v1/runs?limit=500"))
            a.ok("PATCH", "/api/v1/projects/both", {"name": "y"}, headers={"If-Match": '"1"'})
            self.assertEqual(b.call("PATCH", "/api/v1/projects/both", {"name": "z"}, headers={"If-Match": '"1"'}).status, 412)
        finally:
            other.stop()


class FullDisk(unittest.TestCase):
    """In a mount namespace of its own, on a small tmpfs."""

    def setUp(self):
        if os.environ.get("ASSAY_TEST_POSTGRES"):
            self.skipTest("the embedded store")
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace here")

    def test_a_full_disk_is_told_and_loses_nothing(self):
        mount = pathlib.Path(tempfile.mkdtemp(prefix="assay-full-"))
        inside = "mount -t tmpfs -o size=96m none {0} && PYTHONDONTWRITEBYTECODE=1 python3 {1} InsideFullDisk".format(mount, os.path.abspath(__file__))
        try:
            done = subprocess.run(["unshare", "-m", "sh", "-c", inside], env={**os.environ, "ASSAY_FULL_DISK": str(mount), "TMPDIR": str(mount)},
                                  capture_output=True, text=True, timeout=4 * DEADLINE_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("skipped", done.stderr)
        finally:
            mount.rmdir()


@unittest.skipUnless(os.environ.get("ASSAY_FULL_DISK"), "runs inside FullDisk")
class InsideFullDisk(Case):
    def test_refusals_while_full_all_of_it_afterwards(self):
        mount = pathlib.Path(os.environ["ASSAY_FULL_DISK"])
        kept = []

        def post(number):
            # Large enough to need pages of its own.
            answer = self.admin.call("POST", "/api/v1/projects", {"project_code": f"full-{number}", "name": "x", "description": "d" * 3900})
            if answer.status == 201:
                kept.append(f"full-{number}")
            return answer
        for number in range(20):
            self.assertEqual(post(number).status, 201)
        # A log of nothing: what is written needs new space.
        self.plane.stop()
        self.plane.start()
        filler = mount / "filler"
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        answers = [post(100 + number) for number in range(30)]
        refused = [answer for answer in answers if answer.status != 201]
        self.assertGreater(len(refused), 10)
        for answer in refused:
            self.assertEqual(answer.type, "application/problem+json")
            self.assertIn(answer.status, (500, 503, 507))
        self.assertEqual(self.admin.call("GET", "/api/v1/projects/full-3").status, 200)
        filler.unlink()
        self.assertEqual(post(500).status, 201)
        self.plane.stop()
        self.plane.start()
        there = {item["project_code"] for item in self.admin.get("/api/v1/projects?limit=500")["items"]}
        self.assertEqual(there, set(kept))


def make_certificate(folder, name, days="2"):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", days, "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"], check=True,
                   capture_output=True, timeout=DEADLINE_S)


class Reload(unittest.TestCase):
    """SIGHUP with a new pair, and with one that does not fit, while calls are made."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-reload-"))
        for name in ("one", "two"):
            make_certificate(self.folder, name)
        self.use("one", "one")
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen([SERVE, "--database", self.folder / "x.db", "--port", "0", "--admin-token-file", self.folder / "token", "--tls-cert",
                                         self.folder / "cert", "--tls-key", self.folder / "key"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        self.assertTrue(line.startswith("https://"), line)
        self.port = int(line.strip().rsplit(":", 1)[1])

    def tearDown(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(DEADLINE_S), 0)
        self.process.stdout.close()
        self.log.close()
        shutil.rmtree(self.folder)

    def use(self, certificate, key):
        shutil.copy(self.folder / f"{certificate}.pem", self.folder / "cert")
        shutil.copy(self.folder / f"{key}.key", self.folder / "key")

    def connect(self, minimum=None, maximum=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if maximum:
            context.minimum_version, context.maximum_version = minimum, maximum
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S), server_hostname="localhost")

    def serves(self, name):
        with self.connect() as sock:
            return sock.getpeercert(binary_form=True) == ssl.PEM_cert_to_DER_cert((self.folder / f"{name}.pem").read_text())

    def wait_for(self, condition, what):
        until = time.monotonic() + DEADLINE_S
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.01)

    def logged(self):
        return (self.folder / "log").read_text()

    def test_a_new_certificate_is_served_and_no_call_is_dropped(self):
        failures, done, is_over = [], [0], threading.Event()

        def call():
            while not is_over.is_set():
                try:
                    with self.connect() as sock:
                        sock.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                        answer = b""
                        while piece := sock.recv(65536):
                            answer += piece
                    if not answer.startswith(b"HTTP/1.1 200"):
                        failures.append(answer[:60])
                    done[0] += 1
                except OSError as error:
                    failures.append(error)
        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        kept = self.connect()
        self.assertTrue(self.serves("one"))
        self.use("two", "two")
        self.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: self.serves("two"), "the new certificate")
        self.use("one", "two")
        self.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: "certificate" in self.logged().lower() or "key" in self.logged().lower(), "a word in the log")
        self.assertTrue(self.serves("two"))
        self.use("one", "one")
        self.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: self.serves("one"), "the first certificate again")
        # A connection from before all this goes on.
        kept.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertTrue(kept.recv(100).startswith(b"HTTP/1.1 200"))
        kept.close()
        is_over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertGreater(done[0], 10)

    def test_old_protocols_and_weak_suites_are_refused(self):
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            with self.assertRaises((ssl.SSLError, ConnectionError)), self.connect(version, version):
                pass
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.connect(version, version) as sock:
                name, _, bits = sock.cipher()
                self.assertGreaterEqual(bits, 128)
                self.assertRegex(name, "GCM|CHACHA20")
        for suite in ("AES128-SHA", "ECDHE-ECDSA-AES128-SHA", "NULL", "3DES"):
            weak = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", "-tls1_2", "-cipher", f"{suite}:@SECLEVEL=0"], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=DEADLINE_S)
            self.assertNotEqual(weak.returncode, 0, suite)


if __name__ == "__main__":
    unittest.main()
