/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_text.h"

#include "modality/asr_subtitle.h"
#include "modality/chat.h"
#include "workload/words.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define KEY_IS(key, text) json_raw_equals(key, text)
#define SECONDS_MAX       1e9

const char *asr_format_name(enum asr_format format)
{
    static const char *const names[] = {
#define ASR_FORMAT_NAME(format, name) name,
        ASR_FORMAT_MAP(ASR_FORMAT_NAME)
#undef ASR_FORMAT_NAME
    };
    return names[format];
}

void asr_add_raw(struct strbuf *text, const struct json_raw *raw)
{
    if (!raw->at || !strbuf_reserve(text, 3 * raw->len))
        return;
    text->len += json_raw_decode(raw, text->data + text->len);
    text->data[text->len] = '\0';
}

/* Appends UTF-8, what is invalid replaced. */
static void add_utf8(struct strbuf *text, const char *data, size_t len, bool *ret_unsound)
{
    const char *at = data, *end = data + len;
    while (at < end) {
        const char *plain = at;
        while (plain < end && (unsigned char)*plain < 0x80)
            plain++;
        strbuf_add(text, at, (size_t)(plain - at));
        at = plain;
        if (at == end)
            return;
        uint32_t code;
        bool valid = true;
        size_t used = words_decode(at, end, &code, &valid);
        strbuf_add(text, valid ? at : "\xEF\xBF\xBD", valid ? used : 3);
        *ret_unsound |= !valid;
        at += used;
    }
}

int64_t asr_count_chars(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    int64_t chars = 0, last = 0;
    while (at < end) {
        uint32_t code;
        bool valid = true;
        at += words_decode(at, end, &code, &valid);
        bool is_space = words_is_space(code);
        chars += !is_space || chars > 0;
        last = is_space ? last : chars;
    }
    return last;
}

/* ---- JSON ---- */

static void told_nothing(struct asr_told *told)
{
    *told = (struct asr_told){
        .inference_ns = -1, .duration_ns = -1, .input_tokens = -1, .output_tokens = -1, .total_tokens = -1};
}

static void skip(struct json_cursor *cursor)
{
    (void)json_skip(cursor);
}

static int64_t seconds_to_ns(const struct json_raw *raw)
{
    double seconds;
    if (raw->escaped || !json_text_double(raw->at, raw->len, &seconds) || !(seconds >= 0) || seconds > SECONDS_MAX)
        return -1;
    return (int64_t)llround(seconds * 1e9);
}

/* A number or the text of one, in seconds; -1 when it is neither. */
static int64_t take_seconds(struct json_cursor *cursor)
{
    struct json_raw raw;
    if (json_take_number(cursor, &raw) || json_take_string(cursor, &raw))
        return seconds_to_ns(&raw);
    skip(cursor);
    return -1;
}

static int64_t take_count(struct json_cursor *cursor)
{
    struct json_raw raw;
    int64_t count;
    if (json_take_number(cursor, &raw))
        return json_text_int64(raw.at, raw.len, &count) && count >= 0 ? count : -1;
    skip(cursor);
    return -1;
}

static struct json_raw take_text(struct json_cursor *cursor)
{
    struct json_raw raw = {0};
    if (!json_take_string(cursor, &raw))
        skip(cursor);
    return raw;
}

static void take_usage(struct json_cursor *cursor, struct asr_told *told)
{
    struct json_raw key;
    if (!json_enter_object(cursor)) {
        skip(cursor);
        return;
    }
    while (json_next_member(cursor, &key)) {
        if (KEY_IS(&key, "input_tokens") || KEY_IS(&key, "prompt_tokens"))
            told->input_tokens = take_count(cursor);
        else if (KEY_IS(&key, "output_tokens") || KEY_IS(&key, "completion_tokens"))
            told->output_tokens = take_count(cursor);
        else if (KEY_IS(&key, "total_tokens"))
            told->total_tokens = take_count(cursor);
        else
            skip(cursor);
    }
}

static void take_language(struct json_cursor *cursor, struct asr_told *told)
{
    char decoded[3 * sizeof told->language];
    struct json_raw raw = take_text(cursor);
    if (!raw.at || raw.len >= sizeof told->language)
        return;
    size_t len = json_raw_decode(&raw, decoded);
    if (len >= sizeof told->language)
        return;
    memcpy(told->language, decoded, len);
    told->language[len] = '\0';
}

/* The members of an answer or event that count. */
struct members {
    struct json_raw text, delta, type;
    bool has_error;
    struct asr_told told;
    struct asr_spans times;
};

/* Steps over a value; where it is. */
static struct asr_span take_span(struct json_cursor *cursor)
{
    const char *start = cursor->at;
    return json_skip(cursor) ? (struct asr_span){start, (size_t)(cursor->at - start)} : (struct asr_span){NULL, 0};
}

static bool is_at_end(const struct json_cursor *cursor)
{
    const char *at = cursor->at;
    while (at < cursor->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at == cursor->end;
}

/* False when it is no JSON object. */
static bool read_members(const char *data, size_t len, struct members *ret)
{
    struct json_cursor cursor;
    struct json_raw key;
    *ret = (struct members){0};
    told_nothing(&ret->told);
    json_cursor_init(&cursor, data, len);
    if (!json_enter_object(&cursor))
        return false;
    while (json_next_member(&cursor, &key)) {
        if (KEY_IS(&key, "text"))
            ret->text = take_text(&cursor);
        else if (KEY_IS(&key, "delta"))
            ret->delta = take_text(&cursor);
        else if (KEY_IS(&key, "type"))
            ret->type = take_text(&cursor);
        else if (KEY_IS(&key, "inference_time"))
            ret->told.inference_ns = take_seconds(&cursor);
        else if (KEY_IS(&key, "duration"))
            ret->told.duration_ns = take_seconds(&cursor);
        else if (KEY_IS(&key, "language"))
            take_language(&cursor, &ret->told);
        else if (KEY_IS(&key, "usage"))
            take_usage(&cursor, &ret->told);
        else if (KEY_IS(&key, "words"))
            ret->times.words = take_span(&cursor);
        else if (KEY_IS(&key, "segments"))
            ret->times.segments = take_span(&cursor);
        else if (KEY_IS(&key, "error")) {
            ret->has_error = !json_take_null(&cursor);
            if (ret->has_error)
                skip(&cursor);
        } else
            skip(&cursor);
    }
    return !cursor.failed && is_at_end(&cursor);
}

static void read_json(const char *data, size_t len, struct strbuf *text, struct asr_reading *ret)
{
    struct members members;
    if (!read_members(data, len, &members)) {
        ret->problem =
            json_cursor_validate(data, len, &(struct json_limits){.lossy = true}) ? ASR_NO_TEXT : ASR_NOT_JSON;
        return;
    }
    ret->told = members.told;
    ret->times = members.times;
    ret->problem = members.has_error ? ASR_SERVER_ERROR : members.text.at ? ASR_FINE : ASR_NO_TEXT;
    if (ret->problem == ASR_FINE)
        asr_add_raw(text, &members.text);
}

/* ---- text ---- */

static bool begins_with(const char *data, size_t len, const char *start)
{
    while (len > 0 && (*data == ' ' || *data == '\n' || *data == '\r' || *data == '\t')) {
        data++;
        len--;
    }
    return len >= strlen(start) && strncasecmp(data, start, strlen(start)) == 0;
}

static size_t without_line_ends(const char *data, size_t len)
{
    while (len > 0 && (data[len - 1] == '\n' || data[len - 1] == '\r'))
        len--;
    return len;
}

static bool is_blank(const char *data, size_t len)
{
    return without_line_ends(data, len) == 0;
}

static void read_subtitle(bool is_vtt, const char *data, size_t len, struct strbuf *text, struct asr_reading *ret)
{
    struct asr_subtitle subtitle;
    AS_AUTO_STRBUF struct strbuf sound;
    strbuf_init(&sound, 0);
    add_utf8(&sound, data, len, &ret->is_unsound);
    if (strbuf_status(&sound) != AS_OK) {
        text->status = AS_E_NOMEM;
        return;
    }
    asr_read_subtitle(strbuf_text(&sound), sound.len, is_vtt, text, &subtitle);
    ret->cues = subtitle.cues;
    bool is_subtitle = subtitle.cues > 0 || subtitle.is_webvtt || is_blank(data, len);
    ret->is_other_format = !is_subtitle || (subtitle.is_webvtt != is_vtt && !is_blank(data, len));
    if (is_subtitle)
        return;
    ret->cues = -1;
    strbuf_add(text, strbuf_text(&sound), without_line_ends(strbuf_text(&sound), sound.len));
}

/* A JSON answer where text was asked for; false when it is to be taken as text. */
static bool read_foreign_json(bool is_json, const char *data, size_t len, struct strbuf *text, struct asr_reading *ret)
{
    struct asr_reading reading = *ret;
    if (!is_json && !begins_with(data, len, "{"))
        return false;
    read_json(data, len, text, &reading);
    bool is_taken = reading.problem == ASR_FINE || reading.problem == ASR_SERVER_ERROR || is_json;
    if (!is_taken)
        return false;
    reading.is_other_format = true;
    *ret = reading;
    return true;
}

void asr_read_body(const struct asr_body *body, struct strbuf *text, struct asr_reading *ret)
{
    const char *data = body->data;
    size_t len = body->len;
    *ret = (struct asr_reading){.cues = -1};
    told_nothing(&ret->told);
    if (asr_format_is_json(body->format)) {
        read_json(data, len, text, ret);
        return;
    }
    if (read_foreign_json(body->is_json, data, len, text, ret))
        return;
    if (begins_with(data, len, "<!doctype html") || begins_with(data, len, "<html")) {
        ret->problem = ASR_PAGE;
        return;
    }
    if (body->format == ASR_FORMAT_TEXT)
        add_utf8(text, data, without_line_ends(data, len), &ret->is_unsound);
    else
        read_subtitle(body->format == ASR_FORMAT_VTT, data, len, text, ret);
}

/* ---- streams ---- */

static void read_chat_event(const char *data, size_t len, struct asr_event *event)
{
    struct chat_reading reading;
    if (!chat_read(data, len, CHAT_EVENT, &reading) || reading.choice_count == 0)
        return;
    event->text = reading.first.content;
    event->is_finished = reading.first.finish_reason.len > 0;
    if (event->text.len > 0)
        event->kind = ASR_EVENT_DELTA;
}

void asr_read_event(const char *data, size_t len, struct asr_event *ret)
{
    struct members members;
    *ret = (struct asr_event){.kind = ASR_EVENT_BROKEN};
    if (!read_members(data, len, &members)) {
        told_nothing(&ret->told);
        return;
    }
    ret->kind = ASR_EVENT_NONE;
    ret->told = members.told;
    if (members.has_error) {
        ret->kind = ASR_EVENT_ERROR;
    } else if (members.type.at && KEY_IS(&members.type, "transcript.text.delta")) {
        ret->kind = members.delta.len > 0 ? ASR_EVENT_DELTA : ASR_EVENT_NONE;
        ret->text = members.delta;
    } else if (members.type.at && KEY_IS(&members.type, "transcript.text.done")) {
        ret->kind = ASR_EVENT_DONE;
        ret->text = members.text;
    } else {
        read_chat_event(data, len, ret);
    }
}
