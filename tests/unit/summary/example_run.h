/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_UNIT_SUMMARY_EXAMPLE_RUN_H
#define ASSAY_TESTS_UNIT_SUMMARY_EXAMPLE_RUN_H

/* A run with something of everything: two endpoints, a warm-up, failures of several kinds, a retry, missing usage. */

#include "unit/summary/made_run.h"

#define EXAMPLE_RECORDS 130

static struct record_bucket example_bucket;
static struct record_gap_stats example_gaps;

static inline void example_set_gaps(void)
{
    example_bucket = (struct record_bucket){histogram_index(9 * MS), 9};
    example_gaps = (struct record_gap_stats){
        .n = 9,
        .sum_ns = 81 * MS,
        .min_ns = 9 * MS,
        .max_ns = 9 * MS,
        .sum_squares = {UINT64_C(729000000000000), 0},
        .buckets = &example_bucket,
        .bucket_count = 1,
    };
}

static inline struct run_facts example_facts(void)
{
    struct run_facts facts = made_facts(EXAMPLE_RECORDS + 3);
    facts.commit = "abc1234";
    facts.compiler = "gcc 12.2.0";
    facts.human_id = "llm-20261130T190533Z-quiet-otter-3f2a";
    facts.timestamp = "2026-11-30T19:05:33.000000Z";
    facts.scenario = "chat-short";
    facts.description = "An example";
    facts.keywords = "example,golden";
    facts.config_json =
        "{\"model\": \"tiny\", \"url\": [\"http://127.0.0.1:8000\"], \"temperature\": 0.70, \"seed\": null}";
    facts.endpoint_count = 2;
    facts.rules.slo = (struct run_slo){.ttft_ns = 20 * MS, .tpot_ns = -1, .e2e_ns = 150 * MS, .itl_ns = -1};
    facts.rules.prompt_count = 40;
    facts.environment = (struct run_environment){.host = "bench-1",
                                                 .kernel = "6.1.0",
                                                 .cpu_model = "Example CPU",
                                                 .governor = "performance",
                                                 .clock_source = "tsc",
                                                 .cpu_count = 2,
                                                 .memory_bytes = INT64_C(8589934592),
                                                 .fd_limit = 20000,
                                                 .port_low = 32768,
                                                 .port_high = 60999};
    facts.ntp = (struct run_ntp){"ok", "time.example", NULL, -1500000, 12 * MS};
    facts.result.skipped = 3;
    facts.result.stopped_by_signal = true;
    facts.result.ended_ns = 7000 * MS;
    facts.result.cpu_ns = 140 * MS;
    facts.result.net.connects = 4;
    facts.result.net.open_peak = 2;
    facts.result.net.max_loop_lag_ns = 350000;
    return facts;
}

static inline void example_records(struct request_record records[EXAMPLE_RECORDS])
{
    example_set_gaps();
    for (int64_t i = 0; i < EXAMPLE_RECORDS; i++) {
        struct request_record *r = &records[i];
        *r = made_ok(i, i / 2 * 101 + i % 2 * 50, 90 + i * 7 % 23);
        r->gap_stats = &example_gaps;
        r->endpoint = (uint32_t)(i % 2);
        r->attempts[0].endpoint = (uint16_t)(i % 2);
        r->prompt_id[0] = (char)('a' + i % 40 % 20);
        r->prompt_id[1] = (char)('a' + i % 40 / 20);
        if (i < 2)
            r->phase = PHASE_WARMUP;
        if (i == 2 || i == 3)
            r->connect_duration_ns = 300000 + i;
    }
    records[20] = made_error(20, 1010, 12, OUTCOME_FAILED, ERROR_TYPE_RATE_LIMIT, 429);
    records[20].error_message = (struct record_text){"429 Too Many \"Requests\"", 23};
    records[20].retry_after_s = 1.5;
    records[30] = made_error(30, 1515, 40, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 500);
    records[30].error_message = (struct record_text){"CUDA out of memory", 18};
    records[30].oom = true;
    records[40] = made_error(40, 2020, 10000, OUTCOME_TIMED_OUT, ERROR_TYPE_TIMEOUT, -1);
    records[41] = made_error(41, 2070, 60, OUTCOME_CANCELLED, ERROR_TYPE_NONE, -1);
    records[50] = made_error(50, 0, 0, OUTCOME_REFUSED, ERROR_TYPE_SCHEMA, -1);
    records[50].endpoint = UINT32_MAX;
    struct request_record *r = &records[60];
    r->usage_missing = true;
    r->prompt_tokens = r->completion_tokens = r->total_tokens = -1;
    record_derive(r, true);
    r = &records[70];
    r->attempt_count = 2;
    r->attempts[1] = r->attempts[0];
    r->attempts[0].http_status = 503;
    r->attempts[0].error_type = ERROR_TYPE_SERVER_ERROR;
    records[80].flags = RECORD_FLAG_UNCLEAN_CLOSE | RECORD_FLAG_SHARED_READ;
    records[80].stamp = RECORD_STAMP_CENSORED;
    records[80].censored_chunks = 4;
    memcpy(records[80].finish_reason, "stop", 5);
}

#endif
