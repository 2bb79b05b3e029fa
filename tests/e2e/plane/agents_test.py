# SPDX-License-Identifier: Apache-2.0
"""Agents: registering a server, being there, being refused."""

import time
import unittest

from plane import DEADLINE_S, Case, Client, define


def agent_client(case, code="agent", **more):
    """A client with an agent's token."""
    if not any(user["user_name"] == "agents" for user in case.admin.get("/api/v1/users")["items"]):
        case.admin.post("/api/v1/users", {"user_name": "agents", "role": "agent"})
    token = case.admin.post("/api/v1/tokens", {"token_code": code, "user_name": "agents", "role": "agent", **more})["token"]
    return Client(case.plane, token)


def speak(hostname="gpu1", config="dgx1", **more):
    return {"protocol_version": 1, "config_code": config, "hostname": hostname, **more}


def wait_for(what, told="it does not come"):
    until = time.monotonic() + DEADLINE_S
    while not what():
        assert time.monotonic() < until, told
        time.sleep(0.1)


class Agents(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        define(cls.admin)
        cls.agent = agent_client(cls)

    def server(self, hostname="gpu1"):
        return self.admin.get(f"/api/v1/servers/dgx1/{hostname}")

    def test_a_first_word_makes_the_server(self):
        gpus = [{"gpu_index": i, "gpu_uuid": f"GPU-{i}", "name": "H100", "memory_bytes": 80 << 30} for i in range(2)]
        made = self.agent.post("/api/v1/agent/register", speak("new1", agent_version="0.9.0", labels={"rack": "a"}, gpus=gpus, driver_version="550.1",
                                                                fingerprint={"cpu": "x"}, disk_free_bytes=5 << 30, secrets_present=["hf-token"]))
        self.assertEqual((made["state"], made["agent_version"], made["labels"]), ("online", "0.9.0", {"rack": "a"}))
        self.assertEqual([gpu["gpu_uuid"] for gpu in made["gpus"]], ["GPU-0", "GPU-1"])
        self.assertEqual(len(made["fingerprint_digest"]), 64)
        self.assertIsNotNone(made["last_seen_at"])
        again = self.agent.post("/api/v1/agent/register", speak("new1", agent_version="0.9.1"))
        self.assertEqual((again["agent_version"], again["labels"], len(again["gpus"]), again["secrets_present"]),
                         ("0.9.1", {"rack": "a"}, 2, ["hf-token"]))
        self.assertEqual(again["created_at"], made["created_at"])
        self.assertEqual([s["hostname"] for s in self.admin.get("/api/v1/servers?hostname=new1")["items"]], ["new1"])
        acts = [a for a in self.admin.get("/api/v1/audit-log?limit=100")["items"] if a["action"] == "register" and a["object_code"] == "dgx1/new1"]
        self.assertEqual([a["actor"] for a in acts], ["agents"])

    def test_what_an_agent_says_makes_a_run_ready(self):
        checks = {c["check_code"]: c["verdict"] for c in self.admin.post("/api/v1/workloads/w1/check", {})["checks"]}
        self.assertEqual(checks["server_online"], "stop")
        self.agent.post("/api/v1/agent/register", speak(agent_version="1", disk_free_bytes=4 << 40))
        self.assertEqual(len(self.server()["gpus"]), 8)
        checks = {c["check_code"]: c["verdict"] for c in self.admin.post("/api/v1/workloads/w1/check", {})["checks"]}
        self.assertEqual((checks["server_online"], checks["disk_space"]), ("pass", "pass"))

    def test_protocols_too_far_apart_are_told_what_to_do(self):
        for path, more in (("register", {"agent_version": "1"}), ("heartbeat", {})):
            answer = self.agent.call("POST", "/api/v1/agent/" + path, {**speak(**more), "protocol_version": 2})
            self.assertEqual((answer.status, answer.json["type"]), (426, "urn:assay:problem:upgrade-required"))
            self.assertIn("update the server", answer.json["detail"])

    def test_a_server_must_be_known_in_use_and_the_tokens(self):
        self.assertEqual(self.agent.call("POST", "/api/v1/agent/heartbeat", speak("stranger")).status, 409)
        answer = self.agent.call("POST", "/api/v1/agent/register", speak(config="nope", agent_version="1"))
        self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (422, "/config_code"))
        self.agent.post("/api/v1/agent/register", speak("bound", agent_version="1"))
        bound = agent_client(self, "bound", config_code="dgx1", hostname="bound")
        self.assertEqual(bound.post("/api/v1/agent/heartbeat", speak("bound"))["state"], "online")
        for path, more in (("register", {"agent_version": "1"}), ("heartbeat", {})):
            for hostname in ("gpu1", "another"):
                self.assertEqual(bound.call("POST", "/api/v1/agent/" + path, speak(hostname, **more)).status, 403)
        self.agent.post("/api/v1/agent/register", speak("old", agent_version="1"))
        revision = self.server("old")["revision"]
        self.admin.ok("DELETE", "/api/v1/servers/dgx1/old", headers={"If-Match": f'"{revision}"'})
        self.assertEqual(self.agent.call("POST", "/api/v1/agent/register", speak("old", agent_version="1")).status, 409)

    def test_another_tenant_sees_none_of_it(self):
        other = Client(self.plane, self.admin.post("/api/v1/tenants", {"tenant_code": "other", "name": "Other"})["admin_token"])
        other.post("/api/v1/users", {"user_name": "agents", "role": "agent"})
        token = other.post("/api/v1/tokens", {"token_code": "agent", "user_name": "agents", "role": "agent"})["token"]
        answer = Client(self.plane, token).call("POST", "/api/v1/agent/register", speak(agent_version="1"))
        self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (422, "/config_code"))
        self.assertEqual(other.get("/api/v1/servers")["items"], [])

    def test_z_a_silent_server_comes_back_by_one_word(self):
        self.agent.post("/api/v1/agent/register", speak("quiet", agent_version="1"))
        self.assertEqual(self.plane.stop(), 0)
        self.plane.sql("UPDATE servers SET state = 'silent', last_seen_ns = 1 WHERE hostname = 'quiet'")
        self.plane.sql("UPDATE servers SET state = 'draining' WHERE hostname = 'gpu1'")
        self.plane.start()
        self.assertEqual(self.server("quiet")["state"], "silent")
        answer = self.agent.post("/api/v1/agent/heartbeat", speak("quiet"))
        self.assertEqual((answer["state"], answer["heartbeat_s"], answer["silent_s"]), ("online", 15, 60))
        wait_for(lambda: self.server("quiet")["state"] == "online")
        self.assertGreater(self.server("quiet")["last_seen_at"], "2020")
        self.assertEqual(self.agent.post("/api/v1/agent/register", speak(agent_version="1"))["state"], "draining")


if __name__ == "__main__":
    unittest.main()
