/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails in the tree, the writer and the reader: the status says so and nothing leaks. */
#include "base/json_stream.h"
#include "base/json_write.h"

#include "support/check.h"
#include "support/faults.h"

#include <string.h>

static const char DOCUMENT[] =
    "{\"model\":\"m\\u00e9\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\nb\"}},[1,2.5,true,null]],"
    "\"usage\":{\"prompt_tokens\":12,\"long\":\"0123456789012345678901234567890123456789\\n\"}}";

static as_status parse_document(void *context)
{
    (void)context;
    struct arena arena;
    arena_init(&arena, 64, 0); /* small chunks: many allocations */
    const struct json_value *root = NULL;
    struct as_error err = {0};
    as_status status = json_parse(DOCUMENT, sizeof DOCUMENT - 1, NULL, &arena, &root, &err);
    if (status == AS_OK) {
        assert_string_equal(json_path(root, "model")->text, "m\xC3\xA9");
    } else {
        assert_null(root);
        assert_int_equal(err.status, status);
    }
    arena_done(&arena);
    return status;
}

static void tree_survives_lack_of_memory(void **state)
{
    (void)state;
    assert_in_range(fault_each(FAULT_ALLOC, AS_E_NOMEM, parse_document, NULL), 20, 200);
}

static as_status write_document(void *context)
{
    (void)context;
    struct strbuf out;
    strbuf_init(&out, 0);
    struct json_writer writer;
    json_writer_init(&writer, &out, 2);
    json_open_object(&writer);
    for (int i = 0; i < 50; i++) {
        json_member_string(&writer, "a longer key of a member", "text with \"quotes\" and \n and \xFF");
        json_member_double(&writer, "d", i / 3.0);
    }
    json_close_object(&writer);
    as_status status = json_writer_status(&writer);
    strbuf_done(&out);
    return status;
}

static void writer_survives_lack_of_memory(void **state)
{
    (void)state;
    assert_in_range(fault_each(FAULT_ALLOC, AS_E_NOMEM, write_document, NULL), 5, 100);
}

/* Reads the document in pieces of *context bytes. */
static as_status stream_document(void *context)
{
    size_t step = *(size_t *)context;
    struct json_stream stream;
    struct as_error err = {0};
    json_stream_init(&stream, NULL, false);
    struct json_span span;
    enum json_token token = JSON_TOKEN_MORE;
    for (size_t from = 0; from < sizeof DOCUMENT - 1 && token != JSON_TOKEN_BAD; from += step) {
        size_t left = sizeof DOCUMENT - 1 - from;
        const char *at = DOCUMENT + from, *end = at + (left < step ? left : step);
        do {
            token = json_stream_next(&stream, &at, end, &span);
        } while (token > JSON_TOKEN_END);
    }
    if (token != JSON_TOKEN_BAD)
        token = json_stream_finish(&stream, &span);
    as_status status = token == JSON_TOKEN_END ? AS_OK : json_stream_error(&stream, &err);
    json_stream_done(&stream);
    return status;
}

static void stream_survives_lack_of_memory(void **state)
{
    (void)state;
    size_t step = 1;
    assert_in_range(fault_each(FAULT_ALLOC, AS_E_NOMEM, stream_document, &step), 1, 50);
    step = 7;
    assert_in_range(fault_each(FAULT_ALLOC, AS_E_NOMEM, stream_document, &step), 1, 50);
}

static void cursor_and_validation_allocate_nothing(void **state)
{
    (void)state;
    fault_arm_from(FAULT_ALLOC, 1);
    assert_true(json_cursor_validate(DOCUMENT, sizeof DOCUMENT - 1, NULL));
    assert_true(json_cursor_validate("12", 2, NULL));
    struct json_cursor cursor;
    json_cursor_init(&cursor, DOCUMENT, sizeof DOCUMENT - 1);
    struct json_raw key;
    assert_true(json_enter_object(&cursor));
    int members = 0;
    while (json_next_member(&cursor, &key)) {
        members++;
        assert_true(json_skip(&cursor));
    }
    assert_false(cursor.failed);
    assert_int_equal(members, 3);
    assert_int_equal(fault_calls(FAULT_ALLOC), 0);
    fault_disarm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_survives_lack_of_memory),
        cmocka_unit_test(writer_survives_lack_of_memory),
        cmocka_unit_test(stream_survives_lack_of_memory),
        cmocka_unit_test(cursor_and_validation_allocate_nothing),
    };
    return cmocka_run_group_tests_name("json faults", tests, NULL, NULL);
}
