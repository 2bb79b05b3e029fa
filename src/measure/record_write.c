/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"
#include "measure/gaps.h"
#include "measure/record_fields.h"
#include "measure/record_json.h"

#include <stdlib.h>
#include <string.h>

/* More than all members with fixed bounds take: keys, integers, two instants in text, all flags. */
#define FIXED_BYTES 4096
/* More than one try, one bucket, one gap take, endpoint names aside. */
#define ATTEMPT_BYTES  192
#define BUCKET_BYTES   24
#define GAP_TEXT_BYTES 21

#define NAME_ENTRY(name, text) {"\"" text "\"", sizeof(text) + 1},

struct quoted {
    const char *text;
    size_t len;
};

static const struct quoted outcomes[] = {OUTCOME_MAP(NAME_ENTRY)};
static const struct quoted phases[] = {PHASE_MAP(NAME_ENTRY)};
static const struct quoted error_types[] = {ERROR_TYPE_MAP(NAME_ENTRY)};
static const struct quoted stamps[] = {RECORD_STAMP_MAP(NAME_ENTRY)};

#define FLAG_ENTRY(bit, name, text, meaning) [bit] = {"\"" text "\"", sizeof(text) + 1},
static const struct quoted flags[] = {RECORD_FLAG_MAP(FLAG_ENTRY)};

/* ---- pieces; `at` has room ---- */

static inline char *put(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}

#define PUT(at, text) put(at, text, sizeof(text) - 1)

static inline char *put_int(char *at, int64_t value)
{
    return value < 0 ? PUT(at, "null") : int64_put(at, value);
}

static inline char *put_bool(char *at, bool value)
{
    return value ? PUT(at, "true") : PUT(at, "false");
}

/* A name of a closed list; null for the empty name or a value outside. */
static char *put_name(char *at, const struct quoted *names, size_t count, unsigned value)
{
    if (value >= count || names[value].len <= 2)
        return PUT(at, "null");
    return put(at, names[value].text, names[value].len);
}

#define PUT_NAME(at, names, value) put_name(at, names, sizeof(names) / sizeof *(names), value)

static char *put_flags(char *at, uint32_t bits)
{
    *at++ = '[';
    for (bool is_first = true; bits; bits &= bits - 1) {
        unsigned bit = (unsigned)__builtin_ctz(bits);
        if (bit >= sizeof flags / sizeof *flags || !flags[bit].text)
            continue;
        if (!is_first)
            *at++ = ',';
        at = put(at, flags[bit].text, flags[bit].len);
        is_first = false;
    }
    *at++ = ']';
    return at;
}

static char *put_instant(struct record_writer *writer, char *at, int64_t instant_ns)
{
    if (instant_ns < 0)
        return PUT(at, "null");
    struct wall wall = {writer->epoch.ns + instant_ns};
    int64_t second = wall.ns / NS_PER_S;
    if (second != writer->stamp_second) {
        wall_format((struct wall){second * NS_PER_S}, writer->stamp_text);
        writer->stamp_second = second;
    }
    /* Only the six digits after the point differ within a second. */
    int64_t micros = wall.ns / NS_PER_US % 1000000;
    for (int i = 25; i >= 20; i--, micros /= 10)
        writer->stamp_text[i] = (char)('0' + micros % 10);
    *at++ = '"';
    at = put(at, writer->stamp_text, WALL_TEXT_BYTES - 1);
    *at++ = '"';
    return at;
}

static char *put_endpoint(const struct record_writer *writer, char *at, uint32_t endpoint)
{
    if (endpoint >= writer->context.endpoint_count)
        return PUT(at, "null");
    size_t start = endpoint ? writer->name_ends[endpoint - 1] : 0;
    return put(at, writer->names.data + start, writer->name_ends[endpoint] - start);
}

/* ---- texts that may need escapes: written through the strbuf, room for more made after ---- */

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\')
            return false;
    }
    return true;
}

/* Escaped text of `len` bytes in quotes; `room` bytes more are kept free behind it. NULL: no memory. */
static char *put_text(struct strbuf *out, char *at, const struct record_text *text, size_t room)
{
    *at++ = '"';
    if (is_plain(text->at, text->len)) {
        at = put(at, text->at, text->len);
    } else {
        out->len = (size_t)(at - out->data);
        json_escape(out, text->at, text->len);
        if (!strbuf_reserve(out, room))
            return NULL;
        at = out->data + out->len;
    }
    *at++ = '"';
    return at;
}

static char *put_short_text(struct strbuf *out, char *at, const char *text, size_t room)
{
    if (!text[0])
        return PUT(at, "null");
    struct record_text whole = {text, strlen(text)};
    return put_text(out, at, &whole, room);
}

static char *put_error(const struct request_record *record, struct strbuf *out, char *at, size_t room)
{
    if (record->error_type == ERROR_TYPE_NONE)
        return PUT(at, "null");
    at = PUT(at, "{\"type\":");
    at = PUT_NAME(at, error_types, record->error_type);
    at = PUT(at, ",\"status\":");
    at = put_int(at, record->http_status);
    at = PUT(at, ",\"message\":");
    if (record->error_message.at)
        at = put_text(out, at, &record->error_message, room);
    else
        at = PUT(at, "null");
    if (!at)
        return NULL;
    at = PUT(at, ",\"retry_after_s\":");
    if (record->retry_after_s >= 0)
        at += double_format(record->retry_after_s, at);
    else
        at = PUT(at, "null");
    at = PUT(at, ",\"oom_detected\":");
    at = put_bool(at, record->oom);
    *at++ = '}';
    return at;
}

/* ---- lists ---- */

static char *put_attempts(const struct record_writer *writer, char *at, const struct request_record *record)
{
    *at++ = '[';
    for (uint32_t i = 0; i < record->attempt_count; i++) {
        const struct record_attempt *attempt = &record->attempts[i];
        if (i > 0)
            *at++ = ',';
        at = PUT(at, "{\"start_ns\":");
        at = put_int(at, attempt->start_ns);
        at = PUT(at, ",\"done_ns\":");
        at = put_int(at, attempt->done_ns);
        at = PUT(at, ",\"http_status\":");
        at = put_int(at, attempt->http_status);
        at = PUT(at, ",\"error_type\":");
        at = PUT_NAME(at, error_types, attempt->error_type);
        at = PUT(at, ",\"connection_reused\":");
        at = put_bool(at, attempt->reused);
        at = PUT(at, ",\"endpoint\":");
        at = put_endpoint(writer, at, attempt->endpoint);
        *at++ = '}';
    }
    *at++ = ']';
    return at;
}

static char *put_wide(char *at, const uint64_t parts[2])
{
    if (parts[1] == 0 && parts[0] <= INT64_MAX)
        return int64_put(at, (int64_t)parts[0]);
    return at + wide_format((wide_int)((wide_uint)parts[1] << 64 | parts[0]), at);
}

static char *put_gaps(char *at, const struct record_gap_stats *stats)
{
    if (!stats)
        return PUT(at, "null");
    at = PUT(at, "{\"n\":");
    at = int64_put(at, stats->n);
    at = PUT(at, ",\"sum_ns\":");
    at = int64_put(at, stats->sum_ns);
    at = PUT(at, ",\"sum_sq\":\"");
    at = put_wide(at, stats->sum_squares);
    at = PUT(at, "\",\"min_ns\":");
    at = put_int(at, stats->min_ns);
    at = PUT(at, ",\"max_ns\":");
    at = put_int(at, stats->max_ns);
    at = PUT(at, ",\"buckets\":[");
    for (uint32_t i = 0; i < stats->bucket_count; i++) {
        if (i > 0)
            *at++ = ',';
        *at++ = '[';
        at = int64_put(at, stats->buckets[i].index);
        *at++ = ',';
        at = int64_put(at, stats->buckets[i].count);
        *at++ = ']';
    }
    return PUT(at, "]}");
}

static char *put_every_gap(char *at, const struct record_text *gaps)
{
    if (!gaps->at)
        return PUT(at, "null");
    const char *from = gaps->at, *end = from + gaps->len;
    int64_t gap_ns;
    *at++ = '[';
    for (bool is_first = true; gaps_next(&from, end, &gap_ns); is_first = false) {
        if (!is_first)
            *at++ = ',';
        at = int64_put(at, gap_ns);
    }
    *at++ = ']';
    return at;
}

/* The numbers of the chunks in the runs, censored_chunks at most; null when the runs were lost. */
static char *put_shared_chunks(char *at, const struct request_record *record)
{
    const char *from = record->shared_chunks.at, *end = from ? from + record->shared_chunks.len : from;
    int64_t chunk = 0, written = 0, skipped, shared;
    if (!from && record->censored_chunks > 0)
        return PUT(at, "null");
    *at++ = '[';
    while (from && gaps_next(&from, end, &skipped) && gaps_next(&from, end, &shared)) {
        chunk += skipped;
        for (int64_t i = 0; i < shared && written < record->censored_chunks; i++) {
            if (written++ > 0)
                *at++ = ',';
            at = int64_put(at, chunk++);
        }
    }
    *at++ = ']';
    return at;
}

/* ---- the line ---- */

static size_t shared_bytes(const struct request_record *record)
{
    return record->shared_chunks.at && record->censored_chunks > 0 ? (size_t)record->censored_chunks * GAP_TEXT_BYTES
                                                                   : 0;
}

/* Bytes that the line may take, escapes of texts aside. */
static size_t line_bytes(const struct record_writer *writer, const struct request_record *record)
{
    size_t bytes =
        FIXED_BYTES + writer->prefix.len + (1 + record->attempt_count) * (ATTEMPT_BYTES + writer->name_bytes_max);
    bytes += record->error_message.len + 2 * record->content.len + record->reasoning.len + record->tool_arguments.len +
             record->modality_json.len;
    if (record->gap_stats)
        bytes += record->gap_stats->bucket_count * (size_t)BUCKET_BYTES;
    if (writer->context.save_gaps)
        bytes += record->gaps.len * (size_t)GAP_TEXT_BYTES + shared_bytes(record);
    return bytes;
}

static char *put_field(struct record_writer *writer, const struct record_field *field,
                       const struct request_record *record, struct strbuf *out, char *at)
{
    const char *value = (const char *)record + field->offset;
    memcpy(at, field->key, RECORD_KEY_BYTES);
    at += field->key_len;
    switch ((enum record_kind)field->kind) {
    case FIELD_INT: {
        int64_t number;
        memcpy(&number, value, sizeof number);
        return put_int(at, number);
    }
    case FIELD_BOOL:
        return put_bool(at, *(const bool *)value);
    case FIELD_PROMPT_ID:
        return put_short_text(out, at, record->prompt_id, line_bytes(writer, record));
    case FIELD_PHASE:
        return PUT_NAME(at, phases, record->phase);
    case FIELD_ENDPOINT:
        return put_endpoint(writer, at, record->endpoint);
    case FIELD_OUTCOME:
        return PUT_NAME(at, outcomes, record->outcome);
    case FIELD_HTTP_STATUS:
        return put_int(at, record->http_status);
    case FIELD_ERROR:
        return put_error(record, out, at, line_bytes(writer, record));
    case FIELD_STARTED_AT:
        return put_instant(writer, at, record->sent_ns);
    case FIELD_COMPLETED_AT:
        return put_instant(writer, at, record->done_ns);
    case FIELD_STAMP:
        return PUT_NAME(at, stamps, record->stamp);
    case FIELD_FINISH_REASON:
        return put_short_text(out, at, record->finish_reason, line_bytes(writer, record));
    case FIELD_FLAGS:
        return put_flags(at, record->flags);
    case FIELD_ATTEMPTS:
        return put_attempts(writer, at, record);
    case FIELD_GAPS:
        return put_gaps(at, record->gap_stats);
    }
    return at;
}

static char *put_json(char *at, const struct record_text *json)
{
    return json->at ? put(at, json->at, json->len) : PUT(at, "null");
}

/* The first choice's text, with several choices all of them beside it. */
static char *put_content(char *at, const struct record_text *content)
{
    struct record_text first = *content;
    struct json_cursor cursor;
    bool is_list = content->at && content->len > 0 && content->at[0] == '[';
    at = PUT(at, ",\"content\":");
    if (is_list) {
        json_cursor_init(&cursor, content->at + 1, content->len - 1);
        first = json_skip(&cursor) ? (struct record_text){content->at + 1, (size_t)(cursor.at - content->at - 1)}
                                   : (struct record_text){0};
    }
    at = put_json(at, &first);
    if (!is_list)
        return at;
    at = PUT(at, ",\"contents\":");
    return put_json(at, content);
}

static char *put_optional(const struct record_writer *writer, char *at, const struct request_record *record)
{
    if (writer->context.save_gaps) {
        at = PUT(at, ",\"gaps_ns\":");
        at = put_every_gap(at, &record->gaps);
        at = PUT(at, ",\"shared_chunks\":");
        at = put_shared_chunks(at, record);
    }
    if (record->content.at || writer->context.save_content)
        at = put_content(at, &record->content);
    if (record->reasoning.at || writer->context.save_content) {
        at = PUT(at, ",\"reasoning\":");
        at = put_json(at, &record->reasoning);
    }
    if (record->tool_arguments.at || writer->context.save_content) {
        at = PUT(at, ",\"tool_arguments\":");
        at = put_json(at, &record->tool_arguments);
    }
    if (record->modality_json.at) {
        at = PUT(at, ",\"");
        at = put(at, writer->context.tool, strlen(writer->context.tool));
        at = PUT(at, "\":");
        at = put_json(at, &record->modality_json);
    }
    return at;
}

void record_writer_line(struct record_writer *writer, const struct request_record *record, struct strbuf *out)
{
    if (!strbuf_reserve(out, line_bytes(writer, record)))
        return;
    size_t start = out->len;
    char *at = out->data + out->len;
    at = put(at, writer->prefix.data, writer->prefix.len);
    at = put_int(at, record->seq);
    for (size_t i = 0; at && i < RECORD_FIELD_COUNT; i++)
        at = put_field(writer, &record_fields[i], record, out, at);
    if (!at) {
        out->len = start;
        return;
    }
    at = put_optional(writer, at, record);
    at = PUT(at, "}\n");
    *at = '\0';
    out->len = (size_t)(at - out->data);
}

as_status record_writer_init(struct record_writer *writer, const struct record_context *context, struct as_error *err)
{
    memset(writer, 0, sizeof *writer);
    writer->context = *context;
    writer->stamp_second = -1;
    strbuf_init(&writer->prefix, 0);
    strbuf_init(&writer->names, 0);
    strbuf_addf(&writer->prefix, "{\"schema\":\"metrumbench-%s.request.v1\",\"run_id\":\"", context->tool);
    json_escape(&writer->prefix, context->run_id, strlen(context->run_id));
    strbuf_adds(&writer->prefix, "\",\"seq\":");
    writer->name_ends = calloc(context->endpoint_count + 1, sizeof *writer->name_ends);
    for (uint32_t i = 0; writer->name_ends && i < context->endpoint_count; i++) {
        strbuf_addc(&writer->names, '"');
        json_escape(&writer->names, context->endpoints[i], strlen(context->endpoints[i]));
        strbuf_addc(&writer->names, '"');
        size_t bytes = writer->names.len - (i ? writer->name_ends[i - 1] : 0);
        writer->name_bytes_max = bytes > writer->name_bytes_max ? bytes : writer->name_bytes_max;
        writer->name_ends[i] = writer->names.len;
    }
    if (!writer->name_ends || strbuf_status(&writer->prefix) != AS_OK || strbuf_status(&writer->names) != AS_OK) {
        record_writer_done(writer);
        return error_set(err, AS_E_NOMEM, "no memory for the record writer");
    }
    return AS_OK;
}

void record_writer_done(struct record_writer *writer)
{
    strbuf_done(&writer->prefix);
    strbuf_done(&writer->names);
    free(writer->name_ends);
    writer->name_ends = NULL;
}
