/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_UNIT_SUMMARY_MADE_RUN_H
#define ASSAY_TESTS_UNIT_SUMMARY_MADE_RUN_H

/* Records and facts made by hand, for the tests of summary. */

#include "base/strbuf.h"
#include "summary/summary.h"
#include "summary/summary_json.h"
#include "support/check.h"

#include <string.h>

#define MS INT64_C(1000000)

/* Facts of a finished closed-loop run at concurrency 2. */
static inline struct run_facts made_facts(int64_t planned)
{
    static const struct run_endpoint endpoints[] = {{"a", "http://127.0.0.1:8000/v1", 1},
                                                    {"b", "http://127.0.0.1:8001/v1", 1}};
    struct run_facts facts;
    run_facts_init(&facts);
    facts.tool = "llm";
    facts.version = "1.2.3";
    facts.run_id = "0f0e0d0c-0b0a-4908-8706-050403020100";
    facts.config_json = "{\"model\":\"m\",\"num-requests\":4}";
    facts.endpoints = endpoints;
    facts.endpoint_count = 1;
    facts.rules.is_streaming = true;
    facts.rules.planned_requests = planned;
    facts.rules.concurrency = 2;
    facts.rules.request_timeout_ns = 10000 * MS;
    struct engine_result result = {
        .epoch = {5000},
        .epoch_offset = {.offset_ns = INT64_C(1796060733000000000)},
        .planned = planned,
        .cpu_ns = 5 * MS,
        .ended_ns = 1000 * MS,
        .lag_p50_ns = 20000,
        .lag_p99_ns = 90000,
        .lag_max_ns = 200000,
        .lag_reads = 40,
    };
    run_facts_set_result(&facts, &result);
    facts.journal_full_waits = 0;
    return facts;
}

/* A success of `ms` with 10 tokens in 10 chunks, first content after a tenth of it. */
static inline struct request_record made_ok(int64_t seq, int64_t sent_ms, int64_t ms)
{
    struct request_record r;
    record_init(&r);
    r.seq = seq;
    r.prompt_id[0] = (char)('a' + seq % 26);
    r.prompt_id[1] = (char)('a' + seq / 26 % 26);
    r.prompt_id[2] = '\0';
    r.http_status = 200;
    r.stamp = RECORD_STAMP_KERNEL;
    r.sent_ns = sent_ms * MS;
    r.written_ns = r.sent_ns + MS / 10;
    r.first_byte_ns = r.sent_ns + ms * MS / 20;
    r.first_content_ns = r.sent_ns + ms * MS / 10;
    r.last_content_ns = r.sent_ns + ms * MS - MS / 10;
    r.done_ns = r.sent_ns + ms * MS;
    r.done_seen = true;
    r.client_lag_ns = 20000;
    r.events = 12;
    r.content_chunks = 10;
    r.censored_chunks = 0;
    r.prompt_tokens = 7;
    r.completion_tokens = 10;
    r.total_tokens = 17;
    r.prompt_words = 5;
    r.completion_words = 8;
    r.max_tokens = 10;
    r.bytes_sent = 300;
    r.bytes_received = 2000;
    r.attempt_count = 1;
    r.attempts[0] = (struct record_attempt){.start_ns = r.sent_ns, .done_ns = r.done_ns, .http_status = 200};
    record_derive(&r, true);
    return r;
}

static inline struct request_record made_error(int64_t seq, int64_t sent_ms, int64_t ms, enum outcome outcome,
                                               enum error_type type, int32_t status)
{
    struct request_record r;
    record_init(&r);
    r.seq = seq;
    r.outcome = (uint8_t)outcome;
    r.error_type = (uint8_t)type;
    r.http_status = status;
    if (outcome == OUTCOME_REFUSED)
        return r;
    r.sent_ns = sent_ms * MS;
    r.done_ns = r.sent_ns + ms * MS;
    r.attempt_count = 1;
    r.attempts[0] = (struct record_attempt){
        .start_ns = r.sent_ns, .done_ns = r.done_ns, .http_status = status, .error_type = (uint8_t)type};
    record_derive(&r, true);
    return r;
}

/* The summary of some records of one run. */
static inline struct summary made_summary(const struct run_facts *facts, const struct request_record *records,
                                          size_t count)
{
    struct summary_builder *builder;
    struct summary summary;
    struct as_error err = {0};
    assert_int_equal(summary_builder_new(&facts, 1, NULL, &builder), AS_OK);
    for (size_t i = 0; i < count; i++)
        summary_add(builder, 0, &records[i]);
    assert_int_equal(summary_finish(builder, &summary, &err), AS_OK);
    summary_builder_free(builder);
    return summary;
}

static inline bool has_reason(const struct summary *summary, const char *code, enum severity severity)
{
    for (size_t i = 0; i < summary->validity.count; i++) {
        const struct validity_reason *reason = &summary->validity.reasons[i];
        if (strcmp(reason->code, code) == 0)
            return reason->severity == severity;
    }
    return false;
}

static inline bool lacks_reason(const struct summary *summary, const char *code)
{
    return !has_reason(summary, code, SEVERITY_INVALID) && !has_reason(summary, code, SEVERITY_WARNING);
}

static inline void assert_sound(const struct summary *summary)
{
    struct as_error err = {0};
    if (summary_check(summary, &err) != AS_OK)
        fail_msg("%s", err.message);
}

#endif
