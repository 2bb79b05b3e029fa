/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/rng.h"
#include "measure/gaps.h"
#include "measure/record_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const endpoints[] = {"a", "http://\"b\"\\:1/v1", "c"};
static const struct record_context context = {
    .tool = "llm", .run_id = "run-1", .endpoints = endpoints, .endpoint_count = 3};

/* 2026-11-30T19:05:33.123456Z */
#define EPOCH_NS INT64_C(1796065533123456000)

static char line[1 << 20];

/* Writes one record; gap_stats are counted from its gaps. */
static size_t write_line(const struct record_context *with, struct request_record *record)
{
    struct record_writer writer;
    struct gap_counter gaps;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(gap_counter_init(&gaps), AS_OK);
    assert_int_equal(record_writer_init(&writer, with, NULL), AS_OK);
    writer.epoch.ns = EPOCH_NS;
    if (record->gaps.at)
        record->gap_stats = gap_counter_count(&gaps, &record->gaps);
    record_writer_line(&writer, record, &out);
    assert_int_equal(strbuf_status(&out), AS_OK);
    assert_in_range(out.len, 1, sizeof line - 1);
    memcpy(line, out.data, out.len + 1);
    size_t len = out.len;
    record->gap_stats = NULL;
    strbuf_done(&out);
    record_writer_done(&writer);
    gap_counter_done(&gaps);
    return len;
}

static void test_golden_line(void **state)
{
    (void)state;
    struct request_record record;
    record_init(&record);
    record.seq = 0;
    record.sent_ns = 1000000;
    record.done_ns = 900000000;
    record.outcome = OUTCOME_FAILED;
    record.error_type = ERROR_TYPE_RATE_LIMIT;
    record.error_message = (struct record_text){"slow \"down\"", 11};
    record.retry_after_s = 1.5;
    record.http_status = 429;
    record.flags = RECORD_FLAG_RECONNECTED | RECORD_FLAG_NO_OUTPUT;
    record.attempt_count = 1;
    record.attempts[0] = (struct record_attempt){1000000, 900000000, 429, ERROR_TYPE_RATE_LIMIT, 1, 1};
    record.endpoint = 1;
    record_derive(&record, false);
    write_line(&context, &record);
    assert_string_equal(
        line,
        "{\"schema\":\"metrumbench-llm.request.v1\",\"run_id\":\"run-1\",\"seq\":0,\"prompt_id\":null,\"phase\":"
        "\"measured\","
        "\"endpoint\":\"http://\\\"b\\\"\\\\:1/"
        "v1\",\"outcome\":\"failed\",\"http_status\":429,\"error\":{\"type\":\"rate_limit\",\"status\":429,"
        "\"message\":\"slow "
        "\\\"down\\\"\",\"retry_after_s\":1.5,\"oom_detected\":false},\"due_ns\":null,\"sent_ns\":1000000,"
        "\"written_ns\":null,\"first_byte_ns\":null,\"first_event_ns\":null,\"role_ns\":null,\"first_reasoning_ns\":"
        "null,"
        "\"first_content_ns\":null,\"first_tool_ns\":null,\"last_content_ns\":null,\"usage_ns\":null,\"done_mark_ns\":"
        "null,"
        "\"done_ns\":900000000,\"started_at\":\"2026-11-30T19:05:33.124456Z\",\"completed_at\":\"2026-11-30T19:05:34."
        "023456Z\","
        "\"dns_duration_ns\":null,\"connect_duration_ns\":null,\"tls_duration_ns\":null,\"response_time_ns\":899000000,"
        "\"response_latency_ns\":null,\"ttft_ns\":null,\"ttft_spec_ns\":null,\"ttfr_ns\":null,\"tpot_ns\":null,\"tpot_"
        "spec_ns\":null,"
        "\"queue_delay_ns\":null,\"stamp\":null,\"client_lag_ns\":null,\"events\":null,\"content_chunks\":null,"
        "\"censored_chunks\":null,\"damaged_events\":null,\"prompt_tokens\":null,\"completion_tokens\":null,\"total_"
        "tokens\":null,"
        "\"reasoning_tokens\":null,\"cached_tokens\":null,\"usage_missing\":false,\"prompt_words\":null,\"completion_"
        "words\":null,"
        "\"max_tokens\":null,\"finish_reason\":null,\"done_seen\":false,\"connection_reused\":false,\"bytes_sent\":"
        "null,"
        "\"bytes_received\":null,\"flags\":[\"no_output\",\"reconnected\"],\"attempts\":[{\"start_ns\":1000000,\"done_"
        "ns\":900000000,"
        "\"http_status\":429,\"error_type\":\"rate_limit\",\"connection_reused\":true,\"endpoint\":\"http://"
        "\\\"b\\\"\\\\:1/v1\"}],"
        "\"gaps\":null}\n");
}

static void test_gaps_and_texts(void **state)
{
    (void)state;
    struct request_record record;
    char gaps[64], *at = gaps;
    struct record_context with = context;
    record_init(&record);
    record.seq = 5;
    const int64_t values[] = {0, 10000000, 300, 10000000, 255};
    for (size_t i = 0; i < 5; i++)
        at = gaps_put(at, values[i]);
    record.gaps = (struct record_text){gaps, (size_t)(at - gaps)};
    record.content = (struct record_text){"\"hi\"", 4};
    record.modality_json = (struct record_text){"{\"x\":1}", 7};
    write_line(&with, &record);
    assert_non_null(strstr(
        line, "\"gaps\":{\"n\":5,\"sum_ns\":20000555,\"sum_sq\":\"200000000155025\",\"min_ns\":0,\"max_ns\":10000000,"
              "\"buckets\":[[0,1],[255,1],[300,1],[4145,2]]},\"content\":\"hi\",\"llm\":{\"x\":1}}\n"));
    assert_null(strstr(line, "gaps_ns"));
    with.save_gaps = with.save_content = true;
    record.shared_chunks = (struct record_text){"\0\1\2\2", 4};
    record.censored_chunks = 3;
    write_line(&with, &record);
    assert_non_null(strstr(line, ",\"gaps_ns\":[0,10000000,300,10000000,255],\"shared_chunks\":[0,3,4],\"content\":"
                                 "\"hi\",\"reasoning\":null,\"tool_arguments\":null,"));
    record.content = (struct record_text){"[\"a,]\",\"b\"]", 11};
    write_line(&with, &record);
    assert_non_null(strstr(line, "\"content\":\"a,]\",\"contents\":[\"a,]\",\"b\"],"));
    record.gaps.len = 0;
    write_line(&with, &record);
    assert_non_null(strstr(line, "\"gaps\":{\"n\":0,\"sum_ns\":0,\"sum_sq\":\"0\",\"min_ns\":null,\"max_ns\":null,"
                                 "\"buckets\":[]},\"gaps_ns\":[]"));
}

static void test_gap_squares_beyond_64_bits(void **state)
{
    (void)state;
    struct request_record record;
    char gaps[64], *at = gaps;
    record_init(&record);
    record.seq = 5;
    for (int i = 0; i < 2; i++)
        at = gaps_put(at, HISTOGRAM_MAX_NS + 5 * i);
    record.gaps = (struct record_text){gaps, (size_t)(at - gaps)};
    write_line(&context, &record);
    /* 2 × (2^48 − 1)² */
    assert_non_null(strstr(line, "\"sum_sq\":\"158456325028527549287181058050\""));
}

static void test_odd_texts_stay_json(void **state)
{
    (void)state;
    struct request_record record;
    static const char message[] = "tab\t quote\" back\\ nul\0 bad\xFF end \xC5\xBD";
    record_init(&record);
    record.seq = 1;
    record.endpoint = RECORD_NO_ENDPOINT;
    record.outcome = OUTCOME_REFUSED;
    record.error_type = ERROR_TYPE_BAD_REQUEST;
    record.error_message = (struct record_text){message, sizeof message - 1};
    snprintf(record.prompt_id, sizeof record.prompt_id, "a\"b\n\x01");
    snprintf(record.finish_reason, sizeof record.finish_reason, "st\\op");
    size_t len = write_line(&context, &record);
    struct arena arena;
    struct as_error err = {.message = ""};
    const struct json_value *root;
    arena_init(&arena, 0, 0);
    if (json_parse(line, len, NULL, &arena, &root, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_string_equal(json_get(root, "prompt_id")->text, "a\"b\n\x01");
    assert_string_equal(json_get(root, "finish_reason")->text, "st\\op");
    assert_true(json_is_null(json_get(root, "endpoint")));
    const struct json_value *text = json_path(root, "error.message");
    static const char expected[] = "tab\t quote\" back\\ nul\0 bad\xEF\xBF\xBD end \xC5\xBD";
    assert_int_equal(text->len, sizeof expected - 1);
    assert_memory_equal(text->text, expected, sizeof expected - 1);
    arena_done(&arena);
}

static int64_t any_int(struct rng *rng)
{
    return rng_below(rng, 4) == 0 ? -1 : (int64_t)(rng_u64(rng) >> (1 + rng_below(rng, 63)));
}

static void random_record(struct rng *rng, struct request_record *record, char *gaps)
{
    record_init(record);
    /* Every int64 between the first instant and the last count. */
    for (size_t at = offsetof(struct request_record, due_ns); at < offsetof(struct request_record, finish_reason);
         at += 8) {
        int64_t value = any_int(rng);
        memcpy((char *)record + at, &value, 8);
    }
    record->seq = (int64_t)(rng_u64(rng) >> 1);
    record->sent_ns = (int64_t)rng_below(rng, 1ULL << 50);
    record->done_ns = (int64_t)rng_below(rng, 1ULL << 50);
    record->endpoint = rng_below(rng, 4) ? (uint32_t)rng_below(rng, 3) : RECORD_NO_ENDPOINT;
    record->phase = (uint8_t)rng_below(rng, PHASE_COUNT);
    record->outcome = (uint8_t)rng_below(rng, OUTCOME_COUNT);
    record->stamp = (uint8_t)rng_below(rng, RECORD_STAMP_COUNT);
    record->flags = (uint32_t)rng_u64(rng) & 0x3FFFF;
    record->usage_missing = rng_below(rng, 2);
    record->done_seen = rng_below(rng, 2);
    record->reused = rng_below(rng, 2);
    record->http_status = (int32_t)rng_below(rng, 3) * 200 - 1;
    if (rng_below(rng, 2)) {
        record->error_type = (uint8_t)(1 + rng_below(rng, ERROR_TYPE_COUNT - 1));
        record->error_message = (struct record_text){"why \xC5\xBD\n", rng_below(rng, 2) ? 7u : 0u};
        record->retry_after_s = rng_below(rng, 2) ? rng_uniform(rng) * 100 : -1;
        record->oom = rng_below(rng, 2);
    }
    snprintf(record->prompt_id, sizeof record->prompt_id, "%s", rng_below(rng, 3) ? "row \"9\"" : "");
    snprintf(record->finish_reason, sizeof record->finish_reason, "%s", rng_below(rng, 3) ? "stop" : "");
    record->attempt_count = (uint32_t)rng_below(rng, RECORD_ATTEMPTS_MAX + 1);
    for (uint32_t i = 0; i < record->attempt_count; i++)
        record->attempts[i] = (struct record_attempt){any_int(rng),
                                                      any_int(rng),
                                                      (int32_t)rng_below(rng, 600) - 1,
                                                      (uint8_t)rng_below(rng, ERROR_TYPE_COUNT),
                                                      (uint8_t)rng_below(rng, 2),
                                                      (uint16_t)rng_below(rng, 3)};
    if (rng_below(rng, 2)) {
        char *at = gaps;
        for (uint64_t n = rng_below(rng, 200); n > 0; n--)
            at = gaps_put(at, (int64_t)rng_below(rng, 1ULL << rng_below(rng, 48)));
        record->gaps = (struct record_text){gaps, (size_t)(at - gaps)};
    }
    if (rng_below(rng, 2)) {
        record->content = (struct record_text){"\"a\\nb\"", 6};
        record->reasoning = (struct record_text){"[\"x\",\"y\"]", 9};
        record->modality_json = (struct record_text){"{\"deep\":[1,{\"a\":null}]}", 23};
    }
}

static void assert_text_equal(const struct record_text *a, const struct record_text *b)
{
    assert_int_equal(a->at == NULL, b->at == NULL);
    assert_int_equal(a->len, b->len);
    if (a->at)
        assert_memory_equal(a->at, b->at, a->len);
}

static void assert_same_record(const struct request_record *a, const struct request_record *b)
{
    for (size_t at = offsetof(struct request_record, due_ns); at < offsetof(struct request_record, finish_reason);
         at += 8) {
        int64_t x, y;
        memcpy(&x, (const char *)a + at, 8);
        memcpy(&y, (const char *)b + at, 8);
        assert_int_equal(x, y);
    }
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->endpoint, b->endpoint);
    assert_int_equal(a->phase, b->phase);
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->error_type, b->error_type);
    assert_int_equal(a->stamp, b->stamp);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->http_status, b->http_status);
    assert_int_equal(a->usage_missing, b->usage_missing);
    assert_int_equal(a->done_seen, b->done_seen);
    assert_int_equal(a->reused, b->reused);
    assert_int_equal(a->oom, b->oom);
    assert_memory_equal(&a->retry_after_s, &b->retry_after_s, sizeof(double));
    assert_string_equal(a->prompt_id, b->prompt_id);
    assert_string_equal(a->finish_reason, b->finish_reason);
    assert_int_equal(a->attempt_count, b->attempt_count);
    for (uint32_t i = 0; i < a->attempt_count; i++) {
        assert_int_equal(a->attempts[i].start_ns, b->attempts[i].start_ns);
        assert_int_equal(a->attempts[i].done_ns, b->attempts[i].done_ns);
        assert_int_equal(a->attempts[i].http_status, b->attempts[i].http_status);
        assert_int_equal(a->attempts[i].error_type, b->attempts[i].error_type);
        assert_int_equal(a->attempts[i].reused, b->attempts[i].reused);
        assert_int_equal(a->attempts[i].endpoint, b->attempts[i].endpoint);
    }
    assert_text_equal(&a->content, &b->content);
    assert_text_equal(&a->reasoning, &b->reasoning);
    assert_text_equal(&a->tool_arguments, &b->tool_arguments);
    assert_text_equal(&a->modality_json, &b->modality_json);
    assert_text_equal(&a->gaps, &b->gaps);
    if (a->error_type != ERROR_TYPE_NONE)
        assert_text_equal(&a->error_message, &b->error_message);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct record_context with = context;
    struct rng rng;
    struct arena arena;
    with.save_gaps = true;
    arena_init(&arena, 0, 0);
    rng_init(&rng, 11, 0);
    for (int round = 0; round < 2000; round++) {
        static char gaps[4096], first[sizeof line];
        static struct request_record record, back;
        random_record(&rng, &record, gaps);
        size_t len = write_line(&with, &record);
        memcpy(first, line, len + 1);
        struct record_reader reader = {.context = with, .arena = &arena};
        struct as_error err = {.message = ""};
        arena_reset(&arena);
        if (record_reader_line(&reader, first, len, &back, &err) != AS_OK)
            fail_msg("%s\n%s", err.message, first);
        assert_string_equal(reader.run_id, "run-1");
        assert_same_record(&record, &back);
        assert_int_equal(back.gap_stats != NULL, record.gaps.at != NULL);
        /* And the line again, from what was read. */
        const struct record_gap_stats *stats = back.gap_stats;
        struct record_writer writer;
        struct strbuf out;
        strbuf_init(&out, 0);
        assert_int_equal(record_writer_init(&writer, &with, NULL), AS_OK);
        writer.epoch.ns = EPOCH_NS;
        assert_ptr_equal(back.gap_stats, stats);
        record_writer_line(&writer, &back, &out);
        assert_string_equal(out.data, first);
        strbuf_done(&out);
        record_writer_done(&writer);
    }
    arena_done(&arena);
}

/* Whatever is missing of a line, reading says so or gives a record, and never reads outside. */
static void test_every_cut_is_refused(void **state)
{
    (void)state;
    struct request_record record, back;
    struct arena arena;
    struct rng rng;
    static char gaps[4096];
    struct record_context with = context;
    with.save_gaps = true;
    rng_init(&rng, 6, 0);
    random_record(&rng, &record, gaps);
    record.error_type = ERROR_TYPE_BODY;
    record.attempt_count = 2;
    size_t len = write_line(&with, &record) - 1;
    arena_init(&arena, 0, 0);
    struct record_reader reader = {.context = context, .arena = &arena};
    for (size_t cut = 0; cut < len; cut++) {
        char *exact = malloc(cut ? cut : 1);
        struct as_error err = {.message = ""};
        assert_non_null(exact);
        memcpy(exact, line, cut);
        assert_int_equal(record_reader_line(&reader, exact, cut, &back, &err), AS_E_INVALID);
        assert_true(err.message[0] != '\0');
        free(exact);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"", "no JSON object"},
        {"[]", "no JSON object"},
        {"{}", "schema or seq"},
        {"{\"schema\":\"metrumbench-vlm.request.v1\",\"seq\":1}", "metrumbench-vlm.request.v1"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"run_id\":\"other\",\"seq\":1}", "other"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":-1}", "whole number"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1.5}", "whole number"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"outcome\":\"great\"}", "unknown name"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"flags\":[\"unheard_of\"]}", "unknown name"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"http_status\":99999999999}", "too large"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"done_seen\":1}", "true or false"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"gaps\":{\"n\":2,\"buckets\":[[1,1]]}}", "add up"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"gaps\":{\"n\":2,\"buckets\":[[2,1],[1,1]]}}", "order"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"gaps\":{\"n\":1,\"buckets\":[[99999,1]]}}",
         "no such bucket"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1} x", "no whole JSON object"},
        {"{\"schema\":\"metrumbench-llm.request.v1\",\"seq\":1,\"attempts\":[1]}", "an attempt is an object"},
    };
    struct request_record record;
    struct arena arena;
    arena_init(&arena, 0, 0);
    struct record_reader reader = {.context = context, .arena = &arena};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = {.message = ""};
        assert_int_equal(record_reader_line(&reader, cases[i].line, strlen(cases[i].line), &record, &err),
                         AS_E_INVALID);
        if (!strstr(err.message, cases[i].why))
            fail_msg("'%s' does not say '%s'", err.message, cases[i].why);
    }
    arena_done(&arena);
}

static void test_foreign_members_and_order(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"later\" : [1,{\"seq\":7}], \"done_ns\":5, \"seq\": 3, \"endpoint\":\"c\", \"sent_ns\":2,"
        "\"schema\":\"metrumbench-llm.request.v1\", \"outcome\":\"cancelled\" }\r\n";
    struct request_record record;
    struct arena arena;
    arena_init(&arena, 0, 0);
    struct record_reader reader = {.context = context, .arena = &arena};
    assert_int_equal(record_reader_line(&reader, text, sizeof text - 1, &record, NULL), AS_OK);
    assert_int_equal(record.seq, 3);
    assert_int_equal(record.done_ns, 5);
    assert_int_equal(record.sent_ns, 2);
    assert_int_equal(record.endpoint, 2);
    assert_int_equal(record.outcome, OUTCOME_CANCELLED);
    assert_int_equal(record.ttft_ns, -1);
    assert_int_equal(record.phase, PHASE_MEASURED);
    arena_done(&arena);
}

static void test_leb128(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, 127, 128, 16383, 16384, INT64_MAX};
    char bytes[100], *end = bytes;
    const char *at = bytes;
    int64_t got;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        end = gaps_put(end, values[i]);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_true(gaps_next(&at, end, &got));
        assert_int_equal(got, values[i]);
    }
    assert_false(gaps_next(&at, end, &got));
    at = bytes + 2;
    assert_false(gaps_next(&at, bytes + 2, &got));
    memset(bytes, 0x80, sizeof bytes);
    at = bytes;
    assert_false(gaps_next(&at, bytes + sizeof bytes, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_line),
        cmocka_unit_test(test_gaps_and_texts),
        cmocka_unit_test(test_gap_squares_beyond_64_bits),
        cmocka_unit_test(test_odd_texts_stay_json),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_foreign_members_and_order),
        cmocka_unit_test(test_leb128),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
