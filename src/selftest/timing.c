/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/timing.h"

#include "base/file.h"
#include "base/json.h"
#include "stats/percentile.h"
#include "stats/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Requests are found by their number in the plan. */
#define SEQ_MAX 1000000

struct numbers {
    int64_t *at;
    size_t count, capacity;
};

/* The chunks of one request as sent. */
struct sent {
    int64_t *ns;
    size_t count;
};

struct compare {
    struct arena arena;      /* of what was sent */
    struct arena line_arena; /* of one line */
    struct sent *sent;       /* SEQ_MAX of them, untouched pages cost nothing */
    struct numbers ttft, chunk, user, late;
    const struct timing_input *input;
    struct timing result;
};

static bool numbers_add(struct numbers *numbers, int64_t value)
{
    if (numbers->count == numbers->capacity) {
        size_t capacity = numbers->capacity ? 2 * numbers->capacity : 4096;
        int64_t *larger = realloc(numbers->at, capacity * sizeof(*larger));
        if (!larger)
            return false;
        numbers->at = larger;
        numbers->capacity = capacity;
    }
    numbers->at[numbers->count++] = value;
    return true;
}

/* The percentile in µs; sorts. */
static double percentile_us(struct numbers *numbers, int64_t milli_percent)
{
    if (numbers->count == 0)
        return NAN;
    sort_int64(numbers->at, numbers->count);
    return (double)percentile_nearest_rank(numbers->at, (int64_t)numbers->count, milli_percent) / 1e3;
}

typedef as_status take_line_fn(struct compare *compare, const struct json_value *row, struct as_error *err);

static as_status each_line(struct compare *compare, const char *path, take_line_fn *take, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    as_status status = file_read(path, &text, err);
    int64_t line = 1;
    for (const char *at = strbuf_text(&text); status == AS_OK && *at; line++) {
        size_t len = strcspn(at, "\n");
        const struct json_value *row;
        arena_reset(&compare->line_arena);
        status = json_parse(at, len, NULL, &compare->line_arena, &row, err);
        if (status == AS_OK)
            status = take(compare, row, err);
        if (status != AS_OK)
            error_prefix(err, "%s:%lld", path, (long long)line);
        at += len + (at[len] == '\n');
    }
    return status;
}

static int64_t member(const struct json_value *row, const char *key)
{
    int64_t value = -1;
    (void)json_int64(json_get(row, key), &value);
    return value;
}

/* A list of whole numbers into the arena. */
static as_status take_list(struct arena *arena, const struct json_value *list, struct sent *ret)
{
    struct sent values = {.ns = arena_calloc(arena, list->len + 1, sizeof(*values.ns))};
    if (!values.ns)
        return AS_E_NOMEM;
    for (const struct json_value *item = list->first; item; item = item->next)
        if (json_int64(item, &values.ns[values.count]))
            values.count++;
    *ret = values;
    return AS_OK;
}

static as_status take_truth(struct compare *compare, const struct json_value *row, struct as_error *err)
{
    const char *id;
    const struct json_value *chunks = json_get(row, "chunks_ns");
    if (!json_string(json_get(row, "id"), &id) || !strrchr(id, '-') || !chunks)
        return AS_OK; /* not a measured request: the list of models, a calibration */
    int64_t seq = strtoll(strrchr(id, '-') + 1, NULL, 10);
    if (seq < 0 || seq >= SEQ_MAX)
        return error_set(err, AS_E_LIMIT, "request %s: more than %d requests", id, SEQ_MAX);
    return take_list(&compare->arena, chunks, &compare->sent[seq]);
}

/* True when the chunk's number is in the ascending list; *at moves on. */
static bool is_shared(const struct json_value **at, int64_t chunk)
{
    int64_t value;
    if (!*at || !json_int64(*at, &value) || value != chunk)
        return false;
    *at = (*at)->next;
    return true;
}

static bool add_chunk(struct compare *compare, int64_t chunk, int64_t error_ns, int64_t lag_ns)
{
    if (chunk > 0)
        return numbers_add(&compare->chunk, error_ns);
    return numbers_add(&compare->ttft, error_ns) && (lag_ns < 0 || numbers_add(&compare->user, error_ns + lag_ns));
}

static as_status compare_chunks(struct compare *compare, const struct json_value *row, const struct sent *sent)
{
    const struct json_value *gap = json_get(row, "gaps_ns") ? json_get(row, "gaps_ns")->first : NULL;
    const struct json_value *shared = json_get(row, "shared_chunks") ? json_get(row, "shared_chunks")->first : NULL;
    int64_t at_ns = compare->input->epoch_ns + member(row, "first_content_ns");
    int64_t lag_ns = member(row, "client_lag_ns");
    for (size_t i = 0; i < sent->count; i++) {
        int64_t gap_ns;
        if (i > 0) {
            if (!gap || !json_int64(gap, &gap_ns))
                return AS_E_INVALID;
            at_ns += gap_ns;
            gap = gap->next;
        }
        if (is_shared(&shared, (int64_t)i))
            compare->result.shared++;
        else if (!add_chunk(compare, (int64_t)i, at_ns - sent->ns[i], lag_ns))
            return AS_E_NOMEM;
        if (!numbers_add(&compare->late, sent->ns[i] - sent->ns[0] - (int64_t)i * compare->input->itl_ns))
            return AS_E_NOMEM;
        compare->result.chunks++;
    }
    return gap ? AS_E_INVALID : AS_OK;
}

static as_status take_record(struct compare *compare, const struct json_value *row, struct as_error *err)
{
    const char *phase, *outcome;
    int64_t seq = member(row, "seq");
    if (!json_string(json_get(row, "phase"), &phase) || strcmp(phase, "measured") != 0 ||
        !json_string(json_get(row, "outcome"), &outcome) || strcmp(outcome, "ok") != 0)
        return AS_OK;
    if (seq < 0 || seq >= SEQ_MAX || compare->sent[seq].count == 0)
        return error_set(err, AS_E_INVALID, "request %lld is not in the truth log", (long long)seq);
    as_status status = compare_chunks(compare, row, &compare->sent[seq]);
    if (status == AS_E_INVALID)
        return error_set(err, status, "request %lld: its chunks are not those of the truth log", (long long)seq);
    compare->result.requests++;
    return status;
}

static void finish(struct compare *compare)
{
    struct timing *result = &compare->result;
    result->ttft_p50_us = percentile_us(&compare->ttft, 50000);
    result->ttft_p99_us = percentile_us(&compare->ttft, 99000);
    result->chunk_p50_us = percentile_us(&compare->chunk, 50000);
    result->chunk_p99_us = percentile_us(&compare->chunk, 99000);
    result->chunk_max_us = percentile_us(&compare->chunk, 100000);
    result->user_ttft_p99_us = percentile_us(&compare->user, 99000);
    result->sim_late_p99_us = percentile_us(&compare->late, 99000);
}

as_status timing_compare(const struct timing_input *input, struct timing *ret, struct as_error *err)
{
    struct compare compare = {.input = input, .sent = calloc(SEQ_MAX, sizeof(*compare.sent))};
    if (!compare.sent)
        return error_set(err, AS_E_NOMEM, "no memory to compare with the truth log");
    arena_init(&compare.arena, 0, 0);
    arena_init(&compare.line_arena, 0, 0);
    as_status status = each_line(&compare, input->truth_path, take_truth, err);
    if (status == AS_OK)
        status = each_line(&compare, input->records_path, take_record, err);
    if (status == AS_OK) {
        finish(&compare);
        *ret = compare.result;
    }
    free(compare.ttft.at);
    free(compare.chunk.at);
    free(compare.user.at);
    free(compare.late.at);
    free(compare.sent);
    arena_done(&compare.arena);
    arena_done(&compare.line_arena);
    return status;
}
