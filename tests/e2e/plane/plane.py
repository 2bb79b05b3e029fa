# SPDX-License-Identifier: Apache-2.0
"""A control plane for a test, and a client that holds every answer against the served contract."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.parse

import jsonschema

BUILD = pathlib.Path(os.environ["ASSAY_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["ASSAY_SOURCE_DIR"])
SERVE = str(BUILD / "libexec/assay/assay-serve")
DEADLINE_S = 30
PASSWORD = "correct horse battery"


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = body
        self.type = (response.headers.get("Content-Type") or "").split(";")[0]
        self.json = json.loads(body) if self.type.endswith("json") and body else None


class Contract:
    """The OpenAPI document: finds the operation of a call and checks what came back."""

    def __init__(self, document):
        self.document = document
        self.patterns = []
        for path, operations in document["paths"].items():
            pattern = re.compile("^" + re.sub(r"\{[^}]*\}", "[^/]+", re.escape(path).replace(r"\{", "{").replace(r"\}", "}")) + "$")
            self.patterns.append(("{" in path, pattern, path, operations))
        self.patterns.sort(key=lambda item: item[0])
        self.seen = set()

    def operation(self, method, path):
        for _, pattern, template, operations in self.patterns:
            if pattern.match(path) and method.lower() in operations:
                return template, operations[method.lower()]
        return None, None

    def schema(self, schema):
        return {**schema, "components": self.document["components"]}

    def check(self, method, path, answer):
        template, operation = self.operation(method, path)
        if answer.status == 400 and answer.type == "text/plain":
            return  # refused by the HTTP server, before there is a call
        if method == "HEAD":
            assert not answer.body
            return
        if answer.status >= 400:
            assert answer.type == "application/problem+json", (method, path, answer.status, answer.type, answer.body[:200])
            schema = {"$ref": "#/components/schemas/Problem"}
        else:
            assert operation, f"{method} {path} answers {answer.status} but is not in the contract"
            self.seen.add((method, template))
            declared = operation["responses"].get(str(answer.status))
            assert declared, f"{method} {path} answers {answer.status}, declared are {list(operation['responses'])}"
            if answer.status == 204:
                assert not answer.body
                return
            media, content = next(iter(declared["content"].items()))
            assert answer.type == media, (path, answer.type, media)
            if media != "application/json":
                return
            schema = content["schema"]
        jsonschema.validate(answer.json, self.schema(schema), cls=jsonschema.Draft202012Validator)
        if not path.endswith("/report.json"):  # its members are the report format's
            no_internal_ids(answer.json, f"{method} {path}")


def no_internal_ids(value, place):
    """No member is called id or *_id: natural keys only."""
    if isinstance(value, dict):
        for name, item in value.items():
            assert name != "id" and not name.endswith("_id"), f"{place}: member {name}"
            if name not in ("facts", "settings", "labels", "argv", "fingerprint", "placeholders", "paths", "components"):
                no_internal_ids(item, f"{place}/{name}")
    elif isinstance(value, list):
        for item in value:
            no_internal_ids(item, place)


class Client:
    def __init__(self, plane, token=None):
        self.plane, self.token = plane, token
        self.cookie = None

    def call(self, method, path, body=None, headers=None, raw=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.plane.port, timeout=DEADLINE_S)
        send = dict(headers or {})
        if self.token:
            send.setdefault("Authorization", f"Bearer {self.token}")
        if self.cookie:
            send.setdefault("Cookie", self.cookie)
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
            send.setdefault("Content-Type", "application/json")
        connection.request(method, path, body=data, headers=send)
        response = connection.getresponse()
        answer = Answer(response, response.read())
        connection.close()
        for name, value in answer.headers.items():
            if name == "Set-Cookie":
                self.cookie = value.split(";")[0]
        if self.plane.contract:
            self.plane.contract.check(method, path.split("?")[0], answer)
        return answer

    def ok(self, method, path, body=None, **more):
        answer = self.call(method, path, body, **more)
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.body.decode()}"
        return answer.json

    def get(self, path):
        return self.ok("GET", path)

    def post(self, path, body, **more):
        return self.ok("POST", path, body, **more)


def fresh_database(folder):
    """A SQLite file, or with ASSAY_TEST_POSTGRES (script/with-postgres) an empty database there."""
    server = os.environ.get("ASSAY_TEST_POSTGRES")
    if not server:
        return str(folder / "plane.db")
    name = "plane_" + re.sub(r"[^a-z0-9]", "_", folder.name.lower())
    subprocess.run(["psql", "-q", server, "-c", f"CREATE DATABASE {name}"], check=True, timeout=DEADLINE_S)
    parts = urllib.parse.urlsplit(server)
    return urllib.parse.urlunsplit(parts._replace(path="/" + name))


class Plane:
    """A served store in a folder of its own, on SQLite or (ASSAY_TEST_POSTGRES_URL) on PostgreSQL."""

    def __init__(self, folder, *words, database=None):
        self.folder = folder
        self.database = database or fresh_database(folder)
        self.is_sqlite = "://" not in self.database
        self.words = words
        self.contract = None
        self.process = None
        self.start()

    def command(self, *words):
        return [SERVE, *map(str, words), "--database", self.database, "--key-file", str(self.folder / "key"), "--data", str(SOURCE / "data")]

    def start(self):
        with open(self.folder / "serve.log", "ab") as log:
            token_file = self.folder / "token"
            words = [] if token_file.exists() else ["--admin-token-file", str(token_file)]
            self.process = subprocess.Popen([*self.command("--port", "0"), *words, *self.words], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        assert line, (self.folder / "serve.log").read_text()
        self.url = line.strip()
        self.port = urllib.parse.urlsplit(self.url).port
        if token_file.exists():
            self.token = token_file.read_text().strip()
        if self.contract is None:
            self.contract = Contract(json.loads(self.raw_get("/api/v1/openapi.json")))

    def raw_get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        connection.request("GET", path)
        body = connection.getresponse().read()
        connection.close()
        return body

    def admin(self):
        return Client(self, self.token)

    def sql(self, statement):
        """For what only workers do; the plane is stopped."""
        if self.is_sqlite:
            subprocess.run(["sqlite3", self.database, statement], check=True, timeout=DEADLINE_S)
        else:
            subprocess.run(["psql", "-q", self.database, "-c", statement], check=True, timeout=DEADLINE_S)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(timeout=DEADLINE_S)
        self.process.stdout.close()
        self.process = None
        return status

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)


class Case(unittest.TestCase):
    words = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-plane-"))
        cls.plane = Plane(cls.folder, *cls.words)
        cls.admin = cls.plane.admin()

    @classmethod
    def tearDownClass(cls):
        if cls.plane.process:
            cls.plane.process.kill()
            cls.plane.process.wait()
            cls.plane.process.stdout.close()
        shutil.rmtree(cls.folder)


LIBRARY = b'{"prompt": "How long is a piece of string?", "expected_output_tokens": 12}\n{"prompt": "Count to three."}\n'


def send_file(client, code, data, media="application/jsonl", **headers):
    """PUT of a prompt source's file; the answer."""
    return client.call("PUT", f"/api/v1/prompt-sources/{code}/content", raw=data, headers={"Content-Type": media, **headers})


def define(client, number=1):
    """A project with hardware, a server, a prompt source, a workload and a scenario."""
    n = str(number)
    client.post("/api/v1/projects", {"project_code": "p" + n, "name": "Project"})
    client.post("/api/v1/server-configs", {"config_code": "dgx" + n, "location": "on_prem", "gpu_class_code": "h100", "gpu_count": 8})
    client.post("/api/v1/servers", {"config_code": "dgx" + n, "hostname": "gpu" + n, "gpus": [{"gpu_index": i, "gpu_class_code": "h100"} for i in range(8)]})
    client.post("/api/v1/prompt-sources", {"source_code": "lib" + n, "source_type": "prompt_library", "name": "Library"})
    assert send_file(client, "lib" + n, LIBRARY).status == 200
    client.post("/api/v1/workloads", {
        "workload_code": "w" + n, "project_code": "p" + n, "name": "Workload", "tool": "metrumbench-llm",
        "model_code": "meta-llama/Llama-3.3-70B-Instruct", "framework_code": "vllm", "framework_version": "0.12.0",
        "set_code": "vllm-llama33-70b-instruct-h100-tp4", "config_code": "dgx" + n, "hostname": "gpu" + n, "source_code": "lib" + n})
    client.post("/api/v1/scenarios", {"workload_code": "w" + n, "scenario_code": "c8", "concurrency": 8, "isl_tokens": 512, "osl_tokens": 128,
                                      "request_count": 64})
