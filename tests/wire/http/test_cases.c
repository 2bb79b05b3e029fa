/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared wire cases (../shared/cases/wire, skipped where they are not), read by the response and event readers: cut
 * as each case says, whole, and byte by byte. Checks what is a matter of framing: status, events, end marker, reuse.
 */
#include "base/json.h"
#include "base/strbuf.h"
#include "http/response.h"
#include "http/sse.h"
#include "support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "../shared/cases/wire"

/* What was read of one case. */
struct outcome {
    int status; /* 0 = none */
    int events; /* before [DONE] */
    bool is_done_seen, is_complete, keep_alive;
};

struct reading {
    struct http_response http;
    struct sse_reader sse;
    struct outcome outcome;
    bool is_over;
};

static void take_events(struct reading *reading, const char *at, size_t len)
{
    struct sse_event event;
    const char *end = at + len;
    while (sse_next(&reading->sse, &at, end, &event) == SSE_EVENT) {
        if (event.len == 6 && memcmp(event.data, "[DONE]", 6) == 0)
            reading->outcome.is_done_seen = true;
        else if (!reading->outcome.is_done_seen)
            reading->outcome.events++;
    }
}

static void feed(struct reading *reading, const char *at, size_t len)
{
    const char *end = at + len, *span;
    size_t span_len;
    while (!reading->is_over) {
        enum http_result result = http_response_next(&reading->http, &at, end, &span, &span_len);
        if (result == HTTP_HEAD) {
            reading->outcome.status = reading->http.head.status;
        } else if (result == HTTP_SPAN) {
            take_events(reading, span, span_len);
        } else if (result == HTTP_MORE) {
            return;
        } else {
            reading->is_over = true;
            reading->outcome.is_complete = result == HTTP_END;
        }
    }
}

static struct outcome finish(struct reading *reading, bool is_closed)
{
    struct sse_event event;
    if (!reading->is_over && is_closed)
        reading->outcome.is_complete = http_response_eof(&reading->http) == HTTP_END;
    if (sse_finish(&reading->sse, &event) == SSE_EVENT && event.len == 6 && memcmp(event.data, "[DONE]", 6) == 0)
        reading->outcome.is_done_seen = true;
    reading->outcome.keep_alive = reading->outcome.is_complete && reading->http.head.keep_alive;
    http_response_done(&reading->http);
    sse_reader_done(&reading->sse);
    return reading->outcome;
}

/* Cuts at `splits` (a JSON array, or NULL for every byte). */
static struct outcome read_cut(const struct strbuf *bytes, const struct json_value *splits, bool is_closed)
{
    struct reading reading = {0};
    const struct json_value *split = splits ? splits->first : NULL;
    http_response_init(&reading.http);
    sse_reader_init(&reading.sse, SSE_EVENT_MAX_DEFAULT);
    for (size_t from = 0; from < bytes->len;) {
        int64_t to = splits ? (int64_t)bytes->len : (int64_t)from + 1;
        if (split) {
            assert_true(json_int64(split, &to));
            split = split->next;
        }
        feed(&reading, bytes->data + from, (size_t)to - from);
        from = (size_t)to;
    }
    return finish(&reading, is_closed);
}

static void read_bytes(const char *path, struct strbuf *ret)
{
    char block[65536];
    size_t got;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        strbuf_add(ret, block, got);
    fclose(file);
    assert_int_equal(strbuf_status(ret), AS_OK);
}

static size_t facts_checked;

/* True when the member is there and is `actual` (-1: null; booleans 0 and 1). */
static bool says(const struct json_value *object, const char *key, int64_t actual)
{
    const struct json_value *value = json_get(object, key);
    int64_t number = -1;
    bool truth;
    if (json_bool(value, &truth))
        number = truth;
    else if (!json_is_null(value) && !json_int64(value, &number))
        return false;
    return number == actual;
}

/* The case says nothing of it, or it or one of its overlays says `actual`. */
static bool is_expected(const struct json_value *expect, const char *key, int64_t actual)
{
    const struct json_value *overlays = json_get(expect, "any_of");
    if (!json_get(expect, key))
        return true;
    facts_checked++;
    bool is_right = says(expect, key, actual);
    for (const struct json_value *overlay = overlays ? overlays->first : NULL; overlay && !is_right;
         overlay = overlay->next)
        is_right = says(overlay, key, actual);
    return is_right;
}

static void check_outcome(const char *name, const struct json_value *expect, const struct outcome *outcome)
{
    const struct {
        const char *key;
        int64_t actual;
    } facts[] = {
        {"http_status", outcome->status ? outcome->status : -1},
        {"events", outcome->events},
        {"done_seen", outcome->is_done_seen},
        {"connection_reusable", outcome->keep_alive},
    };
    for (size_t i = 0; i < ARRAY_COUNT(facts); i++) {
        if (!is_expected(expect, facts[i].key, facts[i].actual))
            fail_msg("%s: %s is %lld", name, facts[i].key, (long long)facts[i].actual);
    }
}

/* False: it has several requests, or none is answered. */
static bool check_case(const char *name)
{
    char path[512];
    struct arena arena;
    const struct json_value *root = NULL;
    AS_AUTO_STRBUF struct strbuf text, bytes;
    arena_init(&arena, 0, 0);
    strbuf_init(&text, 0);
    strbuf_init(&bytes, 0);
    snprintf(path, sizeof path, FOLDER "/%s", name);
    read_bytes(path, &text);
    assert_int_equal(json_parse(text.data, text.len, NULL, &arena, &root, NULL), AS_OK);
    memcpy(path + strlen(path) - 4, "http", 5);
    read_bytes(path, &bytes);
    const char *end = "";
    bool is_single = !json_get(root, "phases") && bytes.len > 0;
    bool is_closed = json_string(json_get(root, "end"), &end) && strcmp(end, "close") == 0;
    if (is_single) {
        struct outcome cut = read_cut(&bytes, json_get(root, "splits"), is_closed);
        struct outcome single = read_cut(&bytes, NULL, is_closed);
        check_outcome(name, json_get(root, "expect"), &cut);
        check_outcome(name, json_get(root, "expect"), &single);
    }
    arena_done(&arena);
    return is_single;
}

static void test_shared_cases(void **state)
{
    (void)state;
    DIR *folder = opendir(FOLDER);
    if (!folder)
        skip();
    size_t checked = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        size_t len = strlen(entry->d_name);
        if (len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0)
            checked += check_case(entry->d_name);
    }
    closedir(folder);
    assert_true(checked > 100);
    assert_true(facts_checked > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
