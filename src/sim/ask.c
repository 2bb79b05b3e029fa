/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/ask.h"

#include <stdio.h>
#include <string.h>

struct reader {
    struct json_cursor cursor;
    struct sim_ask ask;
    const char *problem; /* static sentence; NULL = none so far */
    bool has_prompt;
    enum sim_image_check check;
    char image_problem[SIM_IMAGE_ERROR_MAX + 32];
};

/* Words of a raw (still escaped) string; \n, \r and \t separate like a blank. */
static int64_t count_words(const struct json_raw *raw)
{
    int64_t words = 0;
    bool inside = false;
    for (size_t i = 0; i < raw->len; i++) {
        char c = raw->at[i];
        bool blank = c == ' ' || (unsigned char)c < ' ';
        if (c == '\\' && i + 1 < raw->len) {
            i++;
            blank = raw->at[i] == 'n' || raw->at[i] == 't' || raw->at[i] == 'r';
        }
        words += !blank && !inside;
        inside = !blank;
    }
    return words;
}

static void problem(struct reader *reader, const char *sentence)
{
    if (!reader->problem)
        reader->problem = sentence;
}

static void read_whole(struct reader *reader, int64_t min, int64_t *ret, const char *sentence)
{
    struct json_raw raw;
    int64_t value;
    if (json_cursor_type(&reader->cursor) == JSON_NULL) {
        (void)json_take_null(&reader->cursor);
        return;
    }
    if (json_cursor_type(&reader->cursor) != JSON_NUMBER) {
        problem(reader, sentence);
        (void)json_skip(&reader->cursor);
        return;
    }
    if (!json_take_number(&reader->cursor, &raw))
        return;
    if (!json_text_int64(raw.at, raw.len, &value) || value < min)
        problem(reader, sentence);
    else
        *ret = value;
}

static void read_flag(struct reader *reader, bool *ret, const char *sentence)
{
    int type = json_cursor_type(&reader->cursor);
    if (type == JSON_BOOL) {
        (void)json_take_bool(&reader->cursor, ret);
        return;
    }
    if (type != JSON_NULL)
        problem(reader, sentence);
    (void)json_skip(&reader->cursor);
}

static void read_text(struct reader *reader)
{
    struct json_raw raw;
    if (json_take_string(&reader->cursor, &raw))
        reader->ask.prompt_words += count_words(&raw);
}

/* {"url":…,"detail":…}. */
static void read_image(struct reader *reader)
{
    struct json_raw key, url = {0};
    char why[SIM_IMAGE_ERROR_MAX];
    reader->ask.images++;
    if (!json_enter_object(&reader->cursor)) {
        problem(reader, "an image_url is no object with a url");
        (void)json_skip(&reader->cursor);
        return;
    }
    while (json_next_member(&reader->cursor, &key)) {
        if (!json_raw_equals(&key, "url") || !json_take_string(&reader->cursor, &url))
            (void)json_skip(&reader->cursor);
    }
    if (!url.at) {
        problem(reader, "an image_url is no object with a url");
        return;
    }
    sim_image_look(&url, reader->check, why);
    if (!why[0] || reader->problem)
        return;
    snprintf(reader->image_problem, sizeof(reader->image_problem), "image %lld: %s", (long long)reader->ask.images, why);
    reader->problem = reader->image_problem;
}

/* One part of a message: {"type":"text","text":…} or an image. */
static void read_part(struct reader *reader)
{
    struct json_raw key;
    if (!json_enter_object(&reader->cursor)) {
        problem(reader, "a part of a message's content is no object");
        return;
    }
    while (json_next_member(&reader->cursor, &key)) {
        if (json_raw_equals(&key, "text") && json_cursor_type(&reader->cursor) == JSON_STRING) {
            read_text(reader);
            continue;
        }
        if (json_raw_equals(&key, "image_url"))
            read_image(reader);
        else
            (void)json_skip(&reader->cursor);
    }
}

static void read_content(struct reader *reader)
{
    bool first = true;
    switch (json_cursor_type(&reader->cursor)) {
    case JSON_STRING:
        read_text(reader);
        return;
    case JSON_ARRAY:
        (void)json_enter_array(&reader->cursor);
        while (!reader->problem && json_next_item(&reader->cursor, &first))
            read_part(reader);
        return;
    case JSON_NULL:
        (void)json_take_null(&reader->cursor);
        return;
    default:
        problem(reader, "a message's content is neither a string nor an array");
        (void)json_skip(&reader->cursor);
    }
}

static void read_messages(struct reader *reader)
{
    struct json_raw key;
    bool first = true;
    if (!json_enter_array(&reader->cursor)) {
        problem(reader, "messages is no array");
        return;
    }
    while (!reader->problem && json_next_item(&reader->cursor, &first)) {
        if (!json_enter_object(&reader->cursor)) {
            problem(reader, "a message is no object");
            return;
        }
        reader->has_prompt = true;
        while (!reader->problem && json_next_member(&reader->cursor, &key)) {
            if (json_raw_equals(&key, "content"))
                read_content(reader);
            else
                (void)json_skip(&reader->cursor);
        }
    }
}

/* A string, or an array of strings and token ids. */
static void read_prompt(struct reader *reader)
{
    bool first = true;
    reader->has_prompt = true;
    int type = json_cursor_type(&reader->cursor);
    if (type == JSON_STRING) {
        read_text(reader);
        return;
    }
    if (type != JSON_ARRAY) {
        problem(reader, "prompt is neither a string nor an array");
        return;
    }
    (void)json_enter_array(&reader->cursor);
    while (json_next_item(&reader->cursor, &first)) {
        if (json_cursor_type(&reader->cursor) == JSON_STRING) {
            read_text(reader);
            continue;
        }
        reader->ask.prompt_ids += json_cursor_type(&reader->cursor) == JSON_NUMBER;
        (void)json_skip(&reader->cursor);
    }
}

static void read_stream_options(struct reader *reader)
{
    struct json_raw key;
    if (json_cursor_type(&reader->cursor) != JSON_OBJECT) {
        (void)json_skip(&reader->cursor);
        return;
    }
    (void)json_enter_object(&reader->cursor);
    while (json_next_member(&reader->cursor, &key)) {
        if (json_raw_equals(&key, "include_usage"))
            read_flag(reader, &reader->ask.include_usage, "stream_options.include_usage is neither true nor false");
        else
            (void)json_skip(&reader->cursor);
    }
}

static void read_model(struct reader *reader)
{
    if (json_cursor_type(&reader->cursor) == JSON_STRING) {
        (void)json_take_string(&reader->cursor, &reader->ask.model);
        return;
    }
    problem(reader, "model is no string");
    (void)json_skip(&reader->cursor);
}

static void read_member(struct reader *reader, const struct json_raw *key)
{
    struct sim_ask *ask = &reader->ask;
    if (json_raw_equals(key, ask->is_chat ? "messages" : "prompt"))
        ask->is_chat ? read_messages(reader) : read_prompt(reader);
    else if (json_raw_equals(key, "model"))
        read_model(reader);
    else if (json_raw_equals(key, "stream"))
        read_flag(reader, &ask->stream, "stream is neither true nor false");
    else if (json_raw_equals(key, "stream_options"))
        read_stream_options(reader);
    else if (json_raw_equals(key, "max_tokens") || json_raw_equals(key, "max_completion_tokens"))
        read_whole(reader, 1, &ask->max_tokens, "max_tokens must be a whole number of at least 1");
    else if (json_raw_equals(key, "min_tokens"))
        read_whole(reader, 0, &ask->min_tokens, "min_tokens must be a whole number of at least 0");
    else if (json_raw_equals(key, "n"))
        read_whole(reader, 1, &ask->choices, "n must be a whole number from 1 to 16");
    else if (json_raw_equals(key, "ignore_eos"))
        read_flag(reader, &ask->ignore_eos, "ignore_eos is neither true nor false");
    else
        (void)json_skip(&reader->cursor);
}

static as_status read_ask(const char *body, size_t len, const struct reader *start, struct sim_ask *ret, struct as_error *err)
{
    struct reader reader = *start;
    bool is_chat = reader.ask.is_chat;
    struct json_raw key;
    if (!json_cursor_validate(body, len, NULL))
        return error_set(err, AS_E_INVALID, "the body is not JSON");
    json_cursor_init(&reader.cursor, body, len);
    if (!json_enter_object(&reader.cursor))
        return error_set(err, AS_E_INVALID, "the body is no JSON object");
    while (!reader.problem && json_next_member(&reader.cursor, &key))
        read_member(&reader, &key);
    if (!reader.problem && reader.ask.choices > SIM_CHOICES_MAX)
        problem(&reader, "n must be a whole number from 1 to 16");
    if (!reader.problem && !reader.has_prompt)
        problem(&reader, is_chat ? "messages is missing or empty" : "prompt is missing");
    if (reader.problem)
        return error_set(err, AS_E_INVALID, "%s", reader.problem);
    *ret = reader.ask;
    return AS_OK;
}

as_status sim_ask_read(const char *body, size_t len, bool is_chat, struct sim_ask *ret, struct as_error *err)
{
    const struct reader start = {.ask = {.is_chat = is_chat, .max_tokens = -1, .min_tokens = -1, .choices = 1},
                                 .check = SIM_IMAGES_UNCHECKED};
    return read_ask(body, len, &start, ret, err);
}

as_status sim_ask_read_chat(const char *body, size_t len, enum sim_image_check check, struct sim_ask *ret, struct as_error *err)
{
    const struct reader start = {.ask = {.is_chat = true, .max_tokens = -1, .min_tokens = -1, .choices = 1}, .check = check};
    return read_ask(body, len, &start, ret, err);
}
