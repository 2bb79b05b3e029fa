/* SPDX-License-Identifier: Apache-2.0 */
/* A line that can be read is written, read and written again the same. */
#include "base/json.h"
#include "measure/record_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void write_line(const struct record_context *context, const struct request_record *record, struct strbuf *out)
{
    struct record_writer writer;
    must(record_writer_init(&writer, context, NULL) == AS_OK);
    writer.epoch.ns = INT64_C(1796065533123456000);
    record_writer_line(&writer, record, out);
    must(strbuf_status(out) == AS_OK && out->len > 0);
    record_writer_done(&writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a", "b"};
    const struct record_context context = {
        .tool = "llm", .run_id = "r", .endpoints = names, .endpoint_count = 2, .save_gaps = true};
    struct request_record record;
    struct arena arena, second;
    struct strbuf first, again;
    struct as_error err;
    arena_init(&arena, 0, 0);
    arena_init(&second, 0, 0);
    strbuf_init(&first, 0);
    strbuf_init(&again, 0);
    struct record_reader reader = {.context = {.tool = "llm", .endpoints = names, .endpoint_count = 2},
                                   .arena = &arena};
    if (record_reader_line(&reader, (const char *)data, size, &record, &err) == AS_OK) {
        /* Values that are kept as they were written may be malformed inside; then the line is, too. */
        bool is_sound = json_cursor_validate((const char *)data, size, NULL);
        write_line(&context, &record, &first);
        must(!is_sound || json_cursor_validate(first.data, first.len, NULL));
        reader.arena = &second;
        as_status status = record_reader_line(&reader, first.data, first.len, &record, &err);
        must(!is_sound || status == AS_OK);
        if (status == AS_OK) {
            write_line(&context, &record, &again);
            must(strcmp(first.data, again.data) == 0);
        }
    }
    strbuf_done(&first);
    strbuf_done(&again);
    arena_done(&arena);
    arena_done(&second);
    return 0;
}
