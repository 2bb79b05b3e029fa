# SPDX-License-Identifier: Apache-2.0
"""Jobs leased to agents: who gets what, renewal, cancel, expiry, retries, tokens that die with the attempt."""

import threading
import time
import unittest

from agents_test import agent_client, speak, wait_for
from plane import Case, Client, define

AT = "2026-01-01T00:00:00Z"
GPUS = [{"gpu_index": i} for i in range(8)]


class Leases(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        define(cls.admin)
        cls.agent = agent_client(cls)
        cls.register("gpu1")
        cls.nonces = 0

    @classmethod
    def register(cls, hostname, **more):
        cls.agent.post("/api/v1/agent/register", speak(hostname, agent_version="1", disk_free_bytes=4 << 40, gpus=GPUS, **more))

    def workload(self, code, scenarios=1, **more):
        """A workload for any server of the hardware, and a run of it."""
        self.admin.post("/api/v1/workloads", {
            "workload_code": code, "project_code": "p1", "name": "Workload", "tool": "metrumbench-llm",
            "model_code": "meta-llama/Llama-3.3-70B-Instruct", "framework_code": "vllm", "framework_version": "0.12.0",
            "set_code": "vllm-llama33-70b-instruct-h100-tp4", "config_code": "dgx1", "source_code": "lib1", **more})
        for i in range(scenarios):
            self.admin.post("/api/v1/scenarios", {"workload_code": code, "scenario_code": f"c{i + 1}", "concurrency": i + 1, "isl_tokens": 512,
                                                  "osl_tokens": 128, "request_count": 64})
        run = self.admin.post("/api/v1/runs", {"workload_code": code})
        self.assertEqual((run["state"], run["jobs_total"]), ("queued", scenarios), run["checks"])
        return run["run_code"]

    def ask(self, hostname="gpu1", nonce=None, wait_s=0):
        if nonce is None:
            type(self).nonces += 1
            nonce = f"n{self.nonces}"
        return self.agent.call("POST", "/api/v1/agent/lease", speak(hostname, lease_nonce=nonce, agent_version="1", wait_s=wait_s))

    def lease(self, hostname="gpu1"):
        answer = self.ask(hostname)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def attempt(self, lease, act, **members):
        return Client(self.plane, lease["token"]).call("POST", f"/api/v1/jobs/{lease['job_code']}/attempts/{lease['attempt']}/{act}",
                                                       {"protocol_version": 1, **members})

    def state(self, lease, state, **more):
        answer = self.attempt(lease, "state", state=state, at=AT, **more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json["job_state"]

    def job(self, code):
        return self.admin.get("/api/v1/jobs/" + code)

    def test_a_job_from_lease_to_success(self):
        self.assertEqual(self.ask().status, 204)
        run = self.workload("whole")
        lease = self.lease()
        self.assertEqual((lease["job_code"], lease["attempt"], lease["run_code"]), (run + "-j1", 1, run))
        self.assertEqual((lease["term_s"], lease["fence_s"], lease["renew_s"], lease["poll_s"]), (300, 285, 15, 5))
        self.assertEqual([c["kind"] for c in lease["commands"]], ["server", "server", "tool"])
        self.assertEqual(lease["plan"]["request_count"], 64)
        self.assertEqual(self.admin.get("/api/v1/runs/" + run)["state"], "running")
        self.assertEqual(self.attempt(lease, "renew").json, {"is_cancelled": False, "state": "leased", "term_s": 300})
        for state in ("starting", "running", "running", "uploading", "succeeded"):
            self.assertEqual(self.state(lease, state), state)
            self.assertEqual(self.job(lease["job_code"])["state"], state)
        self.assertEqual([t["to_state"] for t in self.job(lease["job_code"])["transitions"]],
                         ["queued", "leased", "starting", "running", "uploading", "succeeded"])
        run = self.admin.get("/api/v1/runs/" + run)
        self.assertEqual((run["state"], run["jobs_succeeded"], run["jobs_failed"]), ("succeeded", 1, 0))
        self.assertIsNotNone(run["finished_at"])
        self.assertEqual(self.attempt(lease, "renew").status, 401)

    def test_a_lost_answer_is_given_again_and_a_second_job_is_not(self):
        self.workload("again", 2)
        first = self.ask(nonce="lost").json
        again = self.ask(nonce="lost").json
        self.assertEqual((first["job_code"], first["attempt"]), (again["job_code"], again["attempt"]))
        self.assertEqual(self.ask().status, 409)
        self.assertEqual(self.attempt(first, "renew").status, 200)
        self.assertEqual(self.attempt(again, "renew").status, 200)
        other = {**again, "job_code": again["job_code"][:-1] + "2"}
        for lease in (other, {**again, "attempt": 2}, {**again, "attempt": "01"}):
            self.assertEqual(self.attempt(lease, "renew").status, 404)
        self.assertEqual(Client(self.plane, again["token"]).call("GET", "/api/v1/jobs").status, 403)
        self.assertEqual(self.attempt({**again, "token": self.plane.token}, "renew").status, 403)
        self.state(again, "succeeded")
        self.assertEqual(self.attempt(first, "renew").status, 401)
        self.state(self.lease(), "succeeded")

    def test_many_agents_get_each_job_once(self):
        hosts = [f"many{i}" for i in range(12)]
        for host in hosts:
            self.register(host, labels={"pool": "many"})
        run = self.workload("many", 8, server_labels={"pool": "many"})
        self.assertEqual(self.ask().status, 204)
        leases, others, gate = [], [], threading.Barrier(len(hosts))

        def take(host):
            gate.wait()
            answer = self.agent.call("POST", "/api/v1/agent/lease", speak(host, lease_nonce="n-" + host, agent_version="1"))
            (leases if answer.status == 200 else others).append(answer)

        for _ in range(2):  # what a collision left is taken by the second round; who has a job gets it again
            threads = [threading.Thread(target=take, args=(host,)) for host in hosts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual({answer.status for answer in others}, {204})
        taken = {(answer.json["job_code"], answer.json["attempt"]) for answer in leases}
        self.assertEqual(taken, {(f"{run}-j{i + 1}", 1) for i in range(8)})
        servers = {}
        for answer in leases:
            last = servers.setdefault(answer.json["job_code"], answer.json)
            self.assertEqual([t["actor"] for t in answer.json["transitions"]], [t["actor"] for t in last["transitions"]])
        for lease in servers.values():
            self.state(lease, "succeeded")
        self.assertEqual(self.admin.get("/api/v1/runs/" + run)["state"], "succeeded")

    def test_a_waiting_agent_gets_a_job_that_comes_and_204_when_none_does(self):
        began = time.monotonic()
        self.assertEqual(self.ask(wait_s=2).status, 204)
        self.assertGreaterEqual(time.monotonic() - began, 2)
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(self.ask(wait_s=30)))
        waiting.start()
        self.workload("late")
        waiting.join()
        self.assertEqual(answers[0].status, 200)
        self.state(answers[0].json, "succeeded")

    def test_a_cancel_is_seen_in_the_renewal(self):
        run = self.workload("stopped")
        lease = self.lease()
        self.state(lease, "running")
        self.assertEqual(self.admin.post(f"/api/v1/runs/{run}/cancel", {})["state"], "cancelling")
        self.assertTrue(self.attempt(lease, "renew").json["is_cancelled"])
        self.assertEqual(self.state(lease, "cancelled"), "cancelled")
        self.assertEqual(self.admin.get("/api/v1/runs/" + run)["state"], "cancelled")

    def test_only_what_sent_no_measured_request_is_tried_again_by_itself(self):
        self.workload("retried")
        for reason, then in (("port_taken", "queued"), ("no_disk", "queued"), ("no_driver", "failed")):
            lease = self.lease()
            self.state(lease, "starting")
            self.assertEqual(self.state(lease, "failed", reason_code=reason), then)
        self.assertEqual(lease["attempt"], 3)
        self.workload("same")
        self.assertEqual([self.state(self.lease(), "failed", reason_code="port_taken") for _ in range(2)], ["queued", "failed"])
        run = self.workload("measured")
        lease = self.lease()
        self.state(lease, "running")
        self.assertEqual(self.state(lease, "failed", reason_code="server_died"), "failed")
        run = self.admin.get("/api/v1/runs/" + run)
        self.assertEqual((run["state"], run["jobs_failed"]), ("failed", 1))
        self.assertEqual(self.attempt(lease, "state", state="succeeded", at=AT).status, 401)

    def test_states_go_forward_only(self):
        self.workload("forward")
        lease = self.lease()
        self.state(lease, "uploading")
        self.assertEqual(self.attempt(lease, "state", state="running", at=AT).status, 409)
        self.state(lease, "succeeded")

    def test_z_leases_that_nobody_renews_are_taken_back(self):
        self.register("gpu2")
        self.workload("expired", 2)
        early, late = self.lease(), self.lease("gpu2")
        self.state(late, "running")
        self.assertEqual(self.plane.stop(), 0)
        self.plane.sql("UPDATE job_attempts SET lease_term_s = 5")
        self.plane.start()
        self.assertEqual(self.job(early["job_code"])["state"], "leased")  # a full term from the start on
        wait_for(lambda: self.job(late["job_code"])["state"] == "lost")
        wait_for(lambda: self.job(early["job_code"])["state"] == "queued")
        self.assertEqual(self.job(early["job_code"])["transitions"][-1]["reason_code"], "lease_expired")
        for lease in (early, late):
            self.assertEqual(self.attempt(lease, "renew").status, 401)
        second = self.lease()
        self.assertEqual((second["job_code"], second["attempt"]), (early["job_code"], 2))
        self.state(second, "succeeded")


if __name__ == "__main__":
    unittest.main()
