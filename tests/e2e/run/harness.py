# SPDX-License-Identifier: Apache-2.0
"""Runs `assay` against its simulator or a server of the test's own, in a folder of the test."""

import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

BUILD = pathlib.Path(os.environ["ASSAY_BUILD_DIR"])
ASSAY = str(BUILD / "assay")
NTP_EPOCH = 2208988800
DEADLINE_S = 60


class Case(unittest.TestCase):
    """A folder for each test; every process it starts is ended with it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-run-"))
        self.processes = []
        self.disks = []
        self.prompts = self.folder / "prompts.jsonl"
        self.prompts.write_text("".join(json.dumps({"prompt": f"word number {i} of this text"}) + "\n" for i in range(7)))
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("ASSAY_", "OPENAI_", "METRUM_"))}
        self.environment["METRUM_SKIP_NTP_CHECK"] = "true"

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        for disk in self.disks:
            subprocess.run(["umount", str(disk)], check=True)
        shutil.rmtree(self.folder)

    def small_disk(self, size):
        """A folder on a disk of its own; the test is skipped where none may be mounted."""
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)], capture_output=True, check=False).returncode != 0:
            self.skipTest("mounting is not permitted here")
        self.disks.append(disk)
        return disk

    def start(self, *words, environment=None, program=ASSAY):
        process = subprocess.Popen([program, *map(str, words)], cwd=self.folder, env={**self.environment, **(environment or {})}, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def sim(self, *words):
        """The URL of a new simulator."""
        with open(self.folder / f"sim-{len(self.processes)}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([ASSAY, "sim", "--port", "0", *words], cwd=self.folder, env=self.environment, text=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.processes.append(process)
        url = process.stdout.readline().strip()
        self.assertTrue(url.startswith("http"), url)
        return url

    def run_llm(self, *words, status=0, **more):
        """Runs to the end; (stdout, stderr)."""
        process = self.start("llm", "--prompts", self.prompts, *words, **more)
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, status, f"{out}\n{err}")
        return out, err

    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def records(self, folder):
        return [json.loads(line) for line in (self.folder / folder / "requests.jsonl").read_text().splitlines()]

    def wait_for(self, condition, what):
        end = time.monotonic() + DEADLINE_S
        while not condition():
            self.assertLess(time.monotonic(), end, f"never: {what}")
            time.sleep(0.01)

    def wait_for_records(self, folder, count):
        path = self.folder / folder / "requests.jsonl"
        self.wait_for(lambda: path.exists() and path.read_text().count("\n") >= count, f"{count} records in {folder}")


class Server:
    """A server of the test's own: `answers` maps (method, path) to (status, body); requests are kept."""

    def __init__(self, answers):
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def reply(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.requests.append((self.command, self.path, dict(self.headers), body))
                status, answer = answers.get((self.command, self.path), (404, "{}"))
                data = answer.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = reply

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class TimeServer:
    """An SNTP server whose clock is `offset_s` ahead; None never answers."""

    def __init__(self, offset_s):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.name = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.offset_s = offset_s
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                packet, peer = self.socket.recvfrom(100)
            except OSError:
                return
            if self.offset_s is None:
                continue
            now = time.time() + self.offset_s + NTP_EPOCH
            stamp = struct.pack("!II", int(now) & 0xFFFFFFFF, int((now % 1) * 2**32))
            self.socket.sendto(struct.pack("!BBBb", 0x24, 2, 0, -20) + bytes(12) + stamp + packet[40:48] + stamp + stamp, peer)

    def close(self):
        self.socket.close()


__all__ = ["Case", "DEADLINE_S", "Server", "TimeServer", "ASSAY", "BUILD", "json", "os", "pathlib", "signal", "socket", "subprocess", "time", "unittest"]
