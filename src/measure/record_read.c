/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "measure/gaps.h"
#include "measure/record_fields.h"
#include "measure/record_json.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA_HEAD "metrumbench-"
#define SCHEMA_TAIL ".request.v1"

struct parse {
    struct record_reader *reader;
    struct json_cursor cursor;
    const char *line;
    size_t len;
    struct request_record *record;
    struct as_error *err;
    size_t next_field; /* the one that comes next when the line is ours */
    bool has_schema;
};

static as_status bad(const struct parse *parse, const char *what)
{
    return error_set_at(parse->err, AS_E_INVALID, 0, parse->cursor.at - parse->line, "not a request record: %s", what);
}

static as_status no_memory(const struct parse *parse)
{
    return error_set(parse->err, AS_E_NOMEM, "no memory for a request record");
}

/* True, the null taken, when there is one. */
static bool take_null(struct parse *parse)
{
    return json_cursor_type(&parse->cursor) == JSON_NULL && json_take_null(&parse->cursor);
}

static as_status take_int(struct parse *parse, int64_t *ret)
{
    struct json_raw raw;
    if (take_null(parse)) {
        *ret = -1;
        return AS_OK;
    }
    if (json_cursor_type(&parse->cursor) != JSON_NUMBER || !json_take_number(&parse->cursor, &raw) ||
        !json_text_int64(raw.at, raw.len, ret) || *ret < 0)
        return bad(parse, "a whole number was expected");
    return AS_OK;
}

static as_status take_small_int(struct parse *parse, int32_t *ret)
{
    int64_t value = 0;
    as_status status = take_int(parse, &value);
    if (status == AS_OK && value > INT32_MAX)
        return bad(parse, "the number is too large");
    if (status == AS_OK)
        *ret = (int32_t)value;
    return status;
}

static as_status take_bool(struct parse *parse, bool *ret)
{
    if (json_cursor_type(&parse->cursor) != JSON_BOOL || !json_take_bool(&parse->cursor, ret))
        return bad(parse, "true or false was expected");
    return AS_OK;
}

/* A string, or null: ret->at NULL. */
static as_status take_string(struct parse *parse, struct json_raw *ret)
{
    *ret = (struct json_raw){NULL, 0, false};
    if (take_null(parse))
        return AS_OK;
    if (json_cursor_type(&parse->cursor) != JSON_STRING || !json_take_string(&parse->cursor, ret))
        return bad(parse, "a text was expected");
    return AS_OK;
}

/* Decoded into a field of `size` bytes, cut to fit; null leaves it empty. */
static as_status take_short_text(struct parse *parse, char *ret, size_t size)
{
    struct json_raw raw;
    as_status status = take_string(parse, &raw);
    ret[0] = '\0';
    if (status != AS_OK || !raw.at)
        return status;
    char *decoded = arena_alloc(parse->reader->arena, 3 * raw.len + 1);
    if (!decoded)
        return no_memory(parse);
    size_t len = json_raw_decode(&raw, decoded);
    len = len < size - 1 ? len : size - 1;
    memcpy(ret, decoded, len);
    ret[len] = '\0';
    return AS_OK;
}

/* Index of a name in a closed list; null is 0. */
static as_status take_name(struct parse *parse, const char *const *names, size_t count, uint8_t *ret)
{
    struct json_raw raw;
    as_status status = take_string(parse, &raw);
    if (status != AS_OK)
        return status;
    *ret = 0;
    if (!raw.at)
        return AS_OK;
    for (size_t i = 0; i < count; i++) {
        if (json_raw_equals(&raw, names[i])) {
            *ret = (uint8_t)i;
            return AS_OK;
        }
    }
    return bad(parse, "an unknown name");
}

#define NAME_ENTRY(name, text) text,
static const char *const outcomes[] = {OUTCOME_MAP(NAME_ENTRY)};
static const char *const phases[] = {PHASE_MAP(NAME_ENTRY)};
static const char *const error_types[] = {ERROR_TYPE_MAP(NAME_ENTRY)};
static const char *const stamps[] = {RECORD_STAMP_MAP(NAME_ENTRY)};

#define TAKE_NAME(parse, names, ret) take_name(parse, names, sizeof(names) / sizeof *(names), ret)

/* The index of an endpoint's name; RECORD_NO_ENDPOINT for null or one that the run does not know. */
static as_status take_endpoint(struct parse *parse, uint32_t *ret)
{
    const struct record_context *context = &parse->reader->context;
    struct json_raw raw;
    as_status status = take_string(parse, &raw);
    if (status != AS_OK)
        return status;
    *ret = RECORD_NO_ENDPOINT;
    for (uint32_t i = 0; raw.at && i < context->endpoint_count; i++) {
        if (json_raw_equals(&raw, context->endpoints[i])) {
            *ret = i;
            break;
        }
    }
    return AS_OK;
}

/* The value as it is written. */
static as_status take_raw(struct parse *parse, struct record_text *ret)
{
    if (take_null(parse))
        return AS_OK;
    if (json_cursor_type(&parse->cursor) < 0)
        return bad(parse, "a value is missing");
    const char *start = parse->cursor.at;
    if (!json_skip(&parse->cursor))
        return bad(parse, "a value is cut off");
    *ret = (struct record_text){start, (size_t)(parse->cursor.at - start)};
    return AS_OK;
}

/* ---- members with a shape of their own ---- */

static as_status take_message(struct parse *parse)
{
    struct json_raw raw;
    as_status status = take_string(parse, &raw);
    if (status != AS_OK || !raw.at)
        return status;
    char *decoded = arena_alloc(parse->reader->arena, 3 * raw.len + 1);
    if (!decoded)
        return no_memory(parse);
    parse->record->error_message = (struct record_text){decoded, json_raw_decode(&raw, decoded)};
    return AS_OK;
}

static as_status take_seconds(struct parse *parse, double *ret)
{
    struct json_raw raw;
    *ret = -1;
    if (take_null(parse))
        return AS_OK;
    if (json_cursor_type(&parse->cursor) != JSON_NUMBER || !json_take_number(&parse->cursor, &raw) ||
        !json_text_double(raw.at, raw.len, ret))
        return bad(parse, "a number was expected");
    return AS_OK;
}

static as_status take_error_member(struct parse *parse, const struct json_raw *key)
{
    struct request_record *record = parse->record;
    if (json_raw_equals(key, "type"))
        return TAKE_NAME(parse, error_types, &record->error_type);
    if (json_raw_equals(key, "message"))
        return take_message(parse);
    if (json_raw_equals(key, "retry_after_s"))
        return take_seconds(parse, &record->retry_after_s);
    if (json_raw_equals(key, "oom_detected"))
        return take_bool(parse, &record->oom);
    return json_skip(&parse->cursor) ? AS_OK : bad(parse, "a value is cut off");
}

static as_status take_error(struct parse *parse)
{
    struct json_raw key;
    as_status status = AS_OK;
    if (take_null(parse))
        return AS_OK;
    if (!json_enter_object(&parse->cursor))
        return bad(parse, "an error is an object");
    while (status == AS_OK && json_next_member(&parse->cursor, &key))
        status = take_error_member(parse, &key);
    return status;
}

static as_status take_flags(struct parse *parse)
{
#define FLAG_ENTRY(bit, name, text, meaning) [(bit)] = (text),
    static const char *const names[] = {RECORD_FLAG_MAP(FLAG_ENTRY)};
    bool is_first = true;
    if (!json_enter_array(&parse->cursor))
        return bad(parse, "flags are a list");
    while (json_next_item(&parse->cursor, &is_first)) {
        uint8_t bit;
        as_status status = take_name(parse, names, sizeof names / sizeof *names, &bit);
        if (status != AS_OK)
            return status;
        parse->record->flags |= UINT32_C(1) << bit;
    }
    return AS_OK;
}

static as_status take_attempt_member(struct parse *parse, const struct json_raw *key, struct record_attempt *attempt)
{
    bool is_reused;
    uint32_t endpoint;
    as_status status;
    if (json_raw_equals(key, "start_ns"))
        return take_int(parse, &attempt->start_ns);
    if (json_raw_equals(key, "done_ns"))
        return take_int(parse, &attempt->done_ns);
    if (json_raw_equals(key, "http_status"))
        return take_small_int(parse, &attempt->http_status);
    if (json_raw_equals(key, "error_type"))
        return TAKE_NAME(parse, error_types, &attempt->error_type);
    if (json_raw_equals(key, "connection_reused")) {
        status = take_bool(parse, &is_reused);
        attempt->reused = status == AS_OK && is_reused;
        return status;
    }
    if (json_raw_equals(key, "endpoint")) {
        status = take_endpoint(parse, &endpoint);
        attempt->endpoint = status == AS_OK && endpoint < UINT16_MAX ? (uint16_t)endpoint : UINT16_MAX;
        return status;
    }
    return json_skip(&parse->cursor) ? AS_OK : bad(parse, "a value is cut off");
}

static as_status take_attempts(struct parse *parse)
{
    struct request_record *record = parse->record;
    struct json_raw key;
    bool is_first = true;
    as_status status = AS_OK;
    if (!json_enter_array(&parse->cursor))
        return bad(parse, "attempts are a list");
    record->attempt_count = 0;
    while (status == AS_OK && json_next_item(&parse->cursor, &is_first)) {
        if (record->attempt_count == RECORD_ATTEMPTS_MAX)
            return bad(parse, "too many attempts");
        struct record_attempt *attempt = &record->attempts[record->attempt_count++];
        *attempt = (struct record_attempt){.start_ns = -1, .done_ns = -1, .http_status = -1, .endpoint = UINT16_MAX};
        if (!json_enter_object(&parse->cursor))
            return bad(parse, "an attempt is an object");
        while (status == AS_OK && json_next_member(&parse->cursor, &key))
            status = take_attempt_member(parse, &key, attempt);
    }
    return status;
}

/* How many items a list has at least room for: its commas, one pass over its bytes. */
static size_t count_commas(const struct parse *parse, size_t len)
{
    size_t commas = 0;
    for (size_t i = 0; i < len; i++)
        commas += parse->cursor.at[i] == ',';
    return commas + 1;
}

static as_status take_bucket(struct parse *parse, struct record_bucket *ret)
{
    int64_t numbers[2] = {0};
    bool is_first = true;
    if (!json_enter_array(&parse->cursor))
        return bad(parse, "a bucket is a pair");
    for (int i = 0; i < 2; i++) {
        if (!json_next_item(&parse->cursor, &is_first) || take_int(parse, &numbers[i]) != AS_OK ||
            numbers[i] > UINT32_MAX || numbers[i] < 0)
            return bad(parse, "a bucket is a pair of numbers");
    }
    if (json_next_item(&parse->cursor, &is_first) || numbers[0] >= HISTOGRAM_BUCKETS || numbers[1] == 0)
        return bad(parse, "no such bucket");
    *ret = (struct record_bucket){(uint32_t)numbers[0], (uint32_t)numbers[1]};
    return AS_OK;
}

/* The cursor's value has `len` bytes. */
static as_status take_buckets(struct parse *parse, size_t len, struct record_gap_stats *stats)
{
    struct record_bucket *buckets = arena_calloc(parse->reader->arena, count_commas(parse, len), sizeof *buckets);
    bool is_first = true;
    if (!buckets)
        return no_memory(parse);
    if (!json_enter_array(&parse->cursor))
        return bad(parse, "buckets are a list");
    stats->bucket_count = 0;
    while (json_next_item(&parse->cursor, &is_first)) {
        as_status status = take_bucket(parse, &buckets[stats->bucket_count]);
        if (status != AS_OK)
            return status;
        if (stats->bucket_count > 0 && buckets[stats->bucket_count].index <= buckets[stats->bucket_count - 1].index)
            return bad(parse, "buckets are not in order");
        stats->bucket_count++;
    }
    stats->buckets = buckets;
    return AS_OK;
}

static as_status take_squares(struct parse *parse, struct record_gap_stats *stats)
{
    struct json_raw raw;
    wide_int squares;
    as_status status = take_string(parse, &raw);
    if (status != AS_OK)
        return status;
    if (!raw.at || !wide_parse(raw.at, raw.len, &squares) || squares < 0)
        return bad(parse, "sum_sq is a whole number in text");
    stats->sum_squares[0] = (uint64_t)squares;
    stats->sum_squares[1] = (uint64_t)((wide_uint)squares >> 64);
    return AS_OK;
}

static as_status take_gap_member(struct parse *parse, const struct json_raw *key, struct record_gap_stats *stats)
{
    if (json_raw_equals(key, "n"))
        return take_int(parse, &stats->n);
    if (json_raw_equals(key, "sum_ns"))
        return take_int(parse, &stats->sum_ns);
    if (json_raw_equals(key, "sum_sq"))
        return take_squares(parse, stats);
    if (json_raw_equals(key, "min_ns"))
        return take_int(parse, &stats->min_ns);
    if (json_raw_equals(key, "max_ns"))
        return take_int(parse, &stats->max_ns);
    struct json_cursor after = parse->cursor;
    if (!json_skip(&after))
        return bad(parse, "a value is cut off");
    if (json_raw_equals(key, "buckets"))
        return take_buckets(parse, (size_t)(after.at - parse->cursor.at), stats);
    parse->cursor = after;
    return AS_OK;
}

static as_status take_gaps(struct parse *parse)
{
    struct json_raw key;
    as_status status = AS_OK;
    if (take_null(parse))
        return AS_OK;
    struct record_gap_stats *stats = arena_calloc(parse->reader->arena, 1, sizeof *stats);
    if (!stats)
        return no_memory(parse);
    stats->min_ns = stats->max_ns = -1;
    if (!json_enter_object(&parse->cursor))
        return bad(parse, "gaps are an object");
    while (status == AS_OK && json_next_member(&parse->cursor, &key))
        status = take_gap_member(parse, &key, stats);
    if (status != AS_OK)
        return status;
    int64_t counted = 0;
    for (uint32_t i = 0; i < stats->bucket_count; i++)
        counted += stats->buckets[i].count;
    if (counted != stats->n)
        return bad(parse, "buckets do not add up to n");
    parse->record->gap_stats = stats;
    return AS_OK;
}

static as_status take_every_gap(struct parse *parse)
{
    if (take_null(parse))
        return AS_OK;
    struct json_cursor after = parse->cursor;
    bool is_first = true;
    int64_t gap_ns = -1;
    if (!json_skip(&after))
        return bad(parse, "a value is cut off");
    size_t count = count_commas(parse, (size_t)(after.at - parse->cursor.at));
    char *gaps = arena_alloc(parse->reader->arena, count * GAP_BYTES_MAX);
    if (!gaps)
        return no_memory(parse);
    if (!json_enter_array(&parse->cursor))
        return bad(parse, "gaps_ns is a list");
    char *at = gaps;
    while (json_next_item(&parse->cursor, &is_first)) {
        as_status status = take_int(parse, &gap_ns);
        if (status != AS_OK)
            return status;
        if (gap_ns < 0)
            return bad(parse, "a gap is a number");
        at = gaps_put(at, gap_ns);
    }
    parse->record->gaps = (struct record_text){gaps, (size_t)(at - gaps)};
    return AS_OK;
}

/* ---- members of the line ---- */

static as_status take_schema(struct parse *parse)
{
    char text[64], expected[64];
    as_status status = take_short_text(parse, text, sizeof text);
    if (status != AS_OK)
        return status;
    snprintf(expected, sizeof expected, SCHEMA_HEAD "%s" SCHEMA_TAIL, parse->reader->context.tool);
    if (strcmp(text, expected) != 0)
        return error_set(parse->err, AS_E_INVALID, "its schema is '%s', expected '%s'", text, expected);
    parse->has_schema = true;
    return AS_OK;
}

static as_status take_run_id(struct parse *parse)
{
    struct record_reader *reader = parse->reader;
    as_status status = take_short_text(parse, reader->run_id, sizeof reader->run_id);
    if (status == AS_OK && reader->context.run_id && strcmp(reader->run_id, reader->context.run_id) != 0)
        return error_set(parse->err, AS_E_INVALID, "it belongs to run %s, not to %s", reader->run_id,
                         reader->context.run_id);
    return status;
}

static as_status take_field(struct parse *parse, const struct record_field *field)
{
    struct request_record *record = parse->record;
    char *value = (char *)record + field->offset;
    int64_t number;
    as_status status;
    switch ((enum record_kind)field->kind) {
    case FIELD_INT:
        status = take_int(parse, &number);
        if (status == AS_OK)
            memcpy(value, &number, sizeof number);
        return status;
    case FIELD_BOOL:
        return take_bool(parse, (bool *)value);
    case FIELD_PROMPT_ID:
        return take_short_text(parse, record->prompt_id, sizeof record->prompt_id);
    case FIELD_PHASE:
        return TAKE_NAME(parse, phases, &record->phase);
    case FIELD_ENDPOINT:
        return take_endpoint(parse, &record->endpoint);
    case FIELD_OUTCOME:
        return TAKE_NAME(parse, outcomes, &record->outcome);
    case FIELD_HTTP_STATUS:
        return take_small_int(parse, &record->http_status);
    case FIELD_ERROR:
        return take_error(parse);
    case FIELD_STARTED_AT:
    case FIELD_COMPLETED_AT:
        return json_skip(&parse->cursor) ? AS_OK : bad(parse, "a value is cut off");
    case FIELD_STAMP:
        return TAKE_NAME(parse, stamps, &record->stamp);
    case FIELD_FINISH_REASON:
        return take_short_text(parse, record->finish_reason, sizeof record->finish_reason);
    case FIELD_FLAGS:
        return take_flags(parse);
    case FIELD_ATTEMPTS:
        return take_attempts(parse);
    case FIELD_GAPS:
        return take_gaps(parse);
    }
    return AS_OK;
}

/* The field called `key`, looked for from where our own lines would have it. */
static const struct record_field *find_field(struct parse *parse, const struct json_raw *key)
{
    for (size_t i = 0; i < RECORD_FIELD_COUNT; i++) {
        const struct record_field *field = &record_fields[(parse->next_field + i) % RECORD_FIELD_COUNT];
        /* field->key is ,"name": */
        if (field->key_len == key->len + 4 && memcmp(field->key + 2, key->at, key->len) == 0) {
            parse->next_field = (size_t)(field - record_fields) + 1;
            return field;
        }
    }
    return NULL;
}

static as_status take_member(struct parse *parse, const struct json_raw *key)
{
    struct request_record *record = parse->record;
    const struct record_field *field = find_field(parse, key);
    if (field)
        return take_field(parse, field);
    if (json_raw_equals(key, "schema"))
        return take_schema(parse);
    if (json_raw_equals(key, "run_id"))
        return take_run_id(parse);
    if (json_raw_equals(key, "seq"))
        return take_int(parse, &record->seq);
    if (json_raw_equals(key, "gaps_ns"))
        return take_every_gap(parse);
    if (json_raw_equals(key, "content") || json_raw_equals(key, "contents"))
        return take_raw(parse, &record->content);
    if (json_raw_equals(key, "reasoning"))
        return take_raw(parse, &record->reasoning);
    if (json_raw_equals(key, "tool_arguments"))
        return take_raw(parse, &record->tool_arguments);
    if (json_raw_equals(key, parse->reader->context.tool))
        return take_raw(parse, &record->modality_json);
    return json_skip(&parse->cursor) ? AS_OK : bad(parse, "a value is cut off");
}

/* Only white space may follow the object. */
static bool is_at_end(const struct parse *parse)
{
    const char *at = parse->cursor.at, *end = parse->line + parse->len;
    while (at < end && (*at == '\n' || *at == '\r' || *at == ' ' || *at == '\t'))
        at++;
    return at == end;
}

as_status record_reader_line(struct record_reader *reader, const char *line, size_t len, struct request_record *ret,
                             struct as_error *err)
{
    struct parse parse = {.reader = reader, .line = line, .len = len, .record = ret, .err = err};
    struct json_raw key;
    as_status status = AS_OK;
    record_init(ret);
    ret->endpoint = RECORD_NO_ENDPOINT;
    reader->run_id[0] = '\0';
    json_cursor_init(&parse.cursor, line, len);
    if (json_cursor_type(&parse.cursor) != JSON_OBJECT || !json_enter_object(&parse.cursor))
        return bad(&parse, "the line is no JSON object");
    while (status == AS_OK && json_next_member(&parse.cursor, &key))
        status = take_member(&parse, &key);
    if (status != AS_OK)
        return status;
    if (parse.cursor.failed || !is_at_end(&parse))
        return bad(&parse, "the line is no whole JSON object");
    if (!parse.has_schema || ret->seq < 0)
        return bad(&parse, "schema or seq is missing");
    return AS_OK;
}
