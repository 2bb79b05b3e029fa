/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same bytes through every reader: tree, stream in pieces, skipping and the cursor have to agree on what
 * is JSON, and a tree that is written has to read back the same.
 */
#include "base/json_stream.h"
#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

struct verdict {
    as_status status;
    int64_t offset; /* of the error, -1 = none */
    size_t tokens;
};

static struct verdict stream_verdict(const char *text, size_t len, const struct json_limits *limits, size_t step,
                                     bool skip)
{
    struct json_stream stream;
    struct json_span span;
    struct verdict verdict = {.offset = -1};
    json_stream_init(&stream, limits, false);
    if (skip)
        json_stream_skip(&stream);
    enum json_token token = JSON_TOKEN_MORE;
    for (size_t from = 0; from < len && token != JSON_TOKEN_BAD; from += step) {
        const char *at = text + from, *end = text + (len - from < step ? len : from + step);
        while ((token = json_stream_next(&stream, &at, end, &span)) > JSON_TOKEN_END)
            verdict.tokens++;
        DEMAND(token == JSON_TOKEN_BAD || at == end);
    }
    while (token != JSON_TOKEN_BAD && token != JSON_TOKEN_END) {
        token = json_stream_finish(&stream, &span);
        verdict.tokens += token > JSON_TOKEN_END;
    }
    struct as_error err = {.offset = -1};
    if (token == JSON_TOKEN_BAD) {
        verdict.status = json_stream_error(&stream, &err);
        DEMAND(err.offset >= 0 && (size_t)err.offset <= len);
        DEMAND(err.line >= 1 && err.column >= 1);
    }
    verdict.offset = err.offset;
    json_stream_done(&stream);
    return verdict;
}

static void write_and_read_back(const struct json_value *root)
{
    AS_AUTO_STRBUF struct strbuf first;
    AS_AUTO_STRBUF struct strbuf second;
    strbuf_init(&first, 0);
    strbuf_init(&second, 0);
    struct json_writer writer;
    json_writer_init(&writer, &first, 1);
    json_put_value(&writer, root);
    DEMAND(json_writer_status(&writer) == AS_OK);
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *again = NULL;
    DEMAND(json_parse(first.data, first.len, NULL, &arena, &again, NULL) == AS_OK);
    json_writer_init(&writer, &second, 1);
    json_put_value(&writer, again);
    DEMAND(json_writer_status(&writer) == AS_OK);
    DEMAND(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    arena_done(&arena);
}

/* What the whole check accepts, the cursor can step over too. */
static void cursor_agrees(const char *text, size_t len, bool is_valid)
{
    struct json_cursor cursor;
    json_cursor_init(&cursor, text, len);
    bool skipped = json_skip(&cursor);
    bool at_end = skipped && json_cursor_type(&cursor) == -1 && !cursor.failed;
    DEMAND(cursor.at >= text && cursor.at <= text + len);
    DEMAND(at_end || !is_valid);
}

static void check_all(const char *text, size_t len, const struct json_limits *limits, size_t step)
{
    struct arena arena;
    arena_init(&arena, 1024, 0);
    const struct json_value *root = NULL;
    struct as_error err = {.offset = -1};
    as_status status = json_parse(text, len, limits, &arena, &root, &err);
    struct verdict whole = stream_verdict(text, len, limits, len ? len : 1, false);
    struct verdict pieces = stream_verdict(text, len, limits, step, false);
    struct verdict skipped = stream_verdict(text, len, limits, step, true);
    DEMAND(whole.status == status && whole.offset == err.offset);
    DEMAND(pieces.status == status && pieces.offset == err.offset && pieces.tokens == whole.tokens);
    DEMAND(skipped.status == status && skipped.offset == err.offset && skipped.tokens == 0);
    DEMAND(json_cursor_validate(text, len, limits) == (status == AS_OK));
    cursor_agrees(text, len, status == AS_OK);
    if (status == AS_OK)
        write_and_read_back(root);
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    /* The first byte chooses how to read the rest. */
    size_t step = (size_t)(data[0] & 15) + 1;
    struct json_limits limits = {.lossy = (data[0] & 16) != 0};
    if (data[0] & 32)
        limits = (struct json_limits){.max_depth = 4, .max_string_bytes = 9, .lossy = limits.lossy};
    char *text = malloc(size);
    DEMAND(text);
    memcpy(text, data + 1, size - 1);
    check_all(text, size - 1, &limits, step);
    free(text);
    return 0;
}
