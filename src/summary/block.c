/* SPDX-License-Identifier: Apache-2.0 */
/* Tallies → the figures of one block. */
#include "summary/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNDEFINED ((double)NAN)

/* a / b, undefined when b is not positive. */
static double ratio(double a, double b)
{
    return b > 0 ? a / b : UNDEFINED;
}

static double per_second(double total, int64_t duration_ns)
{
    return duration_ns > 0 ? total / ((double)duration_ns / 1e9) : UNDEFINED;
}

static const int8_t latency_columns[LATENCY_COUNT] = {
    [LATENCY_RESPONSE_TIME] = COLUMN_RESPONSE_TIME,
    [LATENCY_RESPONSE_LATENCY] = COLUMN_RESPONSE_LATENCY,
    [LATENCY_QUEUE_DELAY] = COLUMN_QUEUE_DELAY,
    [LATENCY_TTFT] = COLUMN_TTFT,
    [LATENCY_TTFT_SPEC] = COLUMN_TTFT_SPEC,
    [LATENCY_TTFR] = COLUMN_TTFR,
    [LATENCY_TPOT] = COLUMN_TPOT,
    [LATENCY_TPOT_SPEC] = COLUMN_TPOT_SPEC,
    [LATENCY_ITL] = -1,
    [LATENCY_DNS] = COLUMN_DNS,
    [LATENCY_CONNECT] = COLUMN_CONNECT,
    [LATENCY_TLS] = COLUMN_TLS,
    [LATENCY_FIRST_BYTE] = COLUMN_FIRST_BYTE,
};

/* One column of all tallies, sorted. */
static as_status load(const struct tally_group *group, enum tally_column which, struct values *ret)
{
    const struct column **columns = malloc((group->count + 1) * sizeof *columns);
    if (!columns)
        return AS_E_NOMEM;
    for (size_t i = 0; i < group->count; i++)
        columns[i] = &group->tallies[i]->columns[which];
    as_status status = column_load_sorted(columns, group->count, ret);
    free(columns);
    return status;
}

static as_status distribution(const struct tally_group *group, enum tally_column which, struct distribution *ret)
{
    AS_AUTO_VALUES struct values values = {0};
    as_status status = load(group, which, &values);
    if (status == AS_OK)
        *ret = distribution_of_sorted(values.at, values.count, group->rules->percentile_method);
    return status;
}

as_status tally_lag(const struct tally_group *group, struct distribution *ret)
{
    return distribution(group, COLUMN_LAG, ret);
}

static as_status gaps(const struct tally_group *group, struct distribution *ret)
{
    struct histogram *all = calloc(1, sizeof *all);
    if (!all)
        return AS_E_NOMEM;
    for (size_t i = 0; i < group->count; i++) {
        if (group->tallies[i]->gaps)
            histogram_merge(all, group->tallies[i]->gaps);
    }
    *ret = distribution_of_histogram(all);
    free(all);
    return AS_OK;
}

static as_status latencies(const struct tally_group *group, struct summary_block *block)
{
    for (int i = 0; i < LATENCY_COUNT; i++) {
        as_status status = latency_columns[i] < 0
                               ? gaps(group, &block->latency[i])
                               : distribution(group, (enum tally_column)latency_columns[i], &block->latency[i]);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

static as_status amount(const struct tally_group *group, enum tally_column which, int64_t window_ns, struct amount *ret)
{
    AS_AUTO_VALUES struct values values = {0};
    as_status status = load(group, which, &values);
    if (status != AS_OK)
        return status;
    struct distribution d = distribution_of_sorted(values.at, values.count, group->rules->percentile_method);
    *ret = (struct amount){
        .n = d.n,
        .total = -1,
        .min = d.min,
        .max = d.max,
        .mean = d.mean,
        .p50 = d.percentile[DISTRIBUTION_P50],
        .p95 = d.percentile[DISTRIBUTION_P95],
        .per_second = UNDEFINED,
    };
    if (d.n == 0)
        return AS_OK;
    wide_int total = 0;
    for (int64_t i = 0; i < values.count; i++)
        total += values.at[i];
    ret->total = total > INT64_MAX ? INT64_MAX : (int64_t)total;
    ret->per_second = per_second((double)total, window_ns);
    return AS_OK;
}

static as_status amounts(const struct tally_group *group, int64_t window_ns, struct summary_block *block)
{
    static const enum tally_column tokens[TOKENS_COUNT] = {COLUMN_PROMPT_TOKENS, COLUMN_COMPLETION_TOKENS,
                                                           COLUMN_REASONING_TOKENS, COLUMN_TOTAL_TOKENS};
    static const enum tally_column words[WORDS_COUNT] = {COLUMN_PROMPT_WORDS, COLUMN_COMPLETION_WORDS};
    as_status status = AS_OK;
    for (int i = 0; i < TOKENS_COUNT && status == AS_OK; i++)
        status = amount(group, tokens[i], window_ns, &block->tokens[i]);
    for (int i = 0; i < WORDS_COUNT && status == AS_OK; i++)
        status = amount(group, words[i], window_ns, &block->words[i]);
    return status;
}

static double amount_rate(const struct amount *amount, int64_t duration_ns)
{
    return amount->n > 0 ? per_second((double)amount->total, duration_ns) : UNDEFINED;
}

static struct rates rates_over(const struct summary_block *block, int64_t duration_ns)
{
    return (struct rates){
        .requests_per_second = per_second((double)block->counts.ok, duration_ns),
        .prompt_tokens_per_second = amount_rate(&block->tokens[TOKENS_PROMPT], duration_ns),
        .completion_tokens_per_second = amount_rate(&block->tokens[TOKENS_COMPLETION], duration_ns),
        .total_tokens_per_second = amount_rate(&block->tokens[TOKENS_TOTAL], duration_ns),
    };
}

static int64_t error_count(const struct request_counts *counts)
{
    return counts->failed + counts->timed_out + counts->refused;
}

static void set_goodput(const struct run_rules *rules, int64_t window_ns, struct summary_block *block)
{
    const struct run_slo *slo = &rules->slo;
    struct goodput *goodput = &block->goodput;
    goodput->has_slo = slo->ttft_ns >= 0 || slo->tpot_ns >= 0 || slo->e2e_ns >= 0 || slo->itl_ns >= 0;
    goodput->requests_per_second = goodput->ratio = UNDEFINED;
    if (!goodput->has_slo)
        return;
    goodput->requests_per_second = per_second((double)goodput->good, window_ns);
    goodput->ratio = ratio((double)goodput->good, (double)(block->counts.ok + error_count(&block->counts)));
}

static void take_example(struct error_figures *errors, const struct tally_example *from)
{
    size_t place = errors->example_count, highest = 0;
    for (size_t i = 0; i < errors->example_count; i++) {
        const struct error_example *example = &errors->examples[i];
        if (example->type == (enum error_type)from->type && example->http_status == from->http_status)
            place = i;
        if (example->seq > errors->examples[highest].seq)
            highest = i;
    }
    if (place == ERROR_EXAMPLES_MAX)
        place = highest;
    if (place < errors->example_count && errors->examples[place].seq <= from->seq)
        return;
    if (place == errors->example_count)
        errors->example_count++;
    errors->examples[place] = (struct error_example){
        .seq = from->seq,
        .type = (enum error_type)from->type,
        .http_status = from->http_status,
        .endpoint = from->endpoint,
        .message = from->message,
    };
}

static int by_seq(const void *a, const void *b)
{
    const struct error_example *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static as_status own_examples(struct error_figures *errors, struct arena *arena)
{
    qsort(errors->examples, errors->example_count, sizeof *errors->examples, by_seq);
    for (size_t i = 0; i < errors->example_count; i++) {
        struct error_example *example = &errors->examples[i];
        if (example->message && !(example->message = arena_strdup(arena, example->message)))
            return AS_E_NOMEM;
    }
    if (errors->oom_message && !(errors->oom_message = arena_strdup(arena, errors->oom_message)))
        return AS_E_NOMEM;
    return AS_OK;
}

static as_status list_statuses(const struct tally_group *group, struct arena *arena, struct error_figures *errors)
{
    struct status_count *list = arena_calloc(arena, HTTP_STATUS_SLOTS, sizeof *list);
    if (!list)
        return AS_E_NOMEM;
    for (int32_t status = 0; status < HTTP_STATUS_SLOTS; status++) {
        int64_t sum = 0;
        for (size_t i = 0; i < group->count; i++)
            sum += group->tallies[i]->by_status[status];
        if (sum > 0)
            list[errors->status_count++] = (struct status_count){status, sum};
    }
    errors->by_status = list;
    return AS_OK;
}

static as_status set_errors(const struct tally_group *group, struct arena *arena, struct summary_block *block)
{
    struct error_figures *errors = &block->errors;
    int64_t oom_seq = INT64_MAX;
    for (size_t i = 0; i < group->count; i++) {
        const struct tally *tally = group->tallies[i];
        for (int type = 0; type < ERROR_TYPE_COUNT; type++)
            errors->by_type[type] += tally->by_type[type];
        for (size_t e = 0; e < tally->example_count; e++)
            take_example(errors, &tally->examples[e]);
        if (tally->oom_seq < oom_seq) {
            oom_seq = tally->oom_seq;
            errors->oom_message = tally->oom_message;
        }
    }
    errors->oom_detected = oom_seq != INT64_MAX;
    errors->count = error_count(&block->counts);
    errors->rate = ratio((double)errors->count, (double)(errors->count + block->counts.ok));
    errors->attempt_rate = ratio((double)block->counts.failed_attempts, (double)block->counts.attempts);
    as_status status = own_examples(errors, arena);
    return status == AS_OK ? list_statuses(group, arena, errors) : status;
}

static void sum_counters(const struct tally *tally, struct summary_block *block)
{
    request_counts_add(&block->counts, &tally->counts);
    block->usage_missing += tally->usage_missing;
    if (tally->cached_tokens >= 0)
        block->cached_tokens = plus(block->cached_tokens < 0 ? 0 : block->cached_tokens, tally->cached_tokens);
    sum_up(&block->bytes_sent, tally->bytes_sent);
    sum_up(&block->bytes_received, tally->bytes_received);
    block->zero_token_successes += tally->zero_tokens;
    sum_up(&block->damaged_events, tally->damaged_events);
    for (int i = 0; i < 32; i++)
        block->flags[i] += tally->flags[i];
    block->goodput.good += tally->good;
    block->goodput.undecided += tally->undecided;
    sum_up(&block->chunks.content_chunks, tally->content_chunks);
    sum_up(&block->chunks.censored_chunks, tally->censored_chunks);
    block->lengths.shorter += tally->shorter;
    block->lengths.longer += tally->longer;
    sum_up(&block->lengths.requested_tokens, tally->requested_tokens);
    sum_up(&block->lengths.completion_tokens, tally->delivered_tokens);
    if (tally->first.seq < block->first.seq)
        block->first = tally->first;
}

static void sum_tallies(const struct tally_group *group, struct summary_block *block)
{
    int64_t tokens = 0, chunks = 0;
    block->cached_tokens = -1;
    block->first.seq = INT64_MAX;
    for (size_t i = 0; i < group->count; i++) {
        sum_counters(group->tallies[i], block);
        sum_up(&tokens, group->tallies[i]->tokens_with_chunks);
        sum_up(&chunks, group->tallies[i]->chunks_with_tokens);
    }
    if (block->first.seq == INT64_MAX)
        block->first = (struct first_request){-1, -1, -1, -1, -1, -1};
    block->chunks.tokens_per_chunk = ratio((double)tokens, (double)chunks);
    block->chunks.censored_ratio = ratio((double)block->chunks.censored_chunks, (double)block->chunks.content_chunks);
}

/* The first failure while records came. */
static as_status group_status(const struct tally_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct tally *tally = group->tallies[i];
        if (tally->status != AS_OK)
            return tally->status;
        for (int column = 0; column < TALLY_COLUMNS; column++) {
            if (tally->columns[column].status != AS_OK)
                return tally->columns[column].status;
        }
    }
    return AS_OK;
}

/* The tool's own figures, written as JSON and kept as a tree. */
static as_status own_block(const struct tally_group *group, const struct summary_window *window, struct arena *arena,
                           struct summary_block *block)
{
    const struct own_figures *figures = group->count ? group->tallies[0]->figures : NULL;
    if (!figures)
        return AS_OK;
    AS_AUTO_STRBUF struct strbuf text;
    struct json_writer writer;
    struct own_tally **tallies = arena_calloc(arena, group->count, sizeof(struct own_tally *));
    if (!tallies)
        return AS_E_NOMEM;
    for (size_t i = 0; i < group->count; i++)
        tallies[i] = group->tallies[i]->own;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    struct own_group own = {tallies, group->count, group->rules, window, block, group->is_total};
    as_status status = figures->write(&own, &writer);
    json_close_object(&writer);
    if (status == AS_OK)
        status = json_writer_status(&writer);
    return status == AS_OK ? json_parse(text.data, text.len, NULL, arena, &block->own, NULL) : status;
}

as_status tally_block(const struct tally_group *group, const struct summary_window *window, struct arena *arena,
                      struct summary_block *ret)
{
    memset(ret, 0, sizeof *ret);
    as_status status = group_status(group);
    if (status != AS_OK)
        return status;
    sum_tallies(group, ret);
    status = latencies(group, ret);
    if (status == AS_OK)
        status = amounts(group, window->duration_ns, ret);
    if (status == AS_OK)
        status = set_errors(group, arena, ret);
    if (status == AS_OK)
        status = distribution(group, COLUMN_LENGTH_PPM, &ret->lengths.ratio_ppm);
    if (status != AS_OK)
        return status;
    ret->lengths.n = ret->lengths.ratio_ppm.n;
    ret->window_rates = rates_over(ret, window->duration_ns);
    ret->spec_rates = rates_over(ret, window->elapsed_ns);
    set_goodput(group->rules, window->duration_ns, ret);
    return own_block(group, window, arena, ret);
}
