# SPDX-License-Identifier: Apache-2.0
"""Fills a store with jobs over the whole chain: runs, jobs, plans, commands, attempts, invocations, summaries, outputs of
three tools, telemetry roll-ups, checks, flags, logs, evidence, audit log. The store is stopped and holds workloads with
scenarios. All rows come from INSERT ... SELECT, so one text serves SQLite and PostgreSQL; which columns a table has is read
from the store, and a column that is not named here gets a value by its type when it may not be null or is a number."""

import sqlite3
import subprocess

HOUR_NS = 3600 * 10**9
FIRST_NS = 1_780_000_000 * 10**9
OUTPUTS = (("llm", "0, 1, 2, 3, 4, 5, 6"), ("vlm", "7, 8"), ("asr", "9"))
DEPTH_TEXT = "x" * 400


class Sqlite:
    true, false = "1", "0"

    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.execute("PRAGMA foreign_keys = ON")

    def columns(self, table):
        """name, type, whether it must be given"""
        rows = self.connection.execute(f"PRAGMA table_info({table})").fetchall()
        return [(name, kind.lower(), bool(notnull) and default is None) for _, name, kind, notnull, default, key in rows if not (key and name == "id")]

    def blob(self, text):
        return f"CAST({text} AS BLOB)"

    def run(self, statements):
        for statement in statements:
            self.connection.execute(statement)
        self.connection.commit()
        self.connection.close()

    def value(self, query):
        return self.connection.execute(query).fetchone()[0]


class Postgres:
    true, false = "true", "false"

    def __init__(self, url):
        self.url = url

    def psql(self, text):
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "\t", self.url], input=text, check=True, capture_output=True, text=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def columns(self, table):
        rows = self.psql("SELECT column_name, data_type, is_nullable, column_default IS NOT NULL OR is_identity = 'YES' FROM information_schema.columns"
                         f" WHERE table_name = '{table}' AND table_schema = current_schema() ORDER BY ordinal_position")
        return [(name, kind, nullable == "NO" and has_default == "f") for name, kind, nullable, has_default in rows if name != "id"]

    def blob(self, text):
        return f"convert_to({text}, 'UTF8')"

    def run(self, statements):
        self.psql("BEGIN;\n" + ";\n".join(statements) + ";\nCOMMIT;\nANALYZE;\n")

    def value(self, query):
        return int(self.psql(query)[0][0])


def filler(store, kind, spread):
    """A value of a type for a column nobody named; `spread` is an expression of whole numbers that differs by row."""
    if "bool" in kind:
        return store.false
    if "int" in kind:
        return f"({spread} * 7919) % 1000 + 1"
    if "real" in kind or "double" in kind:
        return f"(({spread} * 7919) % 10007) / 13.0 + 0.5"
    if "blob" in kind or "bytea" in kind:
        return store.blob("'seeded'")
    return "'seeded'"


def is_number(kind):
    return "int" in kind or "real" in kind or "double" in kind


def insert(store, table, source, spread, given):
    """One INSERT ... SELECT: `given` names expressions over `source`. References (..._id, ..._ns) are never invented."""
    known = {name for name, _, _ in store.columns(table)}
    missing = set(given) - known
    if missing:
        raise SystemExit(f"{table} has no {', '.join(sorted(missing))}")
    names, values = [], []
    for name, kind, is_needed in store.columns(table):
        value = given.get(name)
        if value is None and is_needed and name.endswith("_id"):
            raise SystemExit(f"{table}.{name} needs a row to refer to")
        if value is None and (is_needed or (is_number(kind) and not name.endswith(("_id", "_ns")) and table.endswith(("_outputs", "_rollups", "_invocations")))):
            value = filler(store, kind, spread)
        if value is not None:
            names.append(name)
            values.append(value)
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM {source}"


def numbers(name, count):
    """A derived table of i = 1 .. count."""
    return f"(WITH RECURSIVE {name}_n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM {name}_n WHERE i < {count}) SELECT i FROM {name}_n) {name}"


def runs_and_jobs(store, runs_each, repetitions):
    """Every workload has runs, every run each scenario of it some times: most succeeded, some failed, some queued."""
    state = "CASE WHEN (r.id * 31 + sc.id * 7 + k.i) % 20 = 0 THEN 'failed' WHEN r.id % 40 = 0 THEN 'queued' ELSE 'succeeded' END"
    at = f"{FIRST_NS} + (w.id * 17 + k.i * 991) % 5000 * {HOUR_NS} + k.i"
    yield insert(store, "runs", f"workloads w CROSS JOIN {numbers('k', runs_each)}", "w.id", {
        "tenant_id": "w.tenant_id", "workload_id": "w.id", "run_code": "w.workload_code || '-r' || k.i",
        "state": "CASE WHEN (w.id + k.i) % 7 = 0 THEN 'failed' ELSE 'succeeded' END", "note": "'seeded'", "created_ns": at, "updated_ns": at,
        "started_ns": at, "finished_ns": f"{at} + {HOUR_NS}", "jobs_total": f"5 * {repetitions}", "requested_by_user_id": "(SELECT min(id) FROM users)"})
    yield insert(store, "run_checks", f"runs r CROSS JOIN {numbers('k', 10)}", "r.id", {
        "run_id": "r.id", "check_code": "'check_' || k.i", "verdict": "'pass'", "message": "'what was compared holds'", "checked_ns": "r.created_ns"})
    yield insert(store, "jobs", f"runs r JOIN scenarios sc ON sc.workload_id = r.workload_id CROSS JOIN {numbers('k', repetitions)}", "r.id", {
        "tenant_id": "r.tenant_id", "run_id": "r.id", "workload_id": "r.workload_id", "scenario_id": "sc.id", "repetition": "k.i",
        "job_code": "r.run_code || '-' || sc.scenario_code || '-j' || k.i", "state": state,
        "attempt": f"CASE WHEN {state} = 'queued' THEN 0 ELSE 1 END", "created_ns": "r.created_ns", "updated_ns": "r.created_ns",
        "started_ns": "r.started_ns", "finished_ns": "r.finished_ns",
        "server_id": "(SELECT w.server_id FROM workloads w WHERE w.id = r.workload_id)"})


def of_jobs(store):
    words = f"'[\"metrumbench-llm\",\"--url\",\"http://gpu:8000\",\"--note\",\"{DEPTH_TEXT}\"]'"
    yield insert(store, "job_plans", "jobs j", "j.id", {
        "job_id": "j.id", "set_code": "(SELECT min(s.set_code) FROM framework_engine_args_sets s)", "set_revision": "1", "replicas": "2",
        "gpus_per_replica": "4", "request_count": "64", "resolved_ns": "j.created_ns", "placeholders": f"'{{\"tool\":{{}},\"note\":\"{DEPTH_TEXT}\"}}'"})
    for kind, count in (("server", 2), ("tool", 1)):
        yield insert(store, "job_commands", f"jobs j CROSS JOIN {numbers('k', count)}", "j.id", {
            "job_id": "j.id", "kind": f"'{kind}'", "ordinal": "k.i - 1", "argv": words, "command_text": f"'metrumbench-llm --note {DEPTH_TEXT}'",
            "port": "8000"})
    steps = "CASE k.i WHEN 1 THEN 'queued' WHEN 2 THEN 'leased' WHEN 3 THEN 'starting' WHEN 4 THEN 'running' WHEN 5 THEN 'uploading' ELSE j.state END"
    yield insert(store, "job_transitions", f"jobs j CROSS JOIN {numbers('k', 6)} WHERE j.attempt > 0", "j.id", {
        "job_id": "j.id", "attempt": "1", "ordinal": "k.i", "to_state": steps, "actor": "'system'", "at_ns": "j.created_ns + k.i"})
    yield insert(store, "job_attempts", "jobs j WHERE j.attempt > 0", "j.id", {
        "job_id": "j.id", "attempt": "1", "server_id": "j.server_id", "state": "j.state", "leased_ns": "j.created_ns", "gpu_count": "8",
        "result": "CASE WHEN j.state = 'succeeded' THEN 'accepted' ELSE 'none' END", "finished_ns": "j.finished_ns"})
    yield insert(store, "events", "jobs j", "j.id", {
        "tenant_id": "j.tenant_id", "sequence": "j.id + 1000000", "topic": "'job'", "object_code": "j.job_code", "kind": "j.state", "created_ns": "j.created_ns"})
    yield insert(store, "audit_log", "jobs j", "j.id", {
        "tenant_id": "j.tenant_id", "at_ns": "j.created_ns", "actor": "'admin'", "action": "'create'", "object_type": "'job'", "object_code": "j.job_code"})


def of_attempts(store):
    for name, index, count in (("gpu", "gpu_index", 8), ("cpu", "socket_index", 2), ("system", "node_index", 1)):
        given = {"job_attempt_id": "a.id", index: "k.i - 1", "first_ns": "a.leased_ns", "last_ns": f"a.leased_ns + {HOUR_NS}", "samples": "3600"}
        yield insert(store, f"telemetry_{name}_rollups", f"job_attempts a CROSS JOIN {numbers('k', count)}", "a.id + k.i", given)
    yield insert(store, "telemetry_energy", "job_attempts a", "a.id", {
        "job_attempt_id": "a.id", "scope": "'gpu_board'", "method": "'integral'", "energy_j": "1000.5", "is_valid": store.true})
    yield insert(store, "result_flags", "job_attempts a WHERE a.id % 5 = 0", "a.id", {
        "job_attempt_id": "a.id", "flag_code": "'late_sends'", "severity": "'warn'", "message": "'some requests left late'", "created_ns": "a.leased_ns"})
    yield insert(store, "job_logs", f"job_attempts a CROSS JOIN {numbers('k', 3)}", "a.id", {
        "job_attempt_id": "a.id", "stream": "'tool'", "ordinal": "k.i", "first_byte": "k.i * 400", "bytes": store.blob(f"'{DEPTH_TEXT}'"),
        "received_ns": "a.leased_ns"})
    yield insert(store, "job_evidence", f"job_attempts a CROSS JOIN {numbers('k', 3)}", "a.id", {
        "job_attempt_id": "a.id", "evidence_code": "'evidence_' || k.i", "name": "'file'", "media_type": "'text/plain'", "received_ns": "a.leased_ns"})
    yield insert(store, "tool_invocations", "job_attempts a JOIN jobs j ON j.id = a.job_id JOIN workloads w ON w.id = j.workload_id", "a.id", {
        "job_attempt_id": "a.id", "tool": "w.tool", "argv": "'[\"metrumbench\"]'", "command_text": f"'metrumbench --note {DEPTH_TEXT}'",
        "exit_code": "CASE WHEN a.state = 'succeeded' THEN 0 ELSE 1 END", "started_ns": "a.leased_ns", "finished_ns": f"a.leased_ns + {HOUR_NS}"})


def of_results(store):
    done = "tool_invocations ti JOIN job_attempts a ON a.id = ti.job_attempt_id AND a.result = 'accepted' JOIN jobs j ON j.id = a.job_id"
    yield insert(store, "summary_documents", done, "ti.id", {
        "tool_invocation_id": "ti.id", "schema_name": "'metrumbench-llm.summary.v1'", "metric_definition_version": "1", "size_bytes": "417",
        "bytes": store.blob(f"'{{\"note\":\"{DEPTH_TEXT}\"}}'"), "digest": "'d' || ti.id", "received_ns": "a.leased_ns"})
    yield insert(store, "ingest_receipts", done + " JOIN summary_documents d ON d.tool_invocation_id = ti.id", "ti.id", {
        "tenant_id": "j.tenant_id", "receipt_code": "'receipt-' || ti.id", "job_attempt_id": "a.id", "summary_document_id": "d.id",
        "kind": "'ingest'", "result": "'accepted'", "mapping_version": "1", "created_ns": "a.leased_ns"})
    for tool, last_digits in OUTPUTS:
        source = f"{done} JOIN summary_documents d ON d.tool_invocation_id = ti.id WHERE j.workload_id % 10 IN ({last_digits})"
        yield insert(store, f"metrumbench_{tool}_invocations", source, "ti.id", {"tool_invocation_id": "ti.id", "concurrency": "8"})
        yield insert(store, f"metrumbench_{tool}_outputs", source, "ti.id", {
            "tool_invocation_id": "ti.id", "summary_document_id": "d.id", "job_id": "j.id", "job_attempt_id": "a.id", "result": "'accepted'",
            "ingested_ns": "a.leased_ns", "metric_definition_version": "1", "percentile_method": "'nearest-rank'", "is_valid": store.true})


def seed(database, job_count):
    """Returns how many jobs there are afterwards."""
    store = Postgres(database) if "://" in database else Sqlite(database)
    workloads, scenarios = store.value("SELECT count(*) FROM workloads"), store.value("SELECT count(*) FROM scenarios")
    runs_each = 5
    repetitions = -(-job_count // (runs_each * scenarios))
    statements = [f"UPDATE workloads SET tool = 'metrumbench-{tool}' WHERE id % 10 IN ({digits})" for tool, digits in OUTPUTS]
    statements += [*runs_and_jobs(store, runs_each, repetitions), *of_jobs(store), *of_attempts(store), *of_results(store)]
    store.run(statements)
    return workloads * runs_each, scenarios * runs_each * repetitions
