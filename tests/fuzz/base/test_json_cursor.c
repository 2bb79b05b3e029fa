/* SPDX-License-Identifier: Apache-2.0 */
/* The cursor driven by the input itself: any order of calls on any bytes stays inside them. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CALLS_MAX 16

static void decode(const struct json_raw *raw)
{
    char *text = malloc(3 * raw->len + 1);
    if (!text)
        abort();
    size_t len = json_raw_decode(raw, text);
    if (len > 3 * raw->len)
        abort();
    text[len] = '\0';
    if (strlen(text) == len && memchr(raw->at, (char)0xEF, raw->len) == NULL && strstr(text, "\xEF\xBF\xBD") == NULL &&
        !json_raw_equals(raw, text))
        abort();
    free(text);
}

static void number(const struct json_raw *raw)
{
    int64_t whole = 0;
    double real = 0;
    bool has_whole = json_text_int64(raw->at, raw->len, &whole);
    bool has_real = json_text_double(raw->at, raw->len, &real);
    if (has_whole && (!has_real || real != (double)whole))
        abort();
}

static void call(struct json_cursor *cursor, unsigned which, bool *first)
{
    struct json_raw raw;
    bool boolean;
    switch (which) {
    case 0:
        (void)json_enter_object(cursor);
        return;
    case 1:
        if (json_enter_array(cursor))
            *first = true;
        return;
    case 2:
        if (json_next_member(cursor, &raw))
            decode(&raw);
        return;
    case 3:
        (void)json_next_item(cursor, first);
        return;
    case 4:
        if (json_take_string(cursor, &raw))
            decode(&raw);
        return;
    case 5:
        if (json_take_number(cursor, &raw))
            number(&raw);
        return;
    case 6:
        (void)json_take_bool(cursor, &boolean);
        (void)json_take_null(cursor);
        return;
    default:
        (void)json_skip(cursor);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CALLS_MAX)
        return 0;
    /* One byte more in front: a member may be asked for without an object. */
    size_t len = size - CALLS_MAX;
    char *text = malloc(len + 1);
    if (!text)
        abort();
    text[0] = '{';
    memcpy(text + 1, data + CALLS_MAX, len);
    struct json_cursor cursor;
    json_cursor_init(&cursor, text + 1, len);
    bool first = true;
    for (size_t i = 0; i < CALLS_MAX; i++) {
        call(&cursor, data[i] & 7u, &first);
        if (cursor.at < text + 1 || cursor.at > text + 1 + len)
            abort();
    }
    free(text);
    return 0;
}
