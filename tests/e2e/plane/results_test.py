# SPDX-License-Identifier: Apache-2.0
"""Results: pages, filters, exports of any length, comparison, benchmark reports; on a base of jobs of several tools."""

import csv
import io
import json
import subprocess
import sys
import unittest
import urllib.parse

import yaml
from plane import BUILD, DEADLINE_S, SOURCE, Case, Client, define

sys.path.insert(0, str(SOURCE / "bench"))
from plane_seed import seed  # noqa: E402

SUMMARY = SOURCE / "tests/golden/summary/summary.json"
# Rows that no seed makes: a job with two attempts, one of them superseded and of another harness.
SECOND = """
INSERT INTO job_attempts (job_id, attempt, server_id, state, result, leased_ns, gpu_count)
SELECT a.job_id, 2, a.server_id, 'failed', 'superseded', a.leased_ns, 4 FROM job_attempts a JOIN jobs j ON j.id = a.job_id WHERE j.job_code = '{job}';
INSERT INTO tool_invocations (job_attempt_id, tool, argv, command_text, digest)
SELECT a.id, 'guidellm', '[]', 'guidellm', 'e5' FROM job_attempts a JOIN jobs j ON j.id = a.job_id WHERE j.job_code = '{job}' AND a.attempt = 2;
INSERT INTO external_outputs (tool_invocation_id, job_id, job_attempt_id, result, ingested_ns, harness, metric_definition_version, ttft_ms_p50)
SELECT i.id, a.job_id, a.id, 'superseded', 1, 'guidellm', 1, 3.5 FROM tool_invocations i JOIN job_attempts a ON a.id = i.job_attempt_id WHERE i.digest = 'e5';
"""


def items_of(client, query=""):
    """Every item of every page, and how many jobs each page had."""
    items, pages, cursor = [], [], ""
    while cursor is not None:
        page = client.get("/api/v1/results?" + query + (f"&cursor={cursor}" if cursor else ""))
        items += page["items"]
        pages.append(len({item["job_code"] for item in page["items"]}))
        cursor = page["next"]
    return items, pages


class Results(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for number in (1, 2, 3):
            define(cls.admin, number)
        cls.admin.post("/api/v1/scenarios", {"workload_code": "w1", "scenario_code": "c16", "concurrency": 16, "isl_tokens": 256, "osl_tokens": 64,
                                             "request_count": 64})
        cls.plane.stop()
        cls.runs, cls.jobs = seed(cls.plane.database, 80)
        cls.doubled, cls.reported = "w1-r1-c8-j1", "w1-r2-c16-j2"
        cls.plane.sql(SECOND.format(job=cls.doubled))
        cls.plane.sql("UPDATE workloads SET tool = 'metrumbench-llm'; UPDATE workloads SET quantization = 'fp8' WHERE workload_code = 'w2';"
                      "UPDATE models SET family = '=1+1' WHERE model_code = 'meta-llama/Llama-3.3-70B-Instruct';"
                      "UPDATE job_plans SET workload_digest = 'same'; UPDATE metrumbench_llm_outputs SET token_source = 'server'")
        data = SUMMARY.read_bytes().hex()
        literal = f"X'{data}'" if cls.plane.is_sqlite else f"decode('{data}', 'hex')"
        cls.plane.sql(f"UPDATE summary_documents SET bytes = {literal} WHERE tool_invocation_id IN (SELECT i.id FROM tool_invocations i JOIN job_attempts a"
                      f" ON a.id = i.job_attempt_id JOIN jobs j ON j.id = a.job_id WHERE j.job_code = '{cls.reported}')")
        cls.plane.sql("UPDATE summary_documents SET bytes = " + ("X'7b'" if cls.plane.is_sqlite else "decode('7b', 'hex')") + " WHERE tool_invocation_id IN"
                      " (SELECT i.id FROM tool_invocations i JOIN job_attempts a ON a.id = i.job_attempt_id JOIN jobs j ON j.id = a.job_id"
                      f" WHERE j.job_code = '{cls.doubled}')")
        cls.plane.start()
        cls.everything, _ = items_of(cls.admin, "limit=500")

    def test_pages_hold_each_job_once_the_newest_first(self):
        self.assertGreater(len(self.everything), 40)
        for limit in (1, 7, 500):
            items, pages = items_of(self.admin, f"limit={limit}")
            self.assertEqual(items, self.everything, limit)
            self.assertEqual(set(pages[:-1]) - {limit}, set())
        created = [item["created_at"] for item in self.everything]
        self.assertEqual(created, sorted(created, reverse=True))
        twice = [item for item in self.everything if item["job_code"] == self.doubled]
        self.assertEqual([(item["attempt"], item["result"], item["output_kind"]) for item in twice],
                         [(2, "superseded", "guidellm"), (1, "accepted", "metrumbench-llm")])
        self.assertEqual((twice[0]["ttft_ms_p50"], twice[0]["error_rate"], twice[0]["gpus_used"]), (3.5, None, 4))

    def test_every_filter_gives_what_it_says_and_all_of_it(self):
        operation = self.plane.contract.document["paths"]["/api/v1/results"]["get"]
        names = [parameter["name"] for parameter in operation["parameters"]]
        tried = 0
        for name in names:
            if name in ("cursor", "limit") or name.endswith(("_from", "_to")):
                continue
            values = {item[name] for item in self.everything if item[name] is not None}
            self.assertTrue(values or name in ("prompt_source_code",), name)
            for value in sorted(values, key=str)[:3]:
                found, _ = items_of(self.admin, f"limit=500&{name}={urllib.parse.quote(str(value))}")
                self.assertEqual(found, [item for item in self.everything if item[name] == value], f"{name}={value}")
                tried += 1
            self.assertEqual(items_of(self.admin, f"{name}=999999")[0], [], name)
        self.assertGreater(tried, 30)
        middle = self.everything[len(self.everything) // 2]["created_at"]
        for query, keeps in (("created_at_from", lambda at: at >= middle), ("created_at_to", lambda at: at < middle)):
            self.assertEqual(items_of(self.admin, f"limit=500&{query}={middle}")[0], [item for item in self.everything if keeps(item["created_at"])])
        self.assertEqual(items_of(self.admin, "limit=500&finished_at_from=2020-01-01T00:00:00Z")[0], self.everything)
        two, _ = items_of(self.admin, "limit=500&workload_code=w1,w2&scenario_code=c8&result=accepted")
        self.assertEqual(two, [item for item in self.everything
                               if item["workload_code"] in ("w1", "w2") and item["scenario_code"] == "c8" and item["result"] == "accepted"])
        both, _ = items_of(self.admin, "limit=500&output_kind=guidellm,metrumbench-llm")
        self.assertEqual({item["output_kind"] for item in both}, {"guidellm", "metrumbench-llm"})

    def test_exports_are_the_same_rows(self):
        whole = self.admin.get("/api/v1/results.json")
        self.assertEqual(whole, {"items": self.everything, "next": None})
        answer = self.admin.call("GET", "/api/v1/results.csv")
        rows = list(csv.DictReader(io.StringIO(answer.body.decode(), newline="")))
        self.assertEqual(len(rows), len(self.everything))
        for row, item in zip(rows, self.everything):
            self.assertEqual(list(row), list(item))
            for name, value in item.items():
                text = "" if value is None else row[name] if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)
                text = "'" + text if text.startswith("=") else text
                self.assertEqual(row[name], text, name)
                if isinstance(value, float):
                    self.assertEqual(float(row[name]), value)
        self.assertEqual({row["model_family"] for row in rows}, {"'=1+1"})
        part = self.admin.get("/api/v1/results.json?workload_code=w2&limit=3")["items"]
        self.assertEqual(part, [item for item in self.everything if item["workload_code"] == "w2"][:3])
        self.assertEqual(self.admin.call("HEAD", "/api/v1/results.csv").body, b"")

    def test_wrong_queries_are_named(self):
        many = ",".join(f"w{i}" for i in range(17))
        foreign = self.admin.get("/api/v1/jobs?limit=1")["next"]
        for path, pointer in (("results?limit=501", "?limit"), ("results?created_at_from=x", "?created_at_from"), ("results?isl_tokens=x", "?isl_tokens"),
                              (f"results?workload_code={many}", "?workload_code"), ("results?nope=1", "?nope"), (f"results?cursor={foreign}", "?cursor"),
                              ("results.csv?cursor=x", "?cursor"), ("results.json?limit=0", "?limit"), ("results/compare", "?job_code"),
                              ("results/compare?job_code=a", "?job_code"), ("results/compare?job_code=a,a", "?job_code"),
                              ("results/compare?job_code=" + ",".join(f"j{i}" for i in range(17)), "?job_code"),
                              (f"jobs/{self.reported}/report.yaml?attempt=0", "?attempt")):
            answer = self.admin.call("GET", "/api/v1/" + path)
            self.assertEqual((answer.status, answer.json["errors"][0]["pointer"]), (422, pointer), path)

    def test_a_reader_that_goes_away_costs_nothing(self):
        for _ in range(20):
            with self.plane.socket() as sock:
                sock.sendall(f"GET /api/v1/results.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.plane.token}\r\n\r\n".encode())
                self.assertTrue(sock.recv(100).startswith(b"HTTP/1.1 200"))
        self.assertEqual(self.admin.get("/api/v1/results.json")["items"], self.everything)

    def test_equals_get_verdicts_and_others_a_reason(self):
        jobs = [item["job_code"] for item in self.everything if item["result"] == "accepted" and item["output_kind"] == "metrumbench-llm"][:3]
        answer = self.admin.get("/api/v1/results/compare?job_code=" + ",".join(jobs))
        self.assertEqual((answer["jobs"], answer["is_comparable"], answer["reasons"]), (jobs, True, []))
        by_name = {figure["member"]: figure for figure in answer["figures"]}
        items = [next(item for item in self.everything if item["job_code"] == job and item["result"] == "accepted") for job in jobs]
        for name, better in (("ttft_ms_p50", "lower"), ("completion_tokens_per_second", "higher"), ("avg_gpu_power_w", None)):
            figure = by_name[name]
            values = [item[name] for item in items]
            self.assertEqual((figure["values"], figure["better"]), (values, better))
            self.assertAlmostEqual(figure["ratios"][1], values[1] / values[0])
            expected = [None] * 3 if better is None else ["equal"] + ["better" if (value < values[0]) == (better == "lower") else "worse" for value in values[1:]]
            self.assertEqual([word if values[i] != values[0] or better is None else "equal" for i, word in enumerate(expected)], figure["verdicts"])
        self.assertNotIn("rtfx_pooled", by_name)
        self.refuse_verdict(jobs, "UPDATE job_plans SET workload_digest = 'other' WHERE job_id = (SELECT id FROM jobs WHERE job_code = '{0}')", "workload_digest")
        self.refuse_verdict(jobs, "UPDATE metrumbench_llm_outputs SET token_source = 'tokenizer' WHERE job_id = (SELECT id FROM jobs WHERE job_code = '{0}')",
                            "workload_digest", "token_source")
        self.refuse_verdict(jobs, "UPDATE metrumbench_llm_outputs SET percentile_method = 'linear', metric_definition_version = 2, token_source = NULL "
                                  "WHERE job_id IN (SELECT id FROM jobs WHERE job_code IN ('{0}'))",
                            "workload_digest", "metric_definition_version", "percentile_method", "token_source")
        type(self).everything, _ = items_of(self.admin, "limit=500")
        missing = self.admin.call("GET", f"/api/v1/results/compare?job_code={jobs[0]},nope")
        self.assertEqual(missing.status, 404)
        self.assertIn("nope", missing.json["detail"])

    def refuse_verdict(self, jobs, statement, *codes):
        self.plane.stop()
        self.plane.sql(statement.format(jobs[1]))
        self.plane.start()
        answer = self.admin.get("/api/v1/results/compare?job_code=" + ",".join(jobs))
        self.assertEqual((answer["is_comparable"], [reason["code"] for reason in answer["reasons"]]), (False, list(codes)))
        self.assertEqual({figure["verdicts"] for figure in answer["figures"] if not isinstance(figure["verdicts"], list)}, {None})
        self.assertTrue(all(figure["verdicts"] is None for figure in answer["figures"]))
        self.assertTrue(all(len(reason["values"]) == len(jobs) for reason in answer["reasons"]))

    def test_differences_of_what_they_ran_on_are_listed_and_allowed(self):
        answer = self.admin.get(f"/api/v1/results/compare?job_code={self.everything_of('w1')},{self.everything_of('w2')}")
        differences = {difference["member"]: difference["values"] for difference in answer["differences"]}
        self.assertEqual((differences["workload_code"], differences["hostname"], differences["quantization"]), (["w1", "w2"], ["gpu1", "gpu2"], [None, "fp8"]))

    def everything_of(self, workload):
        return next(item["job_code"] for item in self.everything if item["workload_code"] == workload and item["result"] == "accepted")

    def test_a_result_is_a_valid_benchmark_report(self):
        text = self.admin.call("GET", f"/api/v1/jobs/{self.reported}/report.yaml").body
        report = yaml.safe_load(text)
        self.assertEqual(self.admin.get(f"/api/v1/jobs/{self.reported}/report.json"), json.loads(json.dumps(report)))
        checked = subprocess.run([BUILD / "assay", "report", "validate", "-"], input=text, capture_output=True, timeout=DEADLINE_S)
        if checked.returncode == 64:
            file = self.folder / "report.yaml"
            file.write_bytes(text)
            checked = subprocess.run([BUILD / "assay", "report", "validate", file], capture_output=True, timeout=DEADLINE_S)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertEqual((report["version"], report["run"]["uid"]), ("0.2.1", json.loads(SUMMARY.read_text())["unique_id"]))
        stack = report["scenario"]["stack"][0]
        self.assertEqual((stack["standardized"]["tool"], stack["standardized"]["tool_version"]), ("vllm", "0.12.0"))
        self.assertEqual(stack["standardized"]["accelerator"]["model"], "h100")
        self.assertEqual(stack["native"]["config"]["sut"]["job"], self.reported)
        self.assertGreater(len(report["results"]["observability"]["components"]), 0)
        self.assertIn("mean", report["results"]["request_performance"]["aggregate"]["latency"]["time_to_first_token"])

    def test_what_cannot_be_a_report_is_told(self):
        damaged = self.admin.call("GET", f"/api/v1/jobs/{self.doubled}/report.yaml")
        self.assertEqual((damaged.status, damaged.json["type"]), (409, "urn:assay:problem:state"))
        self.assertEqual(self.admin.call("GET", f"/api/v1/jobs/{self.doubled}/report.yaml?attempt=7").status, 404)
        self.assertEqual(self.admin.call("GET", "/api/v1/jobs/nope/report.json").status, 404)

    def test_results_of_another_tenant_are_not_there(self):
        made = self.admin.post("/api/v1/tenants", {"tenant_code": "elsewhere", "name": "Elsewhere"})
        other = Client(self.plane, made["admin_token"])
        self.assertEqual(other.get("/api/v1/results"), {"items": [], "next": None})
        self.assertEqual(other.get("/api/v1/results.json?workload_code=w1"), {"items": [], "next": None})
        self.assertEqual(other.call("GET", "/api/v1/results.csv").body.count(b"\r\n"), 1)
        self.assertEqual(other.call("GET", f"/api/v1/results/compare?job_code={self.everything_of('w1')},{self.everything_of('w2')}").status, 404)
        mine = other.call("GET", f"/api/v1/jobs/{self.reported}/report.yaml")
        self.assertEqual((mine.status, mine.body), (404, other.call("GET", "/api/v1/jobs/nope/report.yaml").body))

    def test_the_shell_lists_shows_compares_and_exports(self):
        def ctl(*words, code=0):
            done = subprocess.run([BUILD / "libexec/assay/assay-ctl", *words, "--server", self.plane.url, "--token-file", self.folder / "token"],
                                  capture_output=True, text=True, timeout=DEADLINE_S)
            self.assertEqual(done.returncode, code, done.stderr)
            return done
        one, two = self.everything_of("w1"), self.everything_of("w2")
        self.assertEqual(json.loads(ctl("results", "list", "--json", "--limit", "500").stdout), self.everything)
        self.assertIn(one, ctl("results", "list", "--filter", "workload_code=w1").stdout)
        self.assertEqual(json.loads(ctl("results", "show", one, "--json", "--filter", "result=accepted").stdout)["job_code"], one)
        compared = ctl("results", "compare", one, two)
        self.assertIn("ttft_ms_p50", compared.stdout)
        self.assertIn("hostname: gpu1, gpu2", compared.stderr)
        self.assertEqual(json.loads(ctl("results", "compare", one, two, "--json").stdout)["jobs"], [one, two])
        self.assertEqual(ctl("results", "export").stdout.count("\n"), len(self.everything) + 1)
        self.assertEqual(json.loads(ctl("results", "export", one, "--format", "json").stdout)["items"],
                         [item for item in self.everything if item["job_code"] == one])
        report = ctl("results", "export", self.reported, "--format", "report").stdout
        self.assertEqual(report.encode(), self.admin.call("GET", f"/api/v1/jobs/{self.reported}/report.yaml").body)
        self.assertEqual(json.loads(ctl("results", "export", self.reported, "--format", "report-json").stdout)["version"], "0.2.1")
        self.assertIn("of one job", ctl("results", "export", "--format", "report", code=2).stderr)
        self.assertIn("no such thing", ctl("results", "export", "nope", "--format", "report", code=66).stderr)


if __name__ == "__main__":
    unittest.main()
