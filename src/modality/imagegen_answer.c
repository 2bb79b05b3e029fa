/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/imagegen_answer.h"

#include "media/base64.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void take_count(struct json_cursor *cursor, int64_t *ret)
{
    struct json_raw raw;
    int64_t value;
    if (!json_take_number(cursor, &raw))
        (void)json_skip(cursor);
    else if (json_text_int64(raw.at, raw.len, &value) && value >= 0)
        *ret = value;
}

static void take_usage(struct json_cursor *cursor, struct imagegen_reading *reading)
{
    struct json_raw key;
    if (!json_enter_object(cursor)) {
        (void)json_skip(cursor);
        return;
    }
    while (json_next_member(cursor, &key)) {
        if (json_raw_equals(&key, "input_tokens"))
            take_count(cursor, &reading->input_tokens);
        else if (json_raw_equals(&key, "output_tokens"))
            take_count(cursor, &reading->output_tokens);
        else if (json_raw_equals(&key, "total_tokens"))
            take_count(cursor, &reading->total_tokens);
        else
            (void)json_skip(cursor);
    }
}

static void take_data(struct json_cursor *cursor, struct imagegen_reading *reading)
{
    bool is_first = true;
    reading->data = NULL;
    reading->items = 0;
    if (json_cursor_type(cursor) != JSON_ARRAY) {
        (void)json_skip(cursor);
        return;
    }
    reading->data = cursor->at;
    (void)json_enter_array(cursor);
    for (; json_next_item(cursor, &is_first) && json_skip(cursor);)
        reading->items++;
}

static bool is_rest_blank(const struct json_cursor *cursor)
{
    for (const char *at = cursor->at; at < cursor->end; at++)
        if (!strchr(" \t\r\n", *at) || !*at)
            return false;
    return true;
}

void imagegen_read(const char *text, size_t len, struct imagegen_reading *ret)
{
    struct json_cursor cursor;
    struct json_raw key;
    bool has_error = false;
    *ret = (struct imagegen_reading){.form = IMAGEGEN_ANSWER_NO_JSON,
                                     .end = text + len,
                                     .input_tokens = -1,
                                     .output_tokens = -1,
                                     .total_tokens = -1};
    json_cursor_init(&cursor, text, len);
    if (!json_enter_object(&cursor))
        return;
    while (json_next_member(&cursor, &key)) {
        if (json_raw_equals(&key, "data")) {
            take_data(&cursor, ret);
        } else if (json_raw_equals(&key, "usage")) {
            take_usage(&cursor, ret);
        } else {
            has_error = has_error || (json_raw_equals(&key, "error") && json_cursor_type(&cursor) != JSON_NULL);
            (void)json_skip(&cursor);
        }
    }
    if (cursor.failed || !is_rest_blank(&cursor)) {
        ret->data = NULL;
        return;
    }
    ret->form = ret->data ? IMAGEGEN_ANSWER_SOUND : IMAGEGEN_ANSWER_NO_DATA;
    if (has_error && ret->items == 0)
        ret->form = IMAGEGEN_ANSWER_ERROR;
}

void imagegen_walk_init(struct imagegen_walk *walk, const struct imagegen_reading *reading)
{
    json_cursor_init(&walk->cursor, reading->data, (size_t)(reading->end - reading->data));
    walk->is_first = true;
    (void)json_enter_array(&walk->cursor);
}

bool imagegen_walk_next(struct imagegen_walk *walk, struct imagegen_item *ret)
{
    struct json_cursor *cursor = &walk->cursor;
    struct json_raw key;
    *ret = (struct imagegen_item){0};
    if (!json_next_item(cursor, &walk->is_first))
        return false;
    if (!json_enter_object(cursor))
        return json_skip(cursor);
    while (json_next_member(cursor, &key)) {
        struct json_raw *place = json_raw_equals(&key, "b64_json") ? &ret->base64
                                 : json_raw_equals(&key, "url")    ? &ret->url
                                                                   : NULL;
        if (place)
            *place = (struct json_raw){0};
        if (!place || !json_take_string(cursor, place))
            (void)json_skip(cursor);
    }
    return !cursor->failed;
}

/* The text behind "data:TYPE;base64,", or the whole when it does not begin so. */
static void skip_prefix(const char **text, size_t *len)
{
    if (*len < 5 || strncasecmp(*text, "data:", 5) != 0)
        return;
    const char *comma = memchr(*text, ',', *len < 256 ? *len : 256);
    if (!comma || comma - *text < 12 || strncasecmp(comma - 7, ";base64", 7) != 0)
        return;
    *len -= (size_t)(comma + 1 - *text);
    *text = comma + 1;
}

as_status imagegen_decode(const struct imagegen_item *item, struct strbuf *ret, struct as_error *err)
{
    const char *text = item->base64.at;
    size_t len = item->base64.len, bytes = 0;
    char *plain = NULL;
    strbuf_reset(ret);
    if (item->base64.escaped) {
        plain = malloc(3 * len + 1);
        if (!plain)
            return error_set(err, AS_E_NOMEM, "no memory to decode %zu characters", len);
        len = json_raw_decode(&item->base64, plain);
        text = plain;
    }
    skip_prefix(&text, &len);
    as_status status = AS_OK;
    if (!strbuf_reserve(ret, base64_decoded_max(len)))
        status = error_set(err, AS_E_NOMEM, "no memory to decode %zu characters", len);
    if (status == AS_OK)
        status = base64_decode(text, len, ret->data, &bytes, err);
    if (status == AS_OK && bytes == 0)
        status = error_set(err, AS_E_INVALID, "b64_json is empty");
    ret->len = status == AS_OK ? bytes : 0;
    free(plain);
    return status;
}
