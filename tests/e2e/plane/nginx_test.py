# SPDX-License-Identifier: Apache-2.0
"""The nginx site that ships, before a real plane on a unix socket: TLS, HTTP/2, addresses, cookies, events."""

import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from plane import DEADLINE_S, PASSWORD, SERVE, SOURCE


class Site(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-nginx-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.processes = []
        self.addCleanup(self.clean)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", self.folder / "key.pem", "-out", self.folder / "cert.pem"],
                       check=True, capture_output=True, timeout=DEADLINE_S)
        serve = subprocess.Popen([SERVE, "--unix-socket", self.folder / "serve.sock", "--behind-proxy", "--database", self.folder / "a.db", "--admin-token-file",
                                  self.folder / "token", "--data", SOURCE / "data"], stdout=subprocess.PIPE, text=True)
        self.processes.append(serve)
        self.assertTrue(serve.stdout.readline().startswith("unix:"))
        (self.folder / "serve.sock").chmod(0o666)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        site = (SOURCE / "packaging/nginx/assay.conf").read_text()
        for old, new in ((r"/run/assay/serve\.sock", str(self.folder / "serve.sock")), (r"listen 443", f"listen 127.0.0.1:{self.port}"),
                         (r"/etc/ssl/assay/fullchain\.pem", str(self.folder / "cert.pem")), (r"/etc/ssl/assay/privkey\.pem", str(self.folder / "key.pem"))):
            site, count = re.subn(old, new, site)
            self.assertGreater(count, 0, old)
        folders = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(f"daemon off;\npid {self.folder}/pid;\nerror_log {self.folder}/error.log;\nevents {{}}\n"
                                                f"http {{\naccess_log off;\n{folders}{site}\n}}\n")
        nginx = subprocess.Popen(["nginx", "-c", self.folder / "nginx.conf", "-p", self.folder], stderr=subprocess.DEVNULL)
        self.processes.append(nginx)
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > end or nginx.poll() is not None:
                    self.fail(f"nginx does not listen: {nginx.poll()}")

    def clean(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=DEADLINE_S)
            if process.stdout:
                process.stdout.close()
        shutil.rmtree(self.folder)

    def curl(self, path, *words):
        done = subprocess.run(["curl", "-sS", "-i", "--cacert", self.folder / "cert.pem", *words, f"https://localhost:{self.port}{path}"], capture_output=True,
                              text=True, timeout=DEADLINE_S)
        head, _, body = done.stdout.partition("\n\n" if "\r\n\r\n" not in done.stdout else "\r\n\r\n")
        return head, body

    def test_the_site_serves_the_plane(self):
        token = (self.folder / "token").read_text().strip()
        bearer = ("-H", f"Authorization: Bearer {token}")
        head, body = self.curl("/api/v1/me", "--http2", *bearer)
        self.assertTrue(head.startswith("HTTP/2 200"), head)
        self.assertEqual(json.loads(body)["user_name"], "admin")
        self.assertIn("strict-transport-security", head.lower())
        kind = ("-H", "Content-Type: application/json")
        self.curl("/api/v1/users", *bearer, *kind, "-d", json.dumps({"user_name": "ann", "role": "member", "password": PASSWORD}))
        login = json.dumps({"user_name": "ann", "password": PASSWORD})
        head, _ = self.curl("/api/v1/login", *kind, "-d", login)
        cookie = re.search(r"set-cookie: (__Host-assay=[^;]+);.*Secure", head, re.IGNORECASE)
        self.assertTrue(cookie, head)
        body = json.dumps({"project_code": "p", "name": "P"})
        head, _ = self.curl("/api/v1/projects", *kind, "-b", cookie[1], "-H", f"Origin: https://localhost:{self.port}", "-d", body)
        self.assertTrue(head.startswith("HTTP/2 201"), head)
        head, _ = self.curl("/api/v1/projects", *kind, "-b", cookie[1], "-H", "Origin: https://evil.example", "-d", body)
        self.assertTrue(head.startswith("HTTP/2 403"), head)
        _, log = self.curl("/api/v1/audit-log?action=create&object_type=project", *bearer, "-H", "X-Forwarded-For: 203.0.113.9")
        self.assertEqual(json.loads(log)["items"][0]["remote_address"], "127.0.0.1")


if __name__ == "__main__":
    unittest.main()
