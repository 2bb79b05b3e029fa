/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_STORE_SEED_H
#define ASSAY_TESTS_STORE_SEED_H

/* One row in most tables, by schema version; and all rows of a store as text, the same for both databases. */

#include "both.h"

#include "base/strbuf.h"

#include <inttypes.h>

struct seed_step {
    int64_t version; /* the migration that brings the table */
    const char *sql;
};

#define MINUTE_NS "1796000040000000000" /* in 2026, a whole minute */

static const struct seed_step seed_steps[] = {
    {1, "INSERT INTO tenants (tenant_code, name, created_ns, updated_ns) VALUES ('acme', 'Acme', 1, 1)"},
    {1, "INSERT INTO users (tenant_id, user_name, role, created_ns, updated_ns) SELECT id, 'ann@acme', 'admin', 2, 2 FROM tenants WHERE tenant_code = 'acme'"},
    {1, "INSERT INTO projects (tenant_id, project_code, name, created_ns, updated_ns) SELECT id, 'demo', 'Demo ü', 3, 3 FROM tenants WHERE tenant_code = 'acme'"},
    {1, "INSERT INTO models (tenant_id, model_code, family, layers, created_ns, updated_ns) SELECT id, 'meta-llama/Llama-3.3-70B', 'Llama', 80, 3, 3 FROM tenants WHERE tenant_code = 'shared'"},
    {1, "INSERT INTO gpu_classes (tenant_id, gpu_class_code, memory_gib, created_ns, updated_ns) SELECT id, 'h100', 80.0, 3, 3 FROM tenants WHERE tenant_code = 'shared'"},
    {1, "INSERT INTO frameworks (tenant_id, framework_code, display_name, created_ns, updated_ns) SELECT id, 'vllm', 'vLLM', 3, 3 FROM tenants WHERE tenant_code = 'shared'"},
    {1, "INSERT INTO framework_versions (framework_id, version, build, created_ns, updated_ns) SELECT id, '0.24.0+cu130', 'cuda', 3, 3 FROM frameworks"},
    {1, "INSERT INTO server_configs (tenant_id, config_code, location, gpu_class_id, gpu_count, created_ns, updated_ns) SELECT t.id, 'dgx', 'on_prem', g.id, 8, 3, 3 FROM tenants t, gpu_classes g WHERE t.tenant_code = 'acme'"},
    {1, "INSERT INTO servers (tenant_id, server_config_id, hostname, created_ns, updated_ns) SELECT c.tenant_id, c.id, 'node-1.lab', 3, 3 FROM server_configs c"},
    {1, "INSERT INTO prompt_sources (tenant_id, source_code, source_type, name, row_count, created_ns, updated_ns) SELECT id, 'mixed', 'prompt_library', 'Mixed', 2, 3, 3 FROM tenants WHERE tenant_code = 'shared'"},
    {1, "INSERT INTO prompt_library_prompts (prompt_source_id, ordinal, prompt, words, digest) SELECT id, 0, 'one two', 2, 'd0' FROM prompt_sources"},
    {1, "INSERT INTO prompt_library_prompts (prompt_source_id, ordinal, prompt, words, digest) SELECT id, 1, 'one two three', 3, 'd1' FROM prompt_sources"},
    {1, "INSERT INTO workloads (tenant_id, project_id, workload_code, name, tool, model_id, framework_version_id, quantization, prompt_source_id, created_ns, updated_ns) SELECT p.tenant_id, p.id, 'llama33', 'Llama', 'metrumbench-llm', m.id, f.id, 'fp8', s.id, 3, 3 FROM projects p, models m, framework_versions f, prompt_sources s"},
    {1, "INSERT INTO scenarios (tenant_id, workload_id, scenario_code, tool, concurrency, isl_tokens, osl_tokens, request_count, is_streaming, created_ns, updated_ns) SELECT tenant_id, id, 'c64-isl512', tool, 64, 512, 128, 1000, NULL, 3, 3 FROM workloads"},
    {2, "INSERT INTO runs (tenant_id, workload_id, run_code, state, created_ns, updated_ns) SELECT tenant_id, id, 'llama33-r0001', 'running', 4, 4 FROM workloads"},
    {2, "INSERT INTO jobs (tenant_id, run_id, workload_id, scenario_id, job_code, state, attempt, server_id, created_ns, updated_ns) SELECT r.tenant_id, r.id, r.workload_id, s.id, 'llama33-r0001-j001', 'succeeded', 1, v.id, 5, 5 FROM runs r, scenarios s, servers v"},
    {2, "INSERT INTO jobs (tenant_id, run_id, workload_id, scenario_id, job_code, repetition, state, created_ns, updated_ns) SELECT r.tenant_id, r.id, r.workload_id, s.id, 'llama33-r0001-j002', 2, 'queued', 5, 5 FROM runs r, scenarios s"},
    {2, "INSERT INTO job_plans (job_id, set_code, set_revision, set_digest, replicas, gpus_per_replica, resolved_ns) SELECT id, 'vllm-llama33', 3, 'abc', 2, 4, 5 FROM jobs WHERE attempt = 1"},
    {2, "INSERT INTO job_attempts (job_id, attempt, server_id, state, result, leased_ns, gpu_count) SELECT id, 1, server_id, 'succeeded', 'accepted', 6, 8 FROM jobs WHERE attempt = 1"},
    {2, "INSERT INTO tool_invocations (job_attempt_id, tool, argv, command_text, digest, exit_code) SELECT id, 'metrumbench-llm', '[\"assay\",\"llm\"]', 'assay llm', 'e3', 0 FROM job_attempts"},
    {2, "INSERT INTO job_logs (job_attempt_id, stream, ordinal, first_byte, bytes, received_ns) SELECT id, 'tool', 0, 0, ?1, 7 FROM job_attempts"},
    {3, "INSERT INTO telemetry_gpu_rollups (job_attempt_id, gpu_index, gpu_uuid, samples, first_ns, last_ns, power_w_n, power_w_sum, power_w_min, power_w_max, utilization_n, utilization_sum, utilization_min, utilization_max, memory_used_bytes_n, memory_used_bytes_sum, memory_used_bytes_min, memory_used_bytes_max, memory_ratio_n, memory_ratio_sum, memory_ratio_min, memory_ratio_max) SELECT id, 0, 'GPU-a', 4, 1000000000, 3000000000, 4, 1200.0, 200.0, 400.0, 4, 3.0, 0.5, 1.0, 4, 4e9, 1e9, 1e9, 4, 2.0, 0.25, 0.75 FROM job_attempts"},
    {3, "INSERT INTO telemetry_gpu_rollups (job_attempt_id, gpu_index, gpu_uuid, samples, first_ns, last_ns, power_w_n, power_w_sum, power_w_min, power_w_max) SELECT id, 1, 'GPU-b', 2, 1000000000, 3500000000, 2, 1200.0, 500.0, 700.0 FROM job_attempts"},
    {3, "INSERT INTO telemetry_cpu_rollups (job_attempt_id, socket_index, samples, first_ns, last_ns, utilization_n, utilization_sum, utilization_min, utilization_max) SELECT id, 0, 2, 1000000000, 2000000000, 2, 0.5, 0.25, 0.25 FROM job_attempts"},
    {3, "INSERT INTO telemetry_system_rollups (job_attempt_id, samples, first_ns, last_ns, ram_ratio_n, ram_ratio_sum, ram_ratio_min, ram_ratio_max) SELECT id, 2, 500000000, 2000000000, 2, 1.0, 0.5, 0.5 FROM job_attempts"},
    {3, "INSERT INTO telemetry_gpu_chunks (rollup_id, minute_ns, samples, first_ns, last_ns, codec, raw) SELECT id, " MINUTE_NS ", 4, 1, 2, 1, ?1 FROM telemetry_gpu_rollups WHERE gpu_index = 0"},
    {3, "INSERT INTO telemetry_gpu_chunks (rollup_id, minute_ns, samples, first_ns, last_ns, codec, raw) SELECT id, 60000000000, 4, 1, 2, 1, ?1 FROM telemetry_gpu_rollups WHERE gpu_index = 0"},
    {4, "INSERT INTO summary_documents (tool_invocation_id, schema_name, metric_definition_version, bytes, digest, size_bytes, received_ns) SELECT id, 'metrumbench-llm.summary.v1', 1, ?1, 'ff00', 6, 8 FROM tool_invocations"},
    {4, "INSERT INTO metrumbench_llm_outputs (tool_invocation_id, summary_document_id, job_id, job_attempt_id, result, ingested_ns, metric_definition_version, is_valid, ttft_ms_p50, ttft_spec_ms_p50, tpot_ms_p50, tpot_spec_ms_p50, requests_ok) SELECT i.id, d.id, a.job_id, a.id, 'accepted', 9, 1, a.id > 0, 12.5, 13.5, 4.25, 4.125, 1000 FROM tool_invocations i, summary_documents d, job_attempts a"},
    {4, "INSERT INTO external_outputs (tool_invocation_id, job_id, job_attempt_id, result, ingested_ns, harness, metric_definition_version, ttft_ms_p50) SELECT i.id, a.job_id, a.id, 'superseded', 9, 'guidellm', 1, 14.5 FROM tool_invocations i, job_attempts a"},
    {5, "INSERT INTO result_flags (job_attempt_id, flag_code, severity, message, created_ns) SELECT id, 'telemetry_gap', 'warn', 'a gap of 4 s', 10 FROM job_attempts"},
    {5, "INSERT INTO audit_log (tenant_id, at_ns, actor, action, object_type, object_code) SELECT id, 11, 'ann@acme', 'create', 'project', 'demo' FROM tenants WHERE tenant_code = 'acme'"},
};

/* What the tables of the first `version` migrations hold. */
static inline void seed(struct both *both, int64_t version)
{
    static const char bytes[] = {'{', '"', '\0', '\xff', '\\', '}'};
    const as_status expected = store_version(both->store) < 3 && both->kind == STORE_POSTGRESQL ? AS_E_INVALID : AS_OK;
    if (store_telemetry_prepare(both->store, 0, &both->err) != expected)
        fail_msg("%s", both->err.message);
    struct store_tx *tx = both_write(both);
    for (size_t i = 0; i < ARRAY_COUNT(seed_steps); i++) {
        const bool has_bytes = strstr(seed_steps[i].sql, "?1") != NULL;
        const struct store_value params[] = {store_blob(bytes, sizeof bytes)};
        int64_t changed;
        if (seed_steps[i].version > version)
            continue;
        if (store_exec(tx, seed_steps[i].sql, params, has_bytes, &changed) != AS_OK)
            fail_msg("%s: %s", seed_steps[i].sql, store_error(tx)->message);
        if (changed != 1)
            fail_msg("%s: %" PRId64 " rows", seed_steps[i].sql, changed);
    }
    both_commit(both, tx);
}

static inline void dump_cell(const struct store_rows *rows, uint32_t column, struct strbuf *ret)
{
    size_t len;
    strbuf_addf(ret, " %s=", store_column_name(rows, column));
    if (store_is_null(rows, column)) {
        strbuf_adds(ret, "null");
    } else if (store_get_text(rows, column, &len)) {
        strbuf_addf(ret, "'%s'", store_get_text(rows, column, &len));
    } else if (store_get_blob(rows, column, &len)) {
        const unsigned char *bytes = store_get_blob(rows, column, &len);
        for (size_t i = 0; i < len; i++)
            strbuf_addf(ret, "%02x", bytes[i]);
    } else {
        strbuf_addf(ret, "%.17g", store_get_real(rows, column));
    }
}

/* All rows of the tables of the first migrations, in the order of their keys. The times of migrating are left out. */
static inline void dump(struct both *both, struct strbuf *ret)
{
    struct store_rows *tables, *rows;
    struct store_tx *tx = both_read(both);
    must(tx, store_query(tx, both->kind == STORE_SQLITE
                                 ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations' ORDER BY name"
                                 : "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = "
                                   "'public'::regnamespace AND relname <> 'schema_migrations' ORDER BY relname::text COLLATE \"C\"",
                         NULL, 0, &tables));
    while (store_next(tables)) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1, 2", store_get_text(tables, 0, NULL));
        must(tx, store_query(tx, sql, NULL, 0, &rows));
        while (store_next(rows)) {
            strbuf_adds(ret, store_get_text(tables, 0, NULL));
            for (uint32_t i = 0; i < store_columns(rows); i++)
                dump_cell(rows, i, ret);
            strbuf_addc(ret, '\n');
        }
        assert_int_equal(store_rows_status(rows), AS_OK);
        store_rows_free(rows);
    }
    store_rows_free(tables);
    store_rollback(tx);
    assert_int_equal(strbuf_status(ret), AS_OK);
}

#endif
