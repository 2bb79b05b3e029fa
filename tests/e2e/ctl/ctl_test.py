# SPDX-License-Identifier: Apache-2.0
"""assay ctl against a served store: define, apply, check, resolve, export, and the same on an empty second deployment."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["ASSAY_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["ASSAY_BUILD_DIR"])
sys.path.insert(0, str(SOURCE / "tests/e2e/plane"))
import plane  # noqa: E402

LAB = SOURCE / "examples/lab.yaml"
WORKLOAD = "llama"
DEADLINE_S = 30


class Answer:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)


class Deployment:
    """An empty deployment, and ctl that speaks to it."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-ctl-"))
        self.plane = plane.Plane(self.folder)

    def ctl(self, *words, given=None, token=True, server=None):
        environment = {**os.environ, "ASSAY_SERVER": server or self.plane.url}
        environment.pop("ASSAY_TOKEN", None)
        if token:
            environment["ASSAY_TOKEN"] = self.plane.token
        return Answer(subprocess.run([str(BUILD / "assay"), "ctl", *map(str, words)], input=given, capture_output=True, text=True,
                                     env=environment, timeout=DEADLINE_S))

    def ok(self, *words, **more):
        answer = self.ctl(*words, **more)
        assert answer.code == 0, (words, answer.code, answer.err, answer.out)
        return answer

    def workers(self, statement):
        """What only workers do: the store is changed while the plane is stopped."""
        self.plane.stop()
        self.plane.sql(statement)
        self.plane.start()

    def close(self):
        if self.plane.process:
            self.plane.stop()
        shutil.rmtree(self.folder)


def lines(answer, first):
    return [line for line in answer.out.splitlines() if line.startswith(first)]


class Lifecycle(unittest.TestCase):
    def setUp(self):
        self.one = Deployment()
        self.addCleanup(self.one.close)

    def test_define_and_reproduce(self):
        one = self.one
        plan = one.ok("apply", "-f", LAB, "--dry-run")
        self.assertEqual(len(lines(plan, "to create")), 7)
        self.assertEqual(one.ok("get", "projects", "--json").json, [], "a dry run wrote something")
        self.assertEqual(len(lines(one.ok("apply", "-f", LAB), "created ")), 7)
        again = one.ok("apply", "-f", LAB, "--json").json
        self.assertEqual({step["action"] for step in again}, {"unchanged"})

        check = one.ctl("check", WORKLOAD)
        self.assertEqual(check.code, 1)
        self.assertIn("server_online", check.out)
        self.assertTrue(check.out.endswith("not ready\n"))
        self.assertFalse(one.ctl("check", WORKLOAD, "--json").json["is_ready"])
        resolved = one.ok("resolve", WORKLOAD, "--scenario", "c8")
        self.assertIn("vllm serve meta-llama/Llama-3.3-70B-Instruct", resolved.out)
        self.assertNotIn("c32", resolved.out)

        started = one.ctl("run", "start", WORKLOAD, "--note", "first")
        self.assertEqual(started.code, 1)
        code = started.out.split(":")[0]
        self.assertIn("stopped", started.out)
        watched = one.ctl("run", "watch", code)
        self.assertEqual((watched.code, watched.out.split(":")[0]), (1, code))
        text = one.ok("export", "run", code).out
        same = one.ok("apply", "-f", "-", given=text)
        self.assertEqual(len(lines(same, "unchanged")), 7)
        self.assertEqual(len(lines(same, "not started")), 1)

        two = Deployment()
        self.addCleanup(two.close)
        made = two.ctl("apply", "-f", "-", "--start", given=text)
        self.assertEqual(made.code, 1, made.err)  # its run is stopped by the same check
        self.assertEqual(len(lines(made, "created ")), 7)
        self.assertEqual(len(lines(made, "started ")), 1)
        self.assertEqual(two.ok("resolve", WORKLOAD, "--json").json, one.ok("resolve", WORKLOAD, "--json").json)
        second = two.ok("get", "runs", "--json").json[0]["run_code"]
        self.assertEqual(self.exported(two, second), self.exported(one, code))

    @staticmethod
    def exported(deployment, code):
        return re.sub(r"^#.*\n", "", deployment.ok("export", "run", code).out)

    def test_changes_and_what_is_refused(self):
        one = self.one
        one.ok("apply", "-f", LAB)
        changed = LAB.read_text().replace("concurrency: 8,", "concurrency: 4,")
        steps = [step for step in one.ok("apply", "-f", "-", "--json", given=changed).json if step["action"] != "unchanged"]
        self.assertEqual(steps, [{"action": "changed", "kind": "scenario", "key": "llama/c8", "members": "concurrency"}])
        self.assertEqual(one.ok("get", "scenario", "llama/c8", "--json").json["concurrency"], 4)

        bad = "project: {project_code: fresh, name: Fresh}\n---\nscenarios:\n  - {workload_code: llama, scenario_code: x, concurency: 4}\n"
        answer = one.ctl("apply", "-f", "-", given=bad)
        self.assertEqual(answer.code, 65)
        self.assertEqual(answer.err, "assay ctl: standard input, document 2, line 4: scenario llama/x: concurency is no member that can be given\n")
        self.assertEqual(one.ctl("get", "project", "fresh").code, 66, "the file was half applied")
        refused = one.ctl("apply", "-f", "-", given="scenarios:\n- {workload_code: llama, scenario_code: x, concurrency: 0}\n")
        self.assertEqual(refused.code, 65)
        self.assertIn("standard input, document 1, line 2: scenario llama/x: concurrency must be", refused.err)
        one.ok("retire", "scenario", "llama", "c32")
        retired = one.ctl("apply", "-f", LAB)
        self.assertEqual(retired.code, 70)
        self.assertIn("scenario llama/c32: it was retired", retired.err)

    def test_things_one_by_one(self):
        one = self.one
        one.ok("create", "project", "project_code=p", "name=A name", "description=one\ntwo")
        self.assertEqual(one.ctl("create", "project", "project_code=p", "name=B").code, 73)
        table = one.ok("get", "projects", "--columns", "project_code,description,name")
        self.assertEqual(table.out, "PROJECT_CODE  DESCRIPTION  NAME\np             one\\ntwo     A name\n")
        one.ok("set", "project", "p", "name=B", "description:=null")
        self.assertIn("name          B\n", one.ok("get", "project", "p").out)
        wrong = one.ctl("set", "project", "p", "name:=5")
        self.assertEqual(wrong.code, 65)
        self.assertRegex(wrong.err, "^assay ctl: name must be ")
        one.ok("retire", "project", "p")
        self.assertEqual(one.ok("get", "projects", "--json").json, [])
        self.assertEqual(len(one.ok("get", "projects", "--filter", "retired=true", "--json").json), 1)
        self.assertEqual(one.ctl("get", "projects", "--sort", "nothing").code, 65)
        models = one.ctl("get", "models", "--limit", "3", "--json")
        self.assertEqual(len(models.json), 3)
        self.assertIn("there are more than 3", models.err)
        self.assertGreater(len(one.ok("get", "engine-args-sets", "--limit", "100000", "--json").json), 50, "pages are not followed")
        self.assertEqual(one.ok("get", "models", models.json[1]["model_code"], "--json").json["model_code"], models.json[1]["model_code"])

    def test_who_asks(self):
        one = self.one
        self.assertIn("user_name    admin", one.ok("whoami").out)
        nobody = one.ctl("get", "projects", token=False)
        self.assertEqual(nobody.code, 77)
        self.assertIn("give --token-file or ASSAY_TOKEN", nobody.err)
        made = one.ok("token", "create", "reader", "user_name=admin", "role=viewer", "--json").json
        file = one.folder / "reader"
        file.write_text(made["token"] + "\n")
        reader = one.ctl("create", "project", "project_code=p", "name=P", "--token-file", file, token=False)
        self.assertEqual(reader.code, 77, reader.err)
        self.assertIn("API version", one.ok("version").out)
        one.ctl("events", token=False)

    def test_results_are_asked_for(self):
        one = self.one
        self.assertTrue(one.ok("results", "list").out.startswith("JOB_CODE"))
        self.assertIn("job_code", one.ok("results", "export").out.splitlines()[0])
        self.assertEqual(one.ok("results", "export", "--format", "json").json, {"items": [], "next": None})
        self.assertEqual(one.ctl("results", "compare", "a", "b").code, 66)
        self.assertEqual(one.ctl("trace", "nothing").code, 66)

    def test_a_run_from_its_start_to_its_end(self):
        one = self.one
        one.ok("apply", "-f", LAB)
        one.ok("prompts", "upload", "own-prompts", "-", given='{"prompt": "Hello"}\n')
        one.workers("UPDATE servers SET state = 'online', last_seen_ns = 9000000000000000000, disk_free_bytes = 9000000000000")
        started = one.ctl("run", "start", WORKLOAD)
        if started.code != 0:
            self.fail(started.out + started.err)
        code = started.out.split(":")[0]
        job = one.ok("get", "jobs", "--filter", f"run_code={code}", "--json").json[0]["job_code"]
        self.assertIn("scenario\n", one.ok("trace", job).out)
        self.assertEqual(one.ok("trace", job, "--json").json["run"]["run_code"], code)
        with subprocess.Popen([str(BUILD / "assay"), "ctl", "run", "watch", code], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "ASSAY_SERVER": one.plane.url, "ASSAY_TOKEN": one.plane.token}) as watch:
            self.assertIn("queued", watch.stdout.readline())
            one.ok("run", "cancel", code, "--note", "enough")
            rest = watch.stdout.read()
            self.assertEqual(watch.wait(DEADLINE_S), 1)
        self.assertIn("cancelled", rest)
        again = one.ctl("run", "retry", code)
        self.assertEqual(again.code, 0, again.err)
        self.assertEqual(one.ctl("run", "clone", code, "--note", "once more").code, 0)

    def test_kinds_are_the_contracts(self):
        contract = json.loads(self.one.plane.raw_get("/api/v1/openapi.json"))
        listed = {line.split()[0]: line.split(maxsplit=1)[1].split(" / ") if " " in line.strip() else []
                  for line in self.one.ok("kinds").out.splitlines()}
        served = {}
        for path, operations in contract["paths"].items():
            match = re.match(r"^/api/v1/([a-z-]+)((?:/\{[a-z_]+\})*)$", path)
            if match and "get" in operations and "post" in operations or path in ("/api/v1/jobs", "/api/v1/audit-log"):
                served[match[1]] = []
        for path, operations in contract["paths"].items():
            match = re.match(r"^/api/v1/([a-z-]+)((?:/\{[a-z_]+\})+)$", path)
            if match and match[1] in served and "get" in operations:
                served[match[1]] = re.findall(r"\{([a-z_]+)\}", match[2])
        self.assertEqual(listed, served)
        for kind in listed:
            rows = contract["paths"][f"/api/v1/{kind}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["items"]
            members = contract["components"]["schemas"][rows["items"]["$ref"].split("/")[-1]]["properties"]
            heading = self.one.ok("get", kind, "--limit", "1").out.splitlines()[0].lower().split()
            self.assertEqual([name for name in heading if name not in members], [], kind)

    def test_the_page_of_the_api(self):
        """The commands of docs/api.md, as they stand there."""
        page = (SOURCE / "docs/api.md").read_text()
        script = re.search(r"## From a shell\n.*?```sh\n(.*?)```", page, re.S)[1]
        environment = {**os.environ, "ASSAY_SERVER": self.one.plane.url, "ASSAY_TOKEN": self.one.plane.token,
                       "PATH": f"{BUILD}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-eu", "-c", script], cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("created      workload llama", done.stdout)
        self.assertIn("unchanged    workload llama", done.stdout)


if __name__ == "__main__":
    unittest.main()
