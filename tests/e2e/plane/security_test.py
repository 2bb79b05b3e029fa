# SPDX-License-Identifier: Apache-2.0
"""Who may do what, wrong input on every route, guessing, other sites, bad HTTP, secrets that stay inside."""

import json
import os
import time
import unittest

from plane import DEADLINE_S, PASSWORD, SOURCE, Case, Client, define

MATRIX = SOURCE / "tests/e2e/plane/matrix.txt"
CANARY = "canary-5f0d2a71c9"

# What stands for the members of a path: things that are there, of the caller's tenant.
KEYS = {
    "tenant_code": "default", "user_name": "probe", "token_code": "probe", "secret_code": "probe", "project_code": "p1",
    "model_code": "own-model", "gpu_class_code": "own-gpu", "framework_code": "own-framework", "version": "1.0", "build": "cuda",
    "provider_code": "probe", "config_code": "dgx1", "hostname": "gpu1", "source_code": "lib1", "arg_key": "probe", "set_code": "own-set",
    "template_code": "own-template", "workload_code": "w1", "scenario_code": "c8", "run_code": "w1-r1", "job_code": "none", "attempt": "1",
}


def fill(template, keys=None):
    for name, value in {**KEYS, **(keys or {})}.items():
        template = template.replace("{%s}" % name, value)
    return template


def define_rest(client):
    client.post("/api/v1/users", {"user_name": "probe", "role": "member", "password": PASSWORD})
    client.post("/api/v1/tokens", {"token_code": "probe", "user_name": "probe", "role": "viewer"})
    client.post("/api/v1/secrets", {"secret_code": "probe", "value": CANARY})
    client.post("/api/v1/models", {"model_code": "own-model", "precisions": [{"precision_code": "fp8", "vram_minimum_gb": 1}]})
    client.post("/api/v1/gpu-classes", {"gpu_class_code": "own-gpu"})
    client.post("/api/v1/frameworks", {"framework_code": "own-framework", "display_name": "Own"})
    client.post("/api/v1/framework-versions", {"framework_code": "own-framework", "version": "1.0"})
    client.post("/api/v1/engine-args-templates", {"framework_code": "own-framework", "version": "1.0", "arg_key": "probe", "flag": "--probe",
                                                  "value_type": "int"})
    client.post("/api/v1/providers", {"provider_code": "probe", "kind": "slurm"})
    client.post("/api/v1/engine-args-sets", {"set_code": "own-set", "framework_code": "vllm"})
    client.post("/api/v1/command-templates", {"template_code": "own-template", "kind": "tool", "tool": "guidellm", "argv": ["true"]})
    client.post("/api/v1/runs", {"workload_code": "w1"})


class Rights(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        define(cls.admin)
        define_rest(cls.admin)
        cls.callers = {"nobody": Client(cls.plane), "operator": cls.admin}
        for role in ("viewer", "member", "admin", "agent"):
            cls.admin.post("/api/v1/users", {"user_name": role + "-user", "role": role})
            token = cls.admin.post("/api/v1/tokens", {"token_code": role, "user_name": role + "-user", "role": role})["token"]
            cls.callers[role] = Client(cls.plane, token)
        cls.callers["other"] = Client(cls.plane, cls.admin.post("/api/v1/tenants", {"tenant_code": "other", "name": "Other"})["admin_token"])

    def routes(self):
        for path, operations in sorted(self.plane.contract.document["paths"].items()):
            for method in sorted(operations):
                yield method.upper(), path, operations[method]

    def probe(self, name, method, path):
        """The status of a call that changes nothing: reads as they are, writes with a member that there is not."""
        if path == "/api/v1/events":
            return None
        body = None if method in ("GET", "DELETE") else {"no-such-member": 1}
        headers = {"If-Match": '"999999"'} if method == "DELETE" else None
        if path in ("/api/v1/logout",):
            body = None
        return self.callers[name].call(method, fill(path), body, headers=headers)

    def test_route_by_role_by_tenant_is_the_kept_matrix(self):
        names = ["nobody", "viewer", "member", "admin", "operator", "agent", "other"]
        lines = ["# Status by route and caller; `other` is the administrator of another tenant. Written with ASSAY_BLESS=1.",
                 f"{'route':64}" + " ".join(f"{name:8}" for name in names)]
        for method, path, _ in self.routes():
            answers = {name: self.probe(name, method, path) for name in names}
            if answers["nobody"] is None:
                continue
            lines.append(f"{method + ' ' + path:64}" + " ".join(f"{answers[name].status:<8}" for name in names))
            if answers["other"].status == 404:
                gone = self.callers["other"].call(method, fill(path, {key: "not-there" for key in KEYS}),
                                                  None if method in ("GET", "DELETE") else {"no-such-member": 1})
                self.assertEqual(answers["other"].body, gone.body, f"{method} {path}: another tenant's thing looks different from none")
        text = "\n".join(line.rstrip() for line in lines) + "\n"
        if os.environ.get("ASSAY_BLESS"):
            MATRIX.write_text(text)
        self.assertEqual(text, MATRIX.read_text())

    def test_each_right_is_enforced_as_the_contract_says(self):
        may = {"none": set(self.callers), "read": {"viewer", "member", "admin", "operator", "other"}, "write": {"member", "admin", "operator", "other"},
               "admin": {"admin", "operator", "other"}, "operator": {"admin", "operator"}, "agent": {"agent"}, "job": set()}
        checked = 0
        for method, path, operation in self.routes():
            for name in self.callers:
                answer = self.probe(name, method, path)
                if answer is None or operation["x-right"] == "none":
                    continue
                allowed = answer.status not in (401, 403)
                shipped = path.startswith("/api/v1/tenants")
                if name in may[operation["x-right"]] or shipped:
                    self.assertTrue(allowed or shipped, f"{name} {method} {path}: {answer.status}")
                else:
                    self.assertEqual(answer.status, 401 if name == "nobody" else 403, f"{name} {method} {path}")
                checked += 1
        self.assertGreater(checked, 400)

    def test_every_thing_of_the_tenant_is_hidden_from_the_other(self):
        for method, path, operation in self.routes():
            if method != "GET" or "{" in path or operation["x-right"] == "none" or path in (
                    "/api/v1/events", "/api/v1/tenants", "/api/v1/results.csv", "/api/v1/results.json", "/api/v1/results/compare"):
                continue
            mine, theirs = self.admin.get(path + "?limit=500"), self.callers["other"].get(path + "?limit=500")
            shared = {json.dumps(item, sort_keys=True) for item in mine["items"] if item.get("is_shipped", "framework_code" in item)}
            for item in theirs["items"]:
                if json.dumps(item, sort_keys=True) in shared:
                    continue
                self.assertNotIn(item, mine["items"], path)
        self.assertEqual([item["tenant_code"] for item in self.callers["other"].get("/api/v1/tenants")["items"]], ["other"])
        taken = self.callers["other"].call("POST", "/api/v1/projects", {"project_code": "theirs", "name": "Theirs"})
        self.assertEqual(taken.status, 201)
        for path in ("/api/v1/runs/w1-r1/cancel", "/api/v1/runs/w1-r1/retry", "/api/v1/runs/w1-r1/clone", "/api/v1/workloads/w1/check",
                     "/api/v1/workloads/w1/resolve"):
            self.assertEqual(self.callers["other"].call("POST", path, {}).status, 404, path)
        foreign = self.callers["other"].call("POST", "/api/v1/workloads", {
            "workload_code": "w1", "project_code": "p1", "name": "x", "tool": "metrumbench-llm", "model_code": "own-model", "framework_code": "vllm",
            "framework_version": "0.12.0", "config_code": "dgx1"})
        self.assertEqual({error["pointer"] for error in foreign.json["errors"]}, {"/project_code", "/model_code", "/config_code"})

    def test_scopes_and_roles_narrow_a_token(self):
        narrow = self.admin.post("/api/v1/tokens", {"token_code": "narrow", "user_name": "admin-user", "role": "admin", "scopes": ["read"]})["token"]
        self.assertEqual(Client(self.plane, narrow).call("POST", "/api/v1/projects", {"project_code": "x", "name": "x"}).status, 403)
        wide = self.admin.post("/api/v1/tokens", {"token_code": "wide", "user_name": "viewer-user", "role": "admin"})["token"]
        self.assertEqual(Client(self.plane, wide).get("/api/v1/me")["role"], "viewer")
        old = self.admin.post("/api/v1/tokens", {"token_code": "old", "user_name": "admin-user", "role": "admin",
                                                 "expires_at": "2020-01-01T00:00:00Z"})["token"]
        self.assertEqual(Client(self.plane, old).call("GET", "/api/v1/me").status, 401)
        self.admin.ok("DELETE", "/api/v1/tokens/narrow")
        self.assertEqual(Client(self.plane, narrow).call("GET", "/api/v1/me").status, 401)

    # ---- wrong input ----

    def wrong_values(self, schema):
        """Values that a member's schema does not allow."""
        types = schema.get("type")
        types = types if isinstance(types, list) else [types]
        for value, name in (("text", "string"), (1.5, "number"), (True, "boolean"), ([1], "array"), ({"a": 1}, "object"), (None, "null")):
            if types != [None] and name not in types and not (name == "number" and "integer" in types):
                yield value
        if "integer" in types:
            yield 1.5
            yield 10 ** 30
        if "maximum" in schema:
            yield schema["maximum"] * 2 + 1
            yield schema["minimum"] - 1
        if "maxLength" in schema:
            yield "a" * (schema["maxLength"] + 1)
        if "pattern" in schema:
            yield "a\x01b"
        if "enum" in schema:
            yield "no-such-choice"
        if "maxItems" in schema:
            yield [{}] * (schema["maxItems"] + 1)

    def lease_job(self):
        """A client with the token of an attempt."""
        server = {"protocol_version": 1, "config_code": "dgx1", "hostname": "gpu1", "agent_version": "1"}
        self.callers["agent"].post("/api/v1/agent/register", {**server, "disk_free_bytes": 4 << 40})
        self.admin.post("/api/v1/runs", {"workload_code": "w1"})
        return Client(self.plane, self.callers["agent"].post("/api/v1/agent/lease", {**server, "lease_nonce": "n1"})["token"])

    def test_wrong_members_on_every_writing_route_are_named(self):
        document = self.plane.contract.document
        of_attempt = self.lease_job()
        tried = 0
        for method, path, operation in self.routes():
            if "requestBody" not in operation or path in ("/api/v1/login", "/api/v1/me/password"):
                continue
            if "application/json" not in operation["requestBody"]["content"]:
                continue  # a file: prompts_test.py
            name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].split("/")[-1]
            schema = document["components"]["schemas"][name]
            caller = {"agent": self.callers["agent"], "job": of_attempt}.get(operation["x-right"], self.admin)
            for member, field in schema["properties"].items():
                for value in self.wrong_values(field):
                    answer = caller.call(method, fill(path), {member: value})
                    self.assertEqual(answer.status, 422, f"{method} {path} {member}={str(value)[:60]}: {answer.body[:300]}")
                    pointers = [error["pointer"] for error in answer.json["errors"]]
                    self.assertTrue(any(pointer.split("/")[1] == member for pointer in pointers), f"{path} {member}={str(value)[:60]}: {pointers}")
                    tried += 1
            for required in schema.get("required", []):
                answer = caller.call(method, fill(path), {})
                self.assertIn("/" + required, [error["pointer"] for error in answer.json["errors"]])
            for raw, kind, status in ((b"{", "application/json", 400), (b"[]", "application/json", 422), (b"{}", "text/plain", 415), (b"", "application/json", 400),
                                      (b'{"a":1,"a":1}', "application/json", 422), (b'{"a":"\xff"}', "application/json", 400)):
                answer = caller.call(method, fill(path), raw=raw, headers={"Content-Type": kind})
                self.assertEqual(answer.status, status, f"{method} {path} {raw}")
        self.assertGreater(tried, 500)

    def test_wrong_queries_and_addresses(self):
        for query, status in (("limit=0", 422), ("limit=501", 422), ("limit=x", 422), ("sort=nope", 422), ("nope=1", 422), ("cursor=%00", 400), ("q=%zz", 400),
                              ("retired=maybe", 422), ("limit=1&limit=2", 422), ("created_at_from=x", 422)):
            self.assertEqual(self.admin.call("GET", f"/api/v1/projects?{query}").status, status, query)
        for path, status in (("/api/v1/projects/%2e%2e", 404), ("/api/v1/projects/a%00b", 400), ("/api/v1/nope", 404), ("/", 404), ("/api/v1/projects/", 404),
                             ("/api/v1/projects/" + "a" * 5000, 404), ("/api/v1/projects/%27%20OR%201=1--", 404)):
            self.assertEqual(self.admin.call("GET", path).status, status, path)
        wrong = self.admin.call("PUT", "/api/v1/projects", {})
        self.assertEqual((wrong.status, wrong.headers["Allow"]), (405, "GET, POST"))

    def test_hostile_texts_come_back_as_they_are_or_not_at_all(self):
        for number, text in enumerate(("<script>alert(1)</script>", "=cmd|' /C calc'!A0", "'; DROP TABLE projects; --", "\u202eabc", "{model}", "$(reboot)")):
            code = f"hostile-{number}"
            made = self.admin.post("/api/v1/projects", {"project_code": code, "name": text})
            self.assertEqual(made["name"], text)
        for text in ("\x1b[31m", "a\nb", "\x00", "\x7f"):
            self.assertEqual(self.admin.call("POST", "/api/v1/projects", {"project_code": "bad", "name": text}).status, 422)

    def test_secrets_are_found_nowhere(self):
        self.admin.ok("PATCH", "/api/v1/secrets/probe", {"value": CANARY + "2"})
        for path in ("/api/v1/secrets", "/api/v1/secrets/probe", "/api/v1/audit-log?limit=500"):
            self.assertNotIn(CANARY.encode(), self.admin.call("GET", path).body)
        for file in self.folder.iterdir():
            data = file.read_bytes()
            for secret in (CANARY, PASSWORD, self.callers["viewer"].token):
                self.assertNotIn(secret.encode(), data, file)
            if file.name not in ("token",):
                self.assertNotIn(self.plane.token.encode(), data, file)


class Sessions(Case):
    def setUp(self):
        self.admin.call("POST", "/api/v1/users", {"user_name": "ann", "role": "member", "password": PASSWORD})

    def login(self, password=PASSWORD, name="ann", **more):
        client = Client(self.plane)
        return client, client.call("POST", "/api/v1/login", {"user_name": name, "password": password}, **more)

    def own(self):
        return {"Origin": f"http://127.0.0.1:{self.plane.port}"}

    def test_a_session_begins_works_and_ends(self):
        client, answer = self.login()
        cookie = answer.headers["Set-Cookie"]
        for word in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(word, cookie)
        self.assertGreaterEqual(len(client.cookie.split("=")[1]), 43)
        self.assertEqual(client.get("/api/v1/me")["is_session"], True)
        first = client.cookie
        other, _ = self.login()
        self.assertNotEqual(first, other.cookie)
        self.assertEqual(client.call("POST", "/api/v1/logout", headers=self.own()).status, 204)
        client.cookie = first
        self.assertEqual(client.call("GET", "/api/v1/me").status, 401)
        self.assertEqual(other.call("GET", "/api/v1/me").status, 200)

    def test_a_change_of_role_or_password_ends_sessions(self):
        client, _ = self.login()
        self.admin.ok("PATCH", "/api/v1/users/ann", {"role": "viewer"})
        self.assertEqual(client.call("GET", "/api/v1/me").status, 401)
        self.admin.ok("PATCH", "/api/v1/users/ann", {"role": "member"})
        one, _ = self.login()
        two, _ = self.login()
        changed = one.call("POST", "/api/v1/me/password", {"old_password": PASSWORD, "new_password": PASSWORD + "2"}, headers=self.own())
        self.assertEqual(changed.status, 204)
        self.assertEqual(one.call("GET", "/api/v1/me").status, 200)
        self.assertEqual(two.call("GET", "/api/v1/me").status, 401)
        self.admin.ok("PATCH", "/api/v1/users/ann", {"password": PASSWORD})
        for weak in ("short", "password123", "aaaaaaaaaa"):
            self.assertEqual(self.admin.call("PATCH", "/api/v1/users/ann", {"password": weak}).status, 422, weak)
        self.assertEqual(self.admin.call("PATCH", "/api/v1/users/admin", {"role": "viewer"}).status, 409)

    def test_other_sites_cannot_write_and_see_nothing(self):
        client, _ = self.login()
        body = {"project_code": "forged", "name": "x"}
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {}, {"Sec-Fetch-Site": "cross-site"},
                        {"Origin": f"https://127.0.0.1:{self.plane.port}"}):
            self.assertEqual(client.call("POST", "/api/v1/projects", body, headers=headers).status, 403, headers)
        self.assertEqual(self.login(headers={"Origin": "https://evil.example"})[1].status, 403)
        self.assertEqual(client.call("POST", "/api/v1/projects", body, headers=self.own()).status, 201)
        probe = client.call("OPTIONS", "/api/v1/projects", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})
        answer = client.call("GET", "/api/v1/projects", headers={"Origin": "https://evil.example"})
        for found in (probe, answer):
            self.assertNotIn("access-control-allow-origin", [name.lower() for name in found.headers])
            self.assertIn("frame-ancestors 'none'", found.headers["Content-Security-Policy"])
            self.assertEqual((found.headers["X-Frame-Options"], found.headers["X-Content-Type-Options"]), ("DENY", "nosniff"))

    def test_guessing_closes_one_account_to_one_address(self):
        self.admin.post("/api/v1/users", {"user_name": "bob", "role": "viewer", "password": PASSWORD})
        statuses = [self.login("wrong password", "bob")[1].status for _ in range(11)]
        self.assertEqual(statuses, [401] * 10 + [429])
        closed = self.login(PASSWORD, "bob")[1]
        self.assertEqual(closed.status, 429)
        self.assertGreater(int(closed.headers["Retry-After"]), 600)
        self.assertEqual(self.login()[1].status, 200)
        statuses = [Client(self.plane, "assay_wrong").call("GET", "/api/v1/me").status for _ in range(11)]
        self.assertEqual(statuses, [401] * 10 + [429])
        self.assertEqual(self.admin.call("GET", "/api/v1/me").status, 200)


class Wire(Case):
    """Bad HTTP: closed or 4xx, while others are served."""

    def exchange(self, data):
        with self.plane.socket() as sock:
            sock.settimeout(DEADLINE_S)
            sock.sendall(data)
            answer = b""
            try:
                while piece := sock.recv(65536):
                    answer += piece
                    if b"\r\n\r\n" in answer:
                        break
            except ConnectionResetError:
                pass
            return answer

    def test_smuggling_pairs_are_refused(self):
        head = b"POST /api/v1/projects HTTP/1.1\r\nHost: x\r\n"
        for fields in (b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                       b"Content-Length : 2\r\n\r\n{}", b"X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}", b"Content-Length: 2\nX: y\r\n\r\n{}",
                       b"Transfer-Encoding: xchunked\r\n\r\n", b"Content-Length: +2\r\n\r\n{}"):
            answer = self.exchange(head + fields)
            self.assertRegex(answer[:12].decode(), r"HTTP/1\.1 [45]0[01]", fields)
        self.assertRegex(self.exchange(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 65536 + b"\r\n\r\n")[:12].decode(), "431")

    def test_large_bodies_are_refused_before_they_are_sent(self):
        answer = self.exchange(b"POST /api/v1/projects HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\nExpect: 100-continue\r\n\r\n")
        self.assertIn(b" 413 ", answer[:20])

    def test_slow_connections_do_not_slow_others(self):
        slow = []
        try:
            for _ in range(300):
                sock = self.plane.socket()
                sock.sendall(b"GET /api/v1/health HT")
                slow.append(sock)
            times = []
            for _ in range(200):
                begin = time.monotonic()
                self.admin.get("/api/v1/projects")
                times.append(time.monotonic() - begin)
            self.assertLess(sorted(times)[197], 0.5)
        finally:
            for sock in slow:
                sock.close()


if __name__ == "__main__":
    unittest.main()
