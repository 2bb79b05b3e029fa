/* SPDX-License-Identifier: Apache-2.0 */
/* Any records that can be read make a summary that keeps its identities and is JSON, in whatever order they come. */
#include "measure/record_json.h"
#include "summary/summary_json.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

struct line {
    const char *at;
    size_t len;
};

static size_t split(const char *data, size_t size, struct line lines[LINES_MAX])
{
    size_t count = 0;
    for (const char *at = data, *end = data + size; at < end && count < LINES_MAX;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);
        lines[count++] = (struct line){at, len};
        at += len + 1;
    }
    return count;
}

/* A second record of a seq is left out: which one that is depends on the order. */
static bool has_duplicates;

static void summarize(const struct line *lines, size_t count, bool backwards, struct strbuf *ret)
{
    static const char *const names[] = {"a", "b"};
    struct arena arena;
    struct record_reader reader = {.context = {.tool = "llm", .endpoints = names, .endpoint_count = 2},
                                   .arena = &arena};
    struct run_facts facts;
    const struct run_facts *shards[] = {&facts};
    struct summary_builder *builder;
    struct summary summary;
    struct as_error err;
    arena_init(&arena, 0, 0);
    run_facts_init(&facts);
    facts.rules.slo = (struct run_slo){10000000, 10000000, 100000000, 10000000};
    facts.rules.request_timeout_ns = 10000000000;
    must(summary_builder_new(shards, 1, NULL, &builder) == AS_OK);
    for (size_t i = 0; i < count; i++) {
        const struct line *line = &lines[backwards ? count - 1 - i : i];
        struct request_record record;
        arena_reset(&arena);
        if (record_reader_line(&reader, line->at, line->len, &record, &err) == AS_OK)
            summary_add(builder, 0, &record);
    }
    must(summary_finish(builder, &summary, &err) == AS_OK);
    must(summary_check(&summary, &err) == AS_OK);
    has_duplicates = summary.counts.duplicates > 0;
    must(summary_write_json(&summary, 0, ret) == AS_OK);
    must(json_cursor_validate(ret->data, ret->len, NULL));
    summary_done(&summary);
    summary_builder_free(builder);
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct line lines[LINES_MAX];
    struct strbuf forwards, backwards;
    size_t count = split((const char *)data, size, lines);
    strbuf_init(&forwards, 0);
    strbuf_init(&backwards, 0);
    summarize(lines, count, false, &forwards);
    summarize(lines, count, true, &backwards);
    must(has_duplicates || (forwards.len == backwards.len && memcmp(forwards.data, backwards.data, forwards.len) == 0));
    strbuf_done(&forwards);
    strbuf_done(&backwards);
    return 0;
}
