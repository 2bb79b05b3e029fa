# SPDX-License-Identifier: Apache-2.0
"""Definitions, runs, events, repeats: what the API does, each answer held against the contract."""

import json
import subprocess
import threading
import unittest

import yaml
from plane import DEADLINE_S, LIBRARY, PASSWORD, SOURCE, Case, Client, Plane, define, send_file


class Definitions(Case):
    def test_a_project_is_made_read_changed_listed_and_retired(self):
        made = self.admin.post("/api/v1/projects", {"project_code": "one", "name": "One", "description": "line\nline"})
        self.assertEqual((made["revision"], made["retired_at"]), (1, None))
        self.assertEqual(self.admin.get("/api/v1/projects/one"), made)
        changed = self.admin.ok("PATCH", "/api/v1/projects/one", {"name": "Uno"}, headers={"If-Match": '"1"'})
        self.assertEqual((changed["name"], changed["revision"], changed["description"]), ("Uno", 2, "line\nline"))
        stale = self.admin.call("PATCH", "/api/v1/projects/one", {"name": "x"}, headers={"If-Match": '"1"'})
        self.assertEqual((stale.status, stale.json["type"]), (412, "urn:assay:problem:revision"))
        self.assertIn("one", [item["project_code"] for item in self.admin.get("/api/v1/projects")["items"]])
        self.assertIsNotNone(self.admin.ok("DELETE", "/api/v1/projects/one")["retired_at"])
        self.assertNotIn("one", [item["project_code"] for item in self.admin.get("/api/v1/projects")["items"]])
        self.assertIn("one", [item["project_code"] for item in self.admin.get("/api/v1/projects?retired=true")["items"]])
        self.assertEqual(self.admin.get("/api/v1/projects/one")["name"], "Uno")
        again = self.admin.call("POST", "/api/v1/projects", {"project_code": "one", "name": "x"})
        self.assertEqual((again.status, again.json["errors"][0]["pointer"]), (409, "/project_code"))

    def test_pages_hold_each_thing_once_in_order(self):
        for name in ("a", "b", "c", "d", "e"):
            self.admin.post("/api/v1/projects", {"project_code": "page-" + name, "name": "Name " + name})
        for sort, expected in (("project_code", "abcde"), ("-project_code", "edcba"), ("-created_at", "edcba"), ("name", "abcde")):
            found, path = [], f"/api/v1/projects?q=page-&limit=2&sort={sort}"
            cursor = ""
            while cursor is not None:
                page = self.admin.get(path + (f"&cursor={cursor}" if cursor else ""))
                found += [item["project_code"][-1] for item in page["items"]]
                cursor = page["next"]
            self.assertEqual("".join(found), expected, sort)
        first = self.admin.get("/api/v1/projects?q=page-&limit=2&sort=name")["next"]
        other = self.admin.call("GET", f"/api/v1/projects?q=page-&sort=project_code&cursor={first}")
        self.assertEqual(other.json["errors"][0]["pointer"], "?cursor")
        self.assertEqual(self.admin.call("GET", "/api/v1/projects?cursor=AAAA").status, 422)

    def test_the_shipped_catalogue_is_there_and_cannot_be_changed(self):
        model = self.admin.get("/api/v1/models/meta-llama%2FLlama-3.3-70B-Instruct")
        self.assertTrue(model["is_shipped"])
        self.assertEqual(self.admin.get("/api/v1/models/META-LLAMA%2Fllama-3.3-70b-instruct")["model_code"], model["model_code"])
        self.assertEqual(self.admin.call("PATCH", "/api/v1/models/meta-llama%2FLlama-3.3-70B-Instruct", {"notes": "x"}).status, 403)
        self.assertEqual(self.admin.call("POST", "/api/v1/gpu-classes", {"gpu_class_code": "h100"}).status, 409)
        count, cursor = 0, ""
        while cursor is not None:
            page = self.admin.get("/api/v1/engine-args-sets?limit=500" + (f"&cursor={cursor}" if cursor else ""))
            count, cursor = count + sum(item["is_shipped"] for item in page["items"]), page["next"]
        shipped = len(json.loads((SOURCE / "data/recipes/engine_args.json").read_text())["sets"])
        self.assertEqual(count, shipped)

    def test_an_edited_set_is_a_revision_and_equal_content_is_none(self):
        path = "/api/v1/engine-args-sets"
        made = self.admin.post(path, {"set_code": "rev", "framework_code": "vllm", "args": [{"arg_key": "max_model_len", "value": 4096}]})
        self.assertEqual((made["current_revision"], made["args"][0]["flag"]), (1, "--max-model-len"))
        same = self.admin.ok("PATCH", path + "/rev", {"args": [{"arg_key": "max_model_len", "value": 4096}]})
        self.assertEqual((same["current_revision"], same["digest"]), (1, made["digest"]))
        new = self.admin.ok("PATCH", path + "/rev", {"environment": {"VLLM_X": "1"}})
        self.assertEqual((new["current_revision"], new["args"]), (2, made["args"]))
        self.assertNotEqual(new["digest"], made["digest"])
        for args, pointer in (([{"arg_key": "max_model_lenn", "value": 1}], "/args/0/arg_key"), ([{"arg_key": "max_model_len", "value": "x"}], "/args"),
                              ([{"arg_key": "max_model_len", "value": 1}] * 2, "/args/1/arg_key")):
            refused = self.admin.call("PATCH", path + "/rev", {"args": args})
            self.assertEqual((refused.status, refused.json["errors"][0]["pointer"]), (422, pointer))
        self.assertEqual(self.admin.get(path + "/rev")["current_revision"], 2)

    def test_a_template_of_ones_own_is_checked(self):
        body = {"template_code": "mine", "kind": "tool", "tool": "metrumbench-llm", "argv": ["assay", "llm", "--url", "{url}"]}
        self.assertEqual(self.admin.post("/api/v1/command-templates", body)["current_revision"], 1)
        for argv in (["assay", "{no_such_thing}"], "assay llm", []):
            refused = self.admin.call("POST", "/api/v1/command-templates", {**body, "template_code": "bad", "argv": argv})
            self.assertEqual((refused.status, refused.json["errors"][0]["pointer"]), (422, "/argv"), argv)
        self.assertEqual(self.admin.call("GET", "/api/v1/command-templates/bad").status, 404)

    def test_a_repeat_gives_the_first_answer_and_one_row(self):
        key = {"Idempotency-Key": "k-1"}
        first = self.admin.call("POST", "/api/v1/projects", {"project_code": "once", "name": "x"}, headers=key)
        second = self.admin.call("POST", "/api/v1/projects", {"project_code": "once", "name": "x"}, headers=key)
        self.assertEqual((first.status, first.body), (second.status, second.body))
        self.assertEqual(second.headers["Idempotent-Replay"], "true")
        other = self.admin.call("POST", "/api/v1/projects", {"project_code": "twice", "name": "x"}, headers=key)
        self.assertEqual((other.status, other.json["type"]), (422, "urn:assay:problem:idempotency-key-reused"))
        token = {"token_code": "shown-once", "user_name": "admin", "role": "viewer"}
        self.assertIn("token", self.admin.call("POST", "/api/v1/tokens", token, headers={"Idempotency-Key": "k-2"}).json)
        self.assertEqual(self.admin.call("POST", "/api/v1/tokens", token, headers={"Idempotency-Key": "k-2"}).status, 409)

    def test_the_kept_contract_is_what_is_served(self):
        served = yaml.safe_load(self.plane.raw_get("/api/v1/openapi.yaml"))
        self.assertEqual(served, yaml.safe_load((SOURCE / "schema/openapi.yaml").read_text()))
        self.assertEqual(served, json.loads(self.plane.raw_get("/api/v1/openapi.json")))
        page = self.plane.raw_get("/api/v1/docs").decode()
        for operations in served["paths"].values():
            for operation in operations.values():
                self.assertIn(f'id="{operation["operationId"]}"', page)
        self.assertNotIn("http://", page)


class Runs(Case):
    def set_online(self):
        """What an agent's first word does."""
        self.assertEqual(self.plane.stop(), 0)
        self.plane.sql("UPDATE servers SET state = 'online', last_seen_ns = 1, disk_free_bytes = 4000000000000")
        self.plane.start()

    def test_from_definition_to_queued_jobs(self):
        define(self.admin)
        readiness = self.admin.post("/api/v1/workloads/w1/check", {})
        self.assertFalse(readiness["is_ready"])
        self.assertEqual([c["check_code"] for c in readiness["checks"] if c["verdict"] == "stop"], ["server_online", "disk_space"][:1])
        preview = self.admin.post("/api/v1/workloads/w1/resolve", {"settings": {"seed": 7}})["scenarios"][0]
        self.assertEqual((preview["replicas"], preview["urls"]), (2, ["http://gpu1:8000", "http://gpu1:8001"]))
        self.assertIn("--seed 7", preview["tool"])
        self.assertIn("--tensor-parallel-size 4", preview["servers"][1])
        stopped = self.admin.post("/api/v1/runs", {"workload_code": "w1"})
        self.assertEqual((stopped["run_code"], stopped["state"], stopped["jobs_total"]), ("w1-r1", "stopped", 0))
        never = self.admin.call("POST", "/api/v1/runs", {"workload_code": "w1", "overrides": [{"check_code": "server_online", "reason": "x"}]})
        self.assertEqual((never.status, never.json["errors"][0]["pointer"]), (422, "/overrides/0/check_code"))
        self.set_online()
        run = self.admin.post("/api/v1/runs", {"workload_code": "w1", "settings": {"seed": 7}, "note": "first"})
        self.assertEqual((run["state"], run["jobs_total"], run["requested_by"]), ("queued", 1, "admin"))
        job = self.admin.get("/api/v1/jobs/w1-r2-j1")
        self.assertEqual([c["kind"] for c in job["commands"]], ["server", "server", "tool"])
        self.assertEqual(job["commands"][1]["devices"], [4, 5, 6, 7])
        self.assertEqual((job["plan"]["replicas"], job["plan"]["request_count"], job["plan"]["source_code"]), (2, 64, "lib1"))
        self.assertEqual(job["plan"]["placeholders"]["tool"]["seed"], {"value": "7", "from": "run", "origin": "settings of the run"})
        self.assertEqual(len(job["plan"]["workload_digest"]), 64)
        self.assertEqual([t["to_state"] for t in job["transitions"]], ["queued"])
        for query in ("workload_code=w1", "run_code=w1-r2", "state=queued,running", "scenario_code=c8&workload_code=w1", "scenario_code=c8"):
            self.assertEqual([j["job_code"] for j in self.admin.get(f"/api/v1/jobs?{query}")["items"]], ["w1-r2-j1"], query)
        self.assertEqual(self.admin.get("/api/v1/jobs?state=running")["items"], [])
        self.assertEqual(self.admin.post("/api/v1/runs/w1-r2/cancel", {"reason": "enough"})["state"], "cancelled")
        self.assertEqual(self.admin.get("/api/v1/jobs/w1-r2-j1")["transitions"][1]["to_state"], "cancelled")
        self.assertEqual(self.admin.call("POST", "/api/v1/runs/w1-r2/cancel", {}).status, 409)
        again = self.admin.post("/api/v1/runs/w1-r2/retry", {})
        self.assertEqual((again["run_code"], again["state"], again["cloned_from"]), ("w1-r3", "queued", "w1-r2"))
        self.assertEqual(self.admin.get("/api/v1/jobs/w1-r3-j1")["plan"]["workload_digest"], job["plan"]["workload_digest"])
        self.assertEqual(self.admin.post("/api/v1/runs/w1-r3/clone", {})["state"], "queued")
        self.check_trace_and_export(job)
        self.check_events()

    def check_trace_and_export(self, job):
        trace = self.admin.get("/api/v1/jobs/w1-r2-j1/trace")
        self.assertEqual((trace["project"]["project_code"], trace["workload"]["workload_code"], trace["scenario"]["scenario_code"], trace["run"]["run_code"]),
                         ("p1", "w1", "c8", "w1-r2"))
        self.assertEqual(trace["job"]["commands"], job["commands"])
        text = self.admin.call("GET", "/api/v1/runs/w1-r2/export").body.decode()
        definition = yaml.safe_load(text)
        self.assertEqual(definition["run"], {"workload_code": "w1", "settings": {"seed": 7}, "note": "first"})
        self.assertEqual(set(definition), {"schema", "projects", "server_configs", "servers", "prompt_sources", "workloads", "scenarios", "run"})
        self.reproduce(definition, job)

    def reproduce(self, definition, job):
        """The exported definition, sent to an empty deployment, gives the same commands."""
        folder = self.folder / "other"
        folder.mkdir()
        other = Plane(folder)
        try:
            client = other.admin()
            for kind in ("projects", "server_configs", "servers", "prompt_sources", "workloads", "scenarios"):
                for thing in definition[kind]:
                    client.post("/api/v1/" + kind.replace("_", "-"), thing)
            self.assertEqual(send_file(client, "lib1", LIBRARY).status, 200)
            other.stop()
            other.sql("UPDATE servers SET state = 'online', last_seen_ns = 1, disk_free_bytes = 4000000000000")
            other.start()
            run = other.admin().post("/api/v1/runs", definition["run"])
            self.assertEqual(run["state"], "queued")
            again = other.admin().get(f"/api/v1/jobs/{run['run_code']}-j1")
            self.assertEqual([c["digest"] for c in again["commands"] if c["kind"] == "server"], [c["digest"] for c in job["commands"] if c["kind"] == "server"])
            self.assertEqual(again["plan"]["workload_digest"], job["plan"]["workload_digest"])
        finally:
            other.stop()

    def test_results_of_nothing_are_an_empty_page_and_a_head(self):
        self.assertEqual(self.admin.get("/api/v1/results?workload_code=w1"), {"items": [], "next": None})
        table = self.admin.call("GET", "/api/v1/results.csv").body.decode()
        self.assertTrue(table.startswith("output_kind,project_code,"))
        self.assertEqual(table.count("\r\n"), 1)
        self.assertEqual(self.admin.call("GET", "/api/v1/results?nope=1").status, 422)

    def check_events(self):
        names, last = self.listen("0", 6)
        self.assertEqual(names, ["run_stopped", "run_queued", "run_cancelled", "run_queued", "run_queued", "run_cancelled"])
        names, _ = self.listen(str(int(last) - 2), 2, make=False)
        self.assertEqual(names, ["run_queued", "run_cancelled"])

    def listen(self, last_event_id, count, make=True):
        """Names of the next events, and the id of the last one; one more is made while the stream is open."""
        sock = self.plane.socket()
        sock.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.plane.token}\r\n"
                     f"Last-Event-ID: {last_event_id}\r\n\r\n".encode())
        names, last = [], None
        with sock, sock.makefile("r", encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("retry:") and make:
                    self.admin.post("/api/v1/runs/w1-r4/cancel", {})
                if line.startswith("id: "):
                    last = line[4:].strip()
                if line.startswith("event: "):
                    names.append(line[7:].strip())
                if line == "\n" and len(names) == count:
                    return names, last
        self.fail(f"the stream ended after {names}")


class Care(Case):
    def test_backup_restore_and_a_new_token(self):
        if not self.plane.is_sqlite:
            self.skipTest("PostgreSQL has tools of its own")
        define(self.admin)
        self.assertEqual(self.plane.stop(), 0)
        copy = self.folder / "copy.db"
        subprocess.run(self.plane.command("backup", copy), check=True, timeout=DEADLINE_S)
        refused = subprocess.run([*self.plane.command("restore", copy)], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(refused.returncode, 73, refused.stderr)
        (self.folder / "plane.db").rename(self.folder / "old.db")
        for suffix in ("-wal", "-shm"):
            (self.folder / ("plane.db" + suffix)).unlink(missing_ok=True)
        subprocess.run(self.plane.command("restore", copy), check=True, timeout=DEADLINE_S)
        token = subprocess.run(self.plane.command("admin-token"), check=True, capture_output=True, text=True, timeout=DEADLINE_S).stdout.strip()
        self.plane.start()
        self.assertEqual(Client(self.plane, token).get("/api/v1/workloads/w1")["workload_code"], "w1")
        diff = subprocess.run([*self.plane.command("recipes", "diff", SOURCE / "data/recipes/engine_args.json")], check=True, capture_output=True,
                              text=True, timeout=DEADLINE_S)
        self.assertIn("0 added", diff.stdout.replace("added 0", "0 added"))

    def test_many_at_once_see_one_winner(self):
        statuses = []

        def make():
            statuses.append(Client(self.plane, self.plane.token).call("POST", "/api/v1/projects", {"project_code": "race", "name": "x"}).status)

        if self.plane.process is None:
            self.plane.start()
        threads = [threading.Thread(target=make) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(statuses), [201] + [409] * 15)


class Binding(unittest.TestCase):
    def test_an_address_that_others_reach_needs_tls(self):
        from plane import SERVE
        refused = subprocess.run([SERVE, "--host", "0.0.0.0", "--port", "0", "--database", "/nonexistent/x.db"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--allow-plaintext-remote", refused.stderr)


if __name__ == "__main__":
    unittest.main()
