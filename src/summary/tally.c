/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/tally.h"

#include <stdlib.h>
#include <string.h>

#define NO_SEQ INT64_MAX

void tally_init(struct tally *tally, struct column_store *store)
{
    memset(tally, 0, sizeof *tally);
    for (int i = 0; i < TALLY_COLUMNS; i++)
        column_init(&tally->columns[i], store);
    tally->cached_tokens = -1;
    tally->oom_seq = NO_SEQ;
    tally->first.seq = NO_SEQ;
    arena_init(&tally->scratch, 0, 0);
}

as_status tally_set_figures(struct tally *tally, const struct own_figures *figures, struct column_store *store)
{
    if (!figures)
        return AS_OK;
    tally->own = figures->make(store);
    tally->figures = figures;
    return tally->own ? AS_OK : AS_E_NOMEM;
}

void tally_done(struct tally *tally)
{
    for (int i = 0; i < TALLY_COLUMNS; i++)
        column_done(&tally->columns[i]);
    for (size_t i = 0; i < tally->example_count; i++)
        free(tally->examples[i].message);
    free(tally->oom_message);
    free(tally->gaps);
    if (tally->own)
        tally->figures->drop(tally->own);
    arena_done(&tally->scratch);
}

void request_counts_add(struct request_counts *to, const struct request_counts *from)
{
    to->sent += from->sent;
    to->refused += from->refused;
    to->ok += from->ok;
    to->failed += from->failed;
    to->timed_out += from->timed_out;
    to->cancelled += from->cancelled;
    to->attempts += from->attempts;
    to->failed_attempts += from->failed_attempts;
}

void request_counts_take(struct request_counts *counts, const struct request_record *record)
{
    if (!record_was_sent(record)) {
        counts->refused++;
        return;
    }
    counts->sent++;
    counts->ok += record->outcome == OUTCOME_OK;
    counts->failed += record->outcome == OUTCOME_FAILED;
    counts->timed_out += record->outcome == OUTCOME_TIMED_OUT;
    counts->cancelled += record->outcome == OUTCOME_CANCELLED;
    uint32_t attempts = record->attempt_count < RECORD_ATTEMPTS_MAX ? record->attempt_count : RECORD_ATTEMPTS_MAX;
    counts->attempts += attempts;
    for (uint32_t i = 0; i < attempts; i++)
        counts->failed_attempts += record->attempts[i].error_type != ERROR_TYPE_NONE;
}

static char *copy_text(struct tally *tally, const struct record_text *text)
{
    if (!text->at)
        return NULL;
    char *copy = malloc(text->len + 1);
    if (!copy) {
        tally->status = AS_E_NOMEM;
        return NULL;
    }
    memcpy(copy, text->at, text->len);
    copy[text->len] = '\0';
    return copy;
}

/* The place of a kind of error among the examples, or of the one with the highest seq when there is no room left. */
static size_t example_place(const struct tally *tally, const struct request_record *record)
{
    size_t highest = 0;
    for (size_t i = 0; i < tally->example_count; i++) {
        const struct tally_example *example = &tally->examples[i];
        if (example->type == record->error_type && example->http_status == record->http_status)
            return i;
        if (example->seq > tally->examples[highest].seq)
            highest = i;
    }
    return tally->example_count < ERROR_EXAMPLES_MAX ? tally->example_count : highest;
}

/* Keeps the lowest seq of each kind, and of the kinds those with the lowest: the order of records does not matter. */
static void keep_example(struct tally *tally, const struct request_record *record)
{
    size_t place = example_place(tally, record);
    struct tally_example *example = &tally->examples[place];
    if (place < tally->example_count) {
        if (record->seq >= example->seq)
            return;
        free(example->message);
    } else {
        tally->example_count++;
    }
    *example = (struct tally_example){
        .seq = record->seq,
        .type = record->error_type,
        .http_status = record->http_status,
        .endpoint = record->endpoint,
        .message = copy_text(tally, &record->error_message),
    };
}

static void take_error(struct tally *tally, const struct request_record *record)
{
    uint8_t type = record->error_type < ERROR_TYPE_COUNT ? record->error_type : (uint8_t)ERROR_TYPE_NONE;
    tally->by_type[type]++;
    if (record->http_status >= 0 && record->http_status < HTTP_STATUS_SLOTS)
        tally->by_status[record->http_status]++;
    keep_example(tally, record);
    if (!record->oom || record->seq >= tally->oom_seq)
        return;
    tally->oom_seq = record->seq;
    free(tally->oom_message);
    tally->oom_message = copy_text(tally, &record->error_message);
}

/* One number of the LEB128 text at *at; false at its end. */
static bool next_gap(const char **at, const char *end, int64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 63; shift += 7) {
        uint8_t byte = (uint8_t) * (*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = (int64_t)value;
            return true;
        }
    }
    return false;
}

static void take_gap_stats(struct histogram *h, const struct record_gap_stats *gaps)
{
    if (gaps->n <= 0)
        return;
    struct moments moments = {
        .n = gaps->n,
        .min = gaps->min_ns,
        .max = gaps->max_ns,
        .sum = gaps->sum_ns,
        .sum_squares = (wide_uint)gaps->sum_squares[1] << 64 | gaps->sum_squares[0],
    };
    moments_merge(&h->moments, &moments);
    for (uint32_t i = 0; i < gaps->bucket_count; i++) {
        if (gaps->buckets[i].index < HISTOGRAM_BUCKETS)
            histogram_fill(h, gaps->buckets[i].index, gaps->buckets[i].count);
    }
}

static void take_gaps(struct tally *tally, const struct request_record *record)
{
    if (!record->gap_stats && !record->gaps.at)
        return;
    if (!tally->gaps && !(tally->gaps = calloc(1, sizeof *tally->gaps))) {
        tally->status = AS_E_NOMEM;
        return;
    }
    if (record->gap_stats) {
        take_gap_stats(tally->gaps, record->gap_stats);
        return;
    }
    const char *at = record->gaps.at, *end = at + record->gaps.len;
    int64_t gap_ns;
    while (next_gap(&at, end, &gap_ns))
        histogram_record(tally->gaps, gap_ns);
}

/* Adds a metric to its bound: 1 = met, 0 = missed, -1 = unknown. */
static int meets(int64_t value_ns, int64_t bound_ns)
{
    if (bound_ns < 0)
        return 1;
    return value_ns < 0 ? -1 : value_ns <= bound_ns;
}

/*
 * In an open loop the user waits from the due time on: TTFT and end-to-end are judged with the queue delay in them. A
 * single token has no time between tokens, a single chunk no gap: those bounds are then met. The gap judged is the
 * answer's mean.
 */
static void judge_slo(struct tally *tally, const struct run_slo *slo, const struct request_record *record)
{
    int64_t delay_ns = record->queue_delay_ns > 0 ? record->queue_delay_ns : 0;
    int64_t tpot_ns = record->completion_tokens == 0 || record->completion_tokens == 1 ? 0 : record->tpot_ns;
    int64_t gaps = record->content_chunks - 1;
    int64_t itl_ns = -1;
    if (record->content_chunks == 0 || gaps == 0)
        itl_ns = 0;
    else if (gaps > 0 && record->first_content_ns >= 0 && record->last_content_ns >= record->first_content_ns)
        itl_ns = (record->last_content_ns - record->first_content_ns) / gaps;
    int verdicts[] = {
        meets(record->ttft_ns < 0 ? -1 : plus(record->ttft_ns, delay_ns), slo->ttft_ns),
        meets(tpot_ns, slo->tpot_ns),
        meets(record->response_time_ns < 0 ? -1 : plus(record->response_time_ns, delay_ns), slo->e2e_ns),
        meets(itl_ns, slo->itl_ns),
    };
    bool is_good = true, is_missed = false;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        is_good = is_good && verdicts[i] == 1;
        is_missed = is_missed || verdicts[i] == 0;
    }
    tally->good += is_good;
    tally->undecided += !is_good && !is_missed;
}

static inline int64_t known(int64_t value)
{
    return value < 0 ? COLUMN_MISSING : value;
}

static void append_row(struct tally *tally, const struct request_record *r, int64_t shift_ns)
{
    struct column *c = tally->columns;
    int64_t first_byte_ns = r->first_byte_ns < 0 || r->sent_ns < 0 ? -1 : r->first_byte_ns - r->sent_ns;
    int64_t ppm = r->max_tokens > 0 && r->completion_tokens >= 0 && r->completion_tokens < INT64_MAX / PPM
                      ? r->completion_tokens * PPM / r->max_tokens
                      : -1;
    int64_t total_tokens = r->total_tokens;
    if (total_tokens < 0 && r->prompt_tokens >= 0 && r->completion_tokens >= 0)
        total_tokens = plus(r->prompt_tokens, r->completion_tokens);
    column_append(&c[COLUMN_DONE], r->done_ns < 0 ? COLUMN_MISSING : plus(r->done_ns, shift_ns));
    column_append(&c[COLUMN_RESPONSE_TIME], known(r->response_time_ns));
    column_append(&c[COLUMN_RESPONSE_LATENCY], known(r->response_latency_ns));
    column_append(&c[COLUMN_QUEUE_DELAY], known(r->queue_delay_ns));
    column_append(&c[COLUMN_TTFT], known(r->ttft_ns));
    column_append(&c[COLUMN_TTFT_SPEC], known(r->ttft_spec_ns));
    column_append(&c[COLUMN_TTFR], known(r->ttfr_ns));
    column_append(&c[COLUMN_TPOT], known(r->tpot_ns));
    column_append(&c[COLUMN_TPOT_SPEC], known(r->tpot_spec_ns));
    column_append(&c[COLUMN_DNS], known(r->dns_duration_ns));
    column_append(&c[COLUMN_CONNECT], known(r->connect_duration_ns));
    column_append(&c[COLUMN_TLS], known(r->tls_duration_ns));
    column_append(&c[COLUMN_FIRST_BYTE], known(first_byte_ns));
    column_append(&c[COLUMN_LAG], known(r->client_lag_ns));
    column_append(&c[COLUMN_PROMPT_TOKENS], known(r->prompt_tokens));
    column_append(&c[COLUMN_COMPLETION_TOKENS], known(r->completion_tokens));
    column_append(&c[COLUMN_REASONING_TOKENS], known(r->reasoning_tokens));
    column_append(&c[COLUMN_TOTAL_TOKENS], known(total_tokens));
    column_append(&c[COLUMN_PROMPT_WORDS], known(r->prompt_words));
    column_append(&c[COLUMN_COMPLETION_WORDS], known(r->completion_words));
    column_append(&c[COLUMN_LENGTH_PPM], known(ppm));
}

static void take_lengths(struct tally *tally, const struct request_record *r)
{
    if (r->content_chunks > 0) {
        sum_up(&tally->content_chunks, r->content_chunks);
        sum_up(&tally->censored_chunks,
               r->censored_chunks < r->content_chunks ? r->censored_chunks : r->content_chunks);
        if (r->completion_tokens >= 0) {
            sum_up(&tally->chunks_with_tokens, r->content_chunks);
            sum_up(&tally->tokens_with_chunks, r->completion_tokens);
        }
    }
    if (r->max_tokens <= 0 || r->completion_tokens < 0)
        return;
    tally->shorter += r->completion_tokens < r->max_tokens;
    tally->longer += r->completion_tokens > r->max_tokens;
    sum_up(&tally->requested_tokens, r->max_tokens);
    sum_up(&tally->delivered_tokens, r->completion_tokens);
}

static void take_success(struct tally *tally, const struct run_rules *rules, const struct request_record *r,
                         int64_t shift_ns)
{
    append_row(tally, r, shift_ns);
    take_gaps(tally, r);
    take_lengths(tally, r);
    judge_slo(tally, &rules->slo, r);
    tally->usage_missing += r->usage_missing;
    tally->zero_tokens += r->completion_tokens == 0;
    tally->stamps[r->stamp < RECORD_STAMP_COUNT ? r->stamp : 0]++;
    if (r->cached_tokens >= 0)
        tally->cached_tokens = plus(tally->cached_tokens < 0 ? 0 : tally->cached_tokens, r->cached_tokens);
    if (rules->request_timeout_ns > 0)
        tally->near_limit += (double)r->response_time_ns >= 0.95 * (double)rules->request_timeout_ns;
    if (r->seq >= tally->first.seq)
        return;
    tally->first = (struct first_request){
        .seq = r->seq,
        .response_time_ns = r->response_time_ns,
        .ttft_ns = r->ttft_ns,
        .dns_ns = r->dns_duration_ns,
        .connect_ns = r->connect_duration_ns,
        .tls_ns = r->tls_duration_ns,
    };
}

static void take_own(struct tally *tally, const struct request_record *record)
{
    const struct json_value *own = NULL;
    as_status status = AS_OK;
    if (record->modality_json.at)
        status = json_parse(record->modality_json.at, record->modality_json.len, NULL, &tally->scratch, &own, NULL);
    if (status != AS_E_NOMEM)
        status = tally->figures->take(tally->own, record, own);
    if (status != AS_OK)
        tally->status = status;
    arena_reset(&tally->scratch);
}

void tally_add(struct tally *tally, const struct run_rules *rules, const struct request_record *record,
               int64_t shift_ns)
{
    request_counts_take(&tally->counts, record);
    sum_up(&tally->bytes_sent, record->bytes_sent);
    sum_up(&tally->bytes_received, record->bytes_received);
    sum_up(&tally->damaged_events, record->damaged_events);
    if (tally->own)
        take_own(tally, record);
    for (uint32_t rest = record->flags; rest; rest &= rest - 1)
        tally->flags[__builtin_ctz(rest)]++;
    switch (record->outcome) {
    case OUTCOME_OK:
        take_success(tally, rules, record, shift_ns);
        break;
    case OUTCOME_TIMED_OUT:
        tally->near_limit++;
        take_error(tally, record);
        break;
    case OUTCOME_FAILED:
    case OUTCOME_REFUSED:
        take_error(tally, record);
        break;
    default:
        break;
    }
}
