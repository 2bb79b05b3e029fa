/* SPDX-License-Identifier: Apache-2.0 */
#include "made_run.h"

#include "base/rng.h"
#include "stats/percentile.h"
#include "stats/sort.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_counts_by_phase_and_outcome(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(12);
    facts.result.skipped = 2;
    struct request_record records[10];
    for (int64_t i = 0; i < 10; i++)
        records[i] = made_ok(i, i * 10, 50);
    records[0].phase = PHASE_WARMUP;
    records[1].phase = PHASE_RAMP_UP;
    records[2].phase = PHASE_BOUNDARY;
    records[3] = made_error(3, 30, 20, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 500);
    records[4] = made_error(4, 40, 9900, OUTCOME_TIMED_OUT, ERROR_TYPE_TIMEOUT, -1);
    records[5] = made_error(5, 50, 20, OUTCOME_CANCELLED, ERROR_TYPE_NONE, -1);
    records[6] = made_error(6, 0, 0, OUTCOME_REFUSED, ERROR_TYPE_SCHEMA, -1);
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.counts.planned, 12);
    assert_int_equal(s.counts.skipped, 2);
    assert_int_equal(s.counts.lost, 0);
    assert_int_equal(s.counts.all.sent, 9);
    assert_int_equal(s.counts.all.refused, 1);
    assert_int_equal(s.counts.all.ok, 6);
    assert_int_equal(s.counts.all.attempts, 9);
    assert_int_equal(s.counts.warmup, 1);
    assert_int_equal(s.counts.ramp_up, 1);
    assert_int_equal(s.counts.boundary, 1);
    const struct summary_block *all = &s.total;
    assert_int_equal(all->counts.ok, 4);
    assert_int_equal(all->counts.cancelled, 1);
    assert_int_equal(all->latency[LATENCY_RESPONSE_TIME].n, 4);
    assert_int_equal(all->errors.count, 3);
    assert_true(all->errors.rate == 3.0 / 7.0);
    assert_true(all->errors.attempt_rate == 2.0 / 7.0);
    assert_int_equal(all->errors.by_type[ERROR_TYPE_SERVER_ERROR], 1);
    assert_int_equal(all->errors.by_type[ERROR_TYPE_TIMEOUT], 1);
    assert_int_equal(all->errors.by_type[ERROR_TYPE_SCHEMA], 1);
    assert_int_equal(all->errors.status_count, 1);
    assert_int_equal(all->errors.by_status[0].http_status, 500);
    summary_done(&s);
}

static void test_window_and_rates(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(4);
    struct request_record records[] = {
        made_ok(0, 0, 5000), /* warm-up: counts for nothing */
        made_ok(1, 100, 100),
        made_ok(2, 150, 850),
        made_error(3, 500, 1500, OUTCOME_FAILED, ERROR_TYPE_CONNECTION, -1),
    };
    records[0].phase = PHASE_WARMUP;
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.window.start_ns, 100 * MS);
    assert_int_equal(s.window.duration_ns, 900 * MS);
    assert_int_equal(s.window.elapsed_ns, 1900 * MS);
    assert_true(s.total.window_rates.requests_per_second == 2 / 0.9);
    assert_true(s.total.window_rates.completion_tokens_per_second == 20 / 0.9);
    assert_true(s.total.spec_rates.requests_per_second == 2 / 1.9);
    assert_true(s.total.spec_rates.prompt_tokens_per_second == 14 / 1.9);
    assert_int_equal(s.total.first.seq, 1);
    assert_int_equal(s.total.first.response_time_ns, 100 * MS);
    summary_done(&s);
}

static void test_ramp_that_takes_all_is_named(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(2);
    facts.rules.ramp_up_ns = 1000 * MS;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 200, 100)};
    records[0].phase = records[1].phase = PHASE_RAMP_UP;
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_int_equal(s.counts.ramp_up, 2);
    const char *message = NULL;
    for (size_t i = 0; i < s.validity.count; i++)
        if (strcmp(s.validity.reasons[i].code, "no_success") == 0)
            message = s.validity.reasons[i].message;
    assert_non_null(message);
    assert_non_null(strstr(message, "2 requests belong to the ramp"));
    summary_done(&s);
}

static void test_ramp_opens_the_window_at_its_end(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(3);
    facts.rules.ramp_up_ns = 1000 * MS;
    facts.result.measured_start_ns = 1003 * MS;
    struct request_record records[] = {made_ok(0, 0, 600), made_ok(1, 500, 800), made_ok(2, 1100, 903)};
    records[0].phase = PHASE_RAMP_UP;
    records[1].phase = PHASE_BOUNDARY;
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.window.start_ns, 1003 * MS);
    assert_int_equal(s.window.duration_ns, 1000 * MS);
    assert_int_equal(s.total.counts.ok, 2);
    assert_int_equal(s.counts.ramp_up, 1);
    assert_int_equal(s.counts.boundary, 1);
    assert_true(s.total.window_rates.requests_per_second == 2.0);
    summary_done(&s);
}

static void test_nothing_is_zero_that_is_unknown(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(2);
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 10, 100)};
    for (size_t i = 0; i < COUNT(records); i++) {
        struct request_record *r = &records[i];
        r->usage_missing = true;
        r->prompt_tokens = r->completion_tokens = r->total_tokens = -1;
        r->first_content_ns = r->first_byte_ns = r->client_lag_ns = -1;
        record_derive(r, false);
    }
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.total.usage_missing, 2);
    assert_int_equal(s.total.tokens[TOKENS_COMPLETION].n, 0);
    assert_int_equal(s.total.tokens[TOKENS_COMPLETION].total, -1);
    assert_true(isnan(s.total.tokens[TOKENS_COMPLETION].per_second));
    assert_true(isnan(s.total.window_rates.completion_tokens_per_second));
    assert_true(isnan(s.total.latency[LATENCY_TTFT].percentile[DISTRIBUTION_P50]));
    assert_int_equal(s.total.latency[LATENCY_TTFT_SPEC].n, 2);
    assert_true(isnan(s.client.lag.percentile[DISTRIBUTION_P99]));
    assert_true(isnan(s.client.budget_ttft));
    assert_true(isnan(s.client.late_send_ratio));
    assert_int_equal(s.total.cached_tokens, -1);
    assert_true(has_reason(&s, "usage_missing", SEVERITY_WARNING));
    summary_done(&s);
}

static void test_all_failed_has_no_window_but_spec_rates(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(1);
    struct request_record record = made_error(0, 10, 500, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 503);
    struct summary s = made_summary(&facts, &record, 1);
    assert_sound(&s);
    assert_int_equal(s.window.duration_ns, -1);
    assert_int_equal(s.window.elapsed_ns, 500 * MS);
    assert_true(isnan(s.total.window_rates.requests_per_second));
    assert_true(s.total.spec_rates.requests_per_second == 0.0);
    assert_true(s.total.errors.rate == 1.0);
    assert_false(s.validity.is_valid);
    assert_true(has_reason(&s, "no_success", SEVERITY_INVALID));
    summary_done(&s);
}

static void test_no_records_at_all(void **state)
{
    (void)state;
    struct run_facts facts;
    run_facts_init(&facts);
    struct summary s = made_summary(&facts, NULL, 0);
    assert_sound(&s);
    assert_int_equal(s.counts.planned, -1);
    assert_int_equal(s.window.start_ns, -1);
    assert_true(isnan(s.total.errors.rate));
    assert_true(s.is_partial);
    assert_true(has_reason(&s, "run_unfinished", SEVERITY_INVALID));
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(summary_write_json(&s, 2, &text), AS_OK);
    assert_null(strstr(strbuf_text(&text), "nan"));
    assert_null(strstr(strbuf_text(&text), "inf"));
    summary_done(&s);
    struct summary_builder *builder = NULL;
    assert_int_equal(summary_builder_new(NULL, 0, NULL, &builder), AS_E_INVALID);
    assert_null(builder);
}

static void test_lost_surplus_and_duplicates(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(4);
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 5, 100), made_ok(1, 5, 100), made_ok(3, 8, 100)};
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.counts.duplicates, 1);
    assert_int_equal(s.counts.lost, 1);
    assert_int_equal(s.total.counts.ok, 3);
    assert_true(has_reason(&s, "records_lost", SEVERITY_INVALID));
    assert_true(has_reason(&s, "duplicates", SEVERITY_WARNING));
    summary_done(&s);

    facts = made_facts(2);
    s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.counts.surplus, 1);
    assert_true(has_reason(&s, "records_lost", SEVERITY_INVALID));
    summary_done(&s);
}

static void test_plan_bounded_by_time_plans_what_it_began(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(INT64_MAX);
    facts.result.skipped = INT64_MAX - 2;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 5, 100)};
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.counts.planned, 2);
    assert_int_equal(s.counts.skipped, 0);
    assert_int_equal(s.counts.lost, 0);
    summary_done(&s);
}

static void test_killed_run_has_requests_without_a_record(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(10);
    facts.has_result = false;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 5, 100)};
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.counts.planned, 10);
    assert_int_equal(s.counts.skipped, -1);
    assert_int_equal(s.counts.unrecorded, 8);
    assert_int_equal(s.counts.cut_off, facts.rules.concurrency < 8 ? facts.rules.concurrency : 8);
    assert_true(s.is_partial);
    assert_true(isnan(s.client.cpu_ratio));
    assert_int_equal(s.client.connects, -1);
    assert_true(has_reason(&s, "run_unfinished", SEVERITY_INVALID));
    summary_done(&s);
}

/* A lively mix: two endpoints, errors of several kinds, missing values. */
static void make_mix(struct request_record *records, int64_t count)
{
    struct rng rng;
    rng_init(&rng, 42, 0);
    for (int64_t i = 0; i < count; i++) {
        int64_t ms = 20 + (int64_t)rng_below(&rng, 400);
        records[i] = made_ok(i, i * 7, ms);
        if (i % 11 == 3)
            records[i] = made_error(i, i * 7, ms, OUTCOME_FAILED, ERROR_TYPE_RATE_LIMIT, 429);
        if (i % 13 == 5)
            records[i] = made_error(i, i * 7, ms, OUTCOME_FAILED, ERROR_TYPE_SERVER_ERROR, 500 + (int32_t)(i % 40));
        if (i % 17 == 4)
            records[i] = made_error(i, i * 7, ms, OUTCOME_TIMED_OUT, ERROR_TYPE_TIMEOUT, -1);
        if (i % 5 == 0)
            records[i].client_lag_ns = -1;
        if (i % 19 == 7)
            records[i].usage_missing = true;
        if (records[i].outcome == OUTCOME_FAILED)
            records[i].error_message = (struct record_text){"it broke", 8};
        records[i].oom = records[i].outcome == OUTCOME_FAILED && i % 3 == 0;
        records[i].endpoint = (uint32_t)(i % 3 == 0);
    }
}

static void shuffle(struct request_record *records, int64_t count)
{
    struct rng rng;
    rng_init(&rng, 9, 0);
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)rng_below(&rng, (uint64_t)i + 1);
        struct request_record held = records[i];
        records[i] = records[j];
        records[j] = held;
    }
}

static void test_order_of_records_does_not_matter(void **state)
{
    (void)state;
    enum { N = 700 };
    static struct request_record records[N];
    struct run_facts facts = made_facts(N);
    facts.endpoint_count = 2;
    make_mix(records, N);
    AS_AUTO_STRBUF struct strbuf before, after;
    strbuf_init(&before, 0);
    strbuf_init(&after, 0);
    struct summary s = made_summary(&facts, records, N);
    assert_sound(&s);
    assert_int_equal(s.total.errors.example_count, ERROR_EXAMPLES_MAX);
    assert_true(s.total.errors.oom_detected);
    assert_string_equal(s.total.errors.oom_message, "it broke");
    assert_int_equal(summary_write_json(&s, 2, &before), AS_OK);
    summary_done(&s);
    shuffle(records, N);
    s = made_summary(&facts, records, N);
    assert_int_equal(summary_write_json(&s, 2, &after), AS_OK);
    summary_done(&s);
    assert_string_equal(strbuf_text(&before), strbuf_text(&after));
}

static void test_distributions_against_a_second_way(void **state)
{
    (void)state;
    enum { N = 300 };
    static struct request_record records[N];
    static int64_t values[2][N];
    int64_t counts[2] = {0, 0};
    struct run_facts facts = made_facts(N);
    facts.endpoint_count = 2;
    make_mix(records, N);
    for (int i = 0; i < N; i++) {
        if (records[i].outcome != OUTCOME_OK)
            continue;
        uint32_t e = records[i].endpoint;
        values[e][counts[e]++] = records[i].tpot_ns;
    }
    struct summary s = made_summary(&facts, records, N);
    assert_sound(&s);
    for (size_t e = 0; e < 2; e++) {
        sort_int64(values[e], (size_t)counts[e]);
        const struct distribution *d = &s.endpoints[e].latency[LATENCY_TPOT];
        assert_int_equal(d->n, counts[e]);
        int64_t rank = (counts[e] * 95 + 99) / 100 - 1;
        assert_true(d->percentile[DISTRIBUTION_P95] == (double)values[e][rank]);
        assert_true(d->max == (double)values[e][counts[e] - 1]);
    }
    assert_int_equal(s.total.latency[LATENCY_TPOT].n, counts[0] + counts[1]);
    assert_int_equal(s.endpoints[0].counts.sent + s.endpoints[1].counts.sent, N);
    summary_done(&s);
}

/* Gaps as the engine hands them over and as a reader of records does. */
static void test_gaps_in_both_forms(void **state)
{
    (void)state;
    static const char leb[] = {'\x80', '\x94', '\xeb', '\xdc', '\x03', '\x05'}; /* 10^9, 5 */
    struct record_bucket buckets[] = {{histogram_index(5), 1}, {histogram_index(1000000000), 1}};
    struct record_gap_stats stats = {
        .n = 2,
        .sum_ns = 1000000005,
        .min_ns = 5,
        .max_ns = 1000000000,
        .sum_squares = {UINT64_C(1000000000000000025), 0},
        .buckets = buckets,
        .bucket_count = 2,
    };
    for (int form = 0; form < 2; form++) {
        struct run_facts facts = made_facts(1);
        struct request_record record = made_ok(0, 0, 2000);
        if (form == 0)
            record.gaps = (struct record_text){leb, sizeof leb};
        else
            record.gap_stats = &stats;
        struct summary s = made_summary(&facts, &record, 1);
        assert_sound(&s);
        const struct distribution *itl = &s.total.latency[LATENCY_ITL];
        assert_int_equal(itl->n, 2);
        assert_int_equal(itl->method, PERCENTILE_FROM_HISTOGRAM);
        assert_true(itl->min == 5 && itl->max == 1e9 && itl->mean == 500000002.5);
        assert_true(itl->std == 499999997.5);
        assert_true(itl->percentile[DISTRIBUTION_P50] == 5);
        assert_true(itl->percentile[DISTRIBUTION_P99] == 1e9);
        summary_done(&s);
    }
}

/* The request is the last endpoint's; each try is counted where it was made. */
static void test_tries_at_another_endpoint(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(2);
    static const struct run_endpoint endpoints[] = {{"a", "http://127.0.0.1:8000/v1", 1},
                                                    {"b", "http://127.0.0.1:8001/v1", 1}};
    facts.endpoints = endpoints;
    facts.endpoint_count = 2;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 10, 100)};
    struct record_attempt *tries = records[1].attempts;
    tries[2] = tries[0];
    tries[0].endpoint = tries[1].endpoint = 1;
    tries[0].error_type = ERROR_TYPE_CONNECTION;
    tries[1].error_type = ERROR_TYPE_SERVER_ERROR;
    records[1].attempt_count = 3;
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.endpoints[0].counts.sent, 2);
    assert_int_equal(s.endpoints[0].counts.attempts, 2);
    assert_int_equal(s.endpoints[0].counts.failed_attempts, 0);
    assert_true(s.endpoints[0].errors.attempt_rate == 0);
    assert_int_equal(s.endpoints[1].counts.sent, 0);
    assert_int_equal(s.endpoints[1].counts.attempts, 2);
    assert_int_equal(s.endpoints[1].counts.failed_attempts, 2);
    assert_true(s.endpoints[1].errors.attempt_rate == 1);
    assert_int_equal(s.total.counts.attempts, 4);
    assert_int_equal(s.total.counts.failed_attempts, 2);
    summary_done(&s);
}

static void test_refused_without_an_endpoint(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(2);
    struct request_record records[] = {made_ok(0, 0, 100), made_error(1, 0, 0, OUTCOME_REFUSED, ERROR_TYPE_SCHEMA, -1)};
    records[1].endpoint = UINT32_MAX;
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    assert_int_equal(s.unassigned.refused, 1);
    assert_int_equal(s.endpoint_count, 1);
    assert_int_equal(s.endpoints[0].errors.count, 0);
    assert_int_equal(s.total.errors.count, 1);
    summary_done(&s);
}

static void test_errors_are_told_by_their_first_of_a_kind(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(4);
    struct request_record records[] = {
        made_error(7, 0, 10, OUTCOME_FAILED, ERROR_TYPE_RATE_LIMIT, 429),
        made_error(3, 0, 10, OUTCOME_FAILED, ERROR_TYPE_RATE_LIMIT, 429),
        made_error(5, 0, 10, OUTCOME_FAILED, ERROR_TYPE_SERVER_REPORTED, 200),
        made_ok(1, 0, 50),
    };
    records[0].error_message = (struct record_text){"later", 5};
    records[1].error_message = (struct record_text){"first", 5};
    struct summary s = made_summary(&facts, records, COUNT(records));
    const struct error_figures *errors = &s.total.errors;
    assert_int_equal(errors->example_count, 2);
    assert_int_equal(errors->examples[0].seq, 3);
    assert_string_equal(errors->examples[0].message, "first");
    assert_int_equal(errors->examples[1].seq, 5);
    assert_null(errors->examples[1].message);
    assert_int_equal(errors->status_count, 2);
    assert_int_equal(errors->by_status[1].count, 2);
    assert_false(errors->oom_detected);
    summary_done(&s);
}

static struct summary goodput_of(struct run_slo slo, const struct request_record *record)
{
    struct run_facts facts = made_facts(1);
    facts.rules.slo = slo;
    return made_summary(&facts, record, 1);
}

static void test_goodput(void **state)
{
    (void)state;
    struct request_record record = made_ok(0, 0, 100); /* ttft 10 ms, tpot 10 ms, mean gap 9.99 ms */
    struct request_record one_token = record, whole = record, waited = record;
    one_token.completion_tokens = 1;
    one_token.content_chunks = 1;
    record_derive(&one_token, true);
    record_derive(&whole, false);
    waited.due_ns = 0;
    waited.sent_ns = 30 * MS;
    waited.first_content_ns = 40 * MS;
    waited.done_ns = 130 * MS;
    record_derive(&waited, true);
    const struct {
        struct run_slo slo;
        const struct request_record *record;
        int good, undecided;
    } cases[] = {
        {{10 * MS, -1, -1, -1}, &record, 1, 0},
        {{10 * MS - 1, -1, -1, -1}, &record, 0, 0},
        {{10 * MS, 10 * MS, 100 * MS, 10 * MS}, &record, 1, 0},
        {{10 * MS, 10 * MS - 1, 100 * MS, 10 * MS}, &record, 0, 0},
        {{-1, -1, -1, 9 * MS}, &record, 0, 0},
        {{-1, 1, -1, 1}, &one_token, 1, 0},
        {{50 * MS, -1, -1, -1}, &whole, 0, 1},      /* no TTFT without a stream: not shown to be met */
        {{50 * MS, -1, 10 * MS, -1}, &whole, 0, 0}, /* one bound is missed whatever the other */
        {{10 * MS, -1, -1, -1}, &waited, 0, 0},     /* 10 ms from the send, 40 ms from when it was due */
        {{40 * MS, -1, 130 * MS, -1}, &waited, 1, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct summary s = goodput_of(cases[i].slo, cases[i].record);
        assert_sound(&s);
        assert_true(s.total.goodput.has_slo);
        assert_int_equal(s.total.goodput.good, cases[i].good);
        assert_int_equal(s.total.goodput.undecided, cases[i].undecided);
        summary_done(&s);
    }
    struct summary s = goodput_of((struct run_slo){-1, -1, -1, -1}, &record);
    assert_false(s.total.goodput.has_slo);
    assert_true(isnan(s.total.goodput.ratio));
    summary_done(&s);
}

static void test_goodput_ratio_counts_failures(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(3);
    facts.rules.slo.e2e_ns = 200 * MS;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 0, 500),
                                       made_error(2, 0, 10, OUTCOME_FAILED, ERROR_TYPE_BODY, 200)};
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_true(s.total.goodput.ratio == 1.0 / 3.0);
    assert_true(s.total.goodput.requests_per_second == 2.0);
    summary_done(&s);
}

static void test_lengths_chunks_and_prompts(void **state)
{
    (void)state;
    struct run_facts facts = made_facts(4);
    facts.rules.expects_full_length = true;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 0, 100), made_ok(2, 0, 100), made_ok(3, 0, 100)};
    records[1].max_tokens = 40;
    records[2].max_tokens = 8;
    records[3].max_tokens = -1;
    records[3].content_chunks = 5;
    records[3].censored_chunks = 4;
    memcpy(records[3].prompt_id, records[0].prompt_id, sizeof records[0].prompt_id);
    struct summary s = made_summary(&facts, records, COUNT(records));
    assert_sound(&s);
    const struct length_figures *lengths = &s.total.lengths;
    assert_int_equal(lengths->n, 3);
    assert_int_equal(lengths->shorter, 1);
    assert_int_equal(lengths->longer, 1);
    assert_int_equal(lengths->requested_tokens, 58);
    assert_int_equal(lengths->completion_tokens, 30);
    assert_true(lengths->ratio_ppm.min == 250000 && lengths->ratio_ppm.max == 1250000);
    assert_true(has_reason(&s, "short_outputs", SEVERITY_WARNING));
    assert_true(s.total.chunks.tokens_per_chunk == 40.0 / 35.0);
    assert_true(s.total.chunks.censored_ratio == 4.0 / 35.0);
    assert_int_equal(s.prompts.distinct, 3);
    assert_int_equal(s.prompts.max_reuse, 2);
    assert_int_equal(s.prompts.repeated, 1);
    assert_true(has_reason(&s, "prompts_repeated", SEVERITY_WARNING));
    summary_done(&s);
}

static void test_steady_window_of_a_closed_loop(void **state)
{
    (void)state;
    enum { N = 60 };
    static struct request_record records[N];
    struct run_facts facts = made_facts(N);
    /* Two lanes of 100 ms requests, 1 ms between them; the second lane starts 50 ms later. */
    for (int64_t i = 0; i < N; i++)
        records[i] = made_ok(i, i / 2 * 101 + i % 2 * 50, 100);
    struct summary s = made_summary(&facts, records, N);
    assert_sound(&s);
    assert_true(s.steady.is_found);
    assert_int_equal(s.steady.target, 2);
    assert_int_equal(s.steady.start_ns, 50 * MS);
    assert_int_equal(s.steady.start_ns + s.steady.duration_ns, 29 * 101 * MS + 100 * MS);
    assert_int_equal(s.steady.ok, 59);
    assert_int_equal(s.steady.response_time.n, 58); /* the first one began before the window */
    assert_true(s.steady.has_verdict && s.steady.is_stationary);
    assert_true(s.steady.response_time_drift == 0);
    assert_int_equal(s.client.peak_in_flight, 2);
    assert_true(s.client.mean_in_flight > 1.9);
    assert_true(lacks_reason(&s, "load_not_delivered"));
    summary_done(&s);

    for (int64_t i = 0; i < N; i++)
        records[i] = made_ok(i, i * 1000, 500 + i * 10);
    facts.rules.concurrency = 1;
    s = made_summary(&facts, records, N);
    assert_true(!s.steady.is_found || !s.steady.is_stationary);
    summary_done(&s);
}

static void test_short_peak_is_no_steady_state(void **state)
{
    (void)state;
    enum { N = 30 };
    static struct request_record records[N];
    struct run_facts facts = made_facts(N);
    facts.rules.is_open_loop = true;
    for (int64_t i = 0; i < N; i++)
        records[i] = made_ok(i, i * 1000, 100);
    records[N - 1] = made_ok(N - 1, (N - 2) * 1000 + 97, 100); /* 3 ms with two in flight */
    struct summary s = made_summary(&facts, records, N);
    assert_int_equal(s.client.peak_in_flight, 2);
    assert_false(s.steady.is_found);
    assert_true(isnan(s.steady.share));
    summary_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_by_phase_and_outcome),
        cmocka_unit_test(test_window_and_rates),
        cmocka_unit_test(test_ramp_that_takes_all_is_named),
        cmocka_unit_test(test_ramp_opens_the_window_at_its_end),
        cmocka_unit_test(test_nothing_is_zero_that_is_unknown),
        cmocka_unit_test(test_all_failed_has_no_window_but_spec_rates),
        cmocka_unit_test(test_no_records_at_all),
        cmocka_unit_test(test_lost_surplus_and_duplicates),
        cmocka_unit_test(test_plan_bounded_by_time_plans_what_it_began),
        cmocka_unit_test(test_killed_run_has_requests_without_a_record),
        cmocka_unit_test(test_order_of_records_does_not_matter),
        cmocka_unit_test(test_distributions_against_a_second_way),
        cmocka_unit_test(test_gaps_in_both_forms),
        cmocka_unit_test(test_tries_at_another_endpoint),
        cmocka_unit_test(test_refused_without_an_endpoint),
        cmocka_unit_test(test_errors_are_told_by_their_first_of_a_kind),
        cmocka_unit_test(test_goodput),
        cmocka_unit_test(test_goodput_ratio_counts_failures),
        cmocka_unit_test(test_lengths_chunks_and_prompts),
        cmocka_unit_test(test_steady_window_of_a_closed_loop),
        cmocka_unit_test(test_short_peak_is_no_steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
