/* SPDX-License-Identifier: Apache-2.0 */
/* Names that people and programs rely on, and what the views say. */
#include "seed.h"

static const char *const tables[] = {
    "tenants", "users", "api_tokens", "sessions", "projects", "models", "gpu_classes", "frameworks", "framework_versions", "providers",
    "server_configs", "servers", "server_gpus", "prompt_sources", "framework_engine_args_templates", "framework_engine_args_sets",
    "framework_engine_args_values", "command_templates", "workloads", "scenarios", "runs", "jobs", "job_attempts", "job_commands",
    "tool_invocations", "job_logs", "job_evidence", "metrumbench_llm_invocations", "metrumbench_llm_outputs",
    "metrumbench_vlm_invocations", "metrumbench_vlm_outputs", "metrumbench_asr_invocations", "metrumbench_asr_outputs",
    "metrumbench_imagegen_outputs", "metrumbench_imagegen_output_endpoints", "metrumbench_imagegen_artifacts",
    "metrumbench_imagegen_errors", "telemetry_gpu_chunks", "telemetry_cpu_chunks", "telemetry_system_chunks", "telemetry_tpu_chunks",
    "summary_documents", "ingest_receipts", "result_flags", "audit_log", "idempotency_keys", "events",
};

struct view {
    const char *name;
    const char *columns; /* words */
};

#define DISTRIBUTION(name) name "_avg " name "_min " name "_max " name "_p50 " name "_p90 " name "_p95 " name "_p99 "
#define CHAIN                                                                                                                        \
    "project_code workload_code scenario_code run_code job_code job_state attempt model_code framework_code framework_version "         \
    "quantization set_code set_revision set_digest config_code hostname gpu_class_code command_text command_digest isl_tokens osl_tokens " \
    "scenario_concurrency prompt_source_code avg_gpu_power_w max_gpu_power_w avg_gpu_utilization avg_gpu_memory_percent "                  \
    "avg_cpu_utilization avg_system_ram_percent sample_count "
#define LLM                                                                                                                          \
    DISTRIBUTION("response_time_ms") DISTRIBUTION("ttft_ms") DISTRIBUTION("ttft_spec_ms") DISTRIBUTION("tpot_ms") DISTRIBUTION("tpot_spec_ms") \
    "prompt_tokens_total prompt_tokens_min prompt_tokens_max prompt_tokens_avg prompt_tokens_p50 prompt_tokens_p95 "                         \
    "completion_tokens_total completion_tokens_min completion_tokens_max completion_tokens_avg completion_tokens_p50 completion_tokens_p95 " \
    "total_tokens_total prompt_words_total prompt_words_min prompt_words_max prompt_words_avg prompt_words_per_second "                      \
    "completion_words_total completion_words_per_second requests_per_second prompt_tokens_per_second completion_tokens_per_second "          \
    "total_tokens_per_second spec_requests_per_second spec_total_tokens_per_second error_count error_rate_percent error_rate_limit "         \
    "error_auth error_bad_request error_server_error oom_detected "

static const struct view views[] = {
    {"v_metrumbench_llm_outputs", CHAIN LLM},
    {"v_metrumbench_vlm_outputs", CHAIN LLM DISTRIBUTION("image_processing_ms") DISTRIBUTION("image_bytes") DISTRIBUTION("image_width")
                                      DISTRIBUTION("image_height") "num_images_batch image_detail"},
    {"v_metrumbench_asr_outputs",
     CHAIN DISTRIBUTION("response_time_ms") DISTRIBUTION("inference_time_ms") DISTRIBUTION("rtf") DISTRIBUTION("wer") DISTRIBUTION("cer")
         DISTRIBUTION("wer_percent") DISTRIBUTION("cer_percent")
             "audio_seconds_per_second chars_per_second words_per_second requests_per_second bytes_per_second audio_bytes_sent response_bytes "
             "transferred_bytes error_count error_rate_percent"},
    {"v_metrumbench_imagegen_outputs",
     CHAIN DISTRIBUTION("latency_ms") DISTRIBUTION("image_bytes") "images_per_second requests_per_second megapixels_per_second success_rate "
                                                                  "images_requested images_returned timeout_count error_count error_rate_percent"},
    {"v_external_outputs", CHAIN DISTRIBUTION("response_time_ms") DISTRIBUTION("ttft_ms") DISTRIBUTION("tpot_ms") DISTRIBUTION("itl_ms")
                               "harness is_imported token_source workload_digest environment_digest requests_per_second "},
    {"v_prompt_libraries_with_prompt_count", "library_code name prompt_count"},
    {"v_telemetry_job_summary", "job_code sample_count collection_duration_s gpu_count avg_gpu_power_w max_gpu_power_w avg_gpu_utilization "
                                "avg_gpu_memory_percent max_gpu_memory_percent avg_cpu_utilization avg_system_ram_percent"},
    {"v_telemetry_per_gpu_summary", "job_code gpu_index gpu_uuid avg_gpu_power_w max_gpu_power_w min_gpu_power_w avg_gpu_utilization "
                                    "max_gpu_utilization avg_gpu_memory_used_bytes max_gpu_memory_used_bytes"},
    {"v_job_with_telemetry", "job_code model_code framework_code framework_version status sample_count gpu_count avg_gpu_power_w "
                             "max_gpu_power_w avg_gpu_utilization avg_gpu_memory_percent avg_cpu_utilization avg_system_ram_percent"},
};

static bool has_column(const struct store_rows *rows, const char *name, size_t len)
{
    for (uint32_t i = 0; i < store_columns(rows); i++)
        if (strlen(store_column_name(rows, i)) == len && strncmp(store_column_name(rows, i), name, len) == 0)
            return true;
    return false;
}

static void test_tables_exist(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_read(both);
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
        assert_true(number_of(tx, sql, NULL, 0) >= 0);
    }
    store_rollback(tx);
}

static void test_views_have_every_column(void **state)
{
    struct both *both = both_begin(state);
    struct store_tx *tx = both_read(both);
    for (size_t i = 0; i < ARRAY_COUNT(views); i++) {
        char sql[128];
        struct store_rows *rows;
        snprintf(sql, sizeof sql, "SELECT * FROM %s", views[i].name);
        must(tx, store_query(tx, sql, NULL, 0, &rows));
        assert_false(store_next(rows));
        for (const char *at = views[i].columns; *at;) {
            const size_t len = strcspn(at, " ");
            if (!has_column(rows, at, len))
                fail_msg("%s has no %.*s", views[i].name, (int)len, at);
            at += len + strspn(at + len, " ");
        }
        store_rows_free(rows);
    }
    store_rollback(tx);
}

static double real_of(struct store_rows *rows, const char *name)
{
    for (uint32_t i = 0; i < store_columns(rows); i++)
        if (strcmp(store_column_name(rows, i), name) == 0) {
            assert_false(store_is_null(rows, i));
            return store_get_real(rows, i);
        }
    fail_msg("no column %s", name);
    return 0;
}

static bool null_of(struct store_rows *rows, const char *name)
{
    for (uint32_t i = 0; i < store_columns(rows); i++)
        if (strcmp(store_column_name(rows, i), name) == 0)
            return store_is_null(rows, i);
    fail_msg("no column %s", name);
    return false;
}

#define assert_real(rows, name, value) assert_true(real_of(rows, name) == (value))

static void test_views_say_what_was_stored(void **state)
{
    struct both *both = both_begin(state);
    seed(both, 5);
    struct store_rows *rows;
    struct store_tx *tx = both_read(both);
    must(tx, store_query(tx, "SELECT * FROM v_telemetry_job_summary WHERE job_code = ?1", PARAMS(store_text("llama33-r0001-j001")), &rows));
    assert_true(store_next(rows));
    assert_real(rows, "sample_count", 10);
    assert_real(rows, "collection_duration_s", 3.0);
    assert_real(rows, "gpu_count", 2);
    assert_real(rows, "avg_gpu_power_w", 400.0);
    assert_real(rows, "max_gpu_power_w", 700.0);
    assert_real(rows, "avg_gpu_utilization", 0.75);
    assert_real(rows, "avg_gpu_memory_percent", 50.0);
    assert_real(rows, "max_gpu_memory_percent", 75.0);
    assert_real(rows, "avg_cpu_utilization", 0.25);
    assert_real(rows, "avg_system_ram_percent", 50.0);
    assert_true(null_of(rows, "avg_system_power_w"));
    assert_false(store_next(rows));
    store_rows_free(rows);

    must(tx, store_query(tx, "SELECT * FROM v_telemetry_per_gpu_summary ORDER BY gpu_index", NULL, 0, &rows));
    assert_true(store_next(rows));
    assert_real(rows, "min_gpu_power_w", 200.0);
    assert_real(rows, "avg_gpu_memory_used_bytes", 1e9);
    assert_true(store_next(rows));
    assert_real(rows, "avg_gpu_power_w", 600.0);
    assert_true(null_of(rows, "avg_gpu_utilization"));
    assert_false(store_next(rows));
    store_rows_free(rows);

    must(tx, store_query(tx, "SELECT * FROM v_metrumbench_llm_outputs", NULL, 0, &rows));
    assert_true(store_next(rows));
    assert_real(rows, "ttft_ms_p50", 12.5);
    assert_real(rows, "ttft_spec_ms_p50", 13.5);
    assert_real(rows, "tpot_ms_p50", 4.25);
    assert_real(rows, "tpot_spec_ms_p50", 4.125);
    assert_real(rows, "avg_gpu_power_w", 400.0);
    assert_real(rows, "isl_tokens", 512);
    assert_true(null_of(rows, "ttft_ms_p99"));
    assert_false(store_next(rows));
    store_rows_free(rows);

    /* A job without an attempt has no figures, and stands there all the same. */
    must(tx, store_query(tx, "SELECT * FROM v_job_with_telemetry ORDER BY job_code", NULL, 0, &rows));
    assert_true(store_next(rows));
    assert_real(rows, "max_gpu_power_w", 700.0);
    assert_true(store_next(rows));
    assert_real(rows, "sample_count", 0);
    assert_true(null_of(rows, "avg_gpu_power_w"));
    assert_true(null_of(rows, "hostname"));
    assert_false(store_next(rows));
    store_rows_free(rows);
    assert_int_equal(number_of(tx, "SELECT prompt_count FROM v_prompt_libraries_with_prompt_count", NULL, 0), 2);
    assert_int_equal(number_of(tx, "SELECT count(*) FROM v_outputs WHERE output_kind = 'metrumbench-llm'", NULL, 0), 1);
    assert_int_equal(number_of(tx, "SELECT count(*) FROM v_outputs WHERE output_kind = 'guidellm' AND ttft_ms_p50 = 14.5", NULL, 0), 1);
    assert_int_equal(number_of(tx, "SELECT count(*) FROM v_external_outputs WHERE harness = 'guidellm' AND token_source IS NULL AND "
                                   "project_code = 'demo' AND result = 'superseded'", NULL, 0), 1);
    store_rollback(tx);
}

static void test_an_image_scenario_takes_no_count(void **state)
{
    struct both *both = both_begin(state);
    seed(both, 1);
    static const char sql[] = "INSERT INTO scenarios (tenant_id, workload_id, scenario_code, tool, request_count, created_ns, updated_ns) "
                              "SELECT tenant_id, id, 'img', 'metrumbench-imagegen', ?1, 0, 0 FROM workloads";
    struct store_tx *tx = both_write(both);
    assert_int_equal(store_exec(tx, sql, PARAMS(store_int(4)), NULL), AS_E_STATE);
    assert_non_null(strstr(store_error(tx)->message, "scenarios_imagegen_count"));
    store_rollback(tx);
    tx = both_write(both);
    must(tx, store_exec(tx, sql, PARAMS(store_null()), NULL));
    both_commit(both, tx);
}

/* The chain holds: nothing above a result can go while it is there. */
static void test_the_chain_cannot_be_cut(void **state)
{
    static const char *const links[] = {"projects", "workloads", "scenarios", "runs", "jobs", "job_attempts", "tool_invocations", "models", "servers"};
    struct both *both = both_begin(state);
    seed(both, 5);
    for (size_t i = 0; i < ARRAY_COUNT(links); i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "DELETE FROM %s", links[i]);
        struct store_tx *tx = both_write(both);
        if (store_exec(tx, sql, NULL, 0, NULL) != AS_E_STATE)
            fail_msg("%s can be deleted", links[i]);
        store_rollback(tx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_tables_exist),         BOTH(test_views_have_every_column),           BOTH(test_views_say_what_was_stored),
        BOTH(test_the_chain_cannot_be_cut), BOTH(test_an_image_scenario_takes_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
