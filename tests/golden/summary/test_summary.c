/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example run as summary.json, as the line of data.jsonl and as requests.jsonl, against the files beside this one.
 */
#include "measure/record_json.h"
#include "summary/summary_json.h"

#include "support/golden.h"
#include "unit/summary/example_run.h"

#include "base/json.h"
#include "base/json_write.h"

#define FOLDER "tests/golden/summary/"

static struct request_record records[EXAMPLE_RECORDS];

static void test_document(void **state)
{
    (void)state;
    struct run_facts facts = example_facts();
    example_records(records);
    struct summary s = made_summary(&facts, records, EXAMPLE_RECORDS);
    assert_sound(&s);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(summary_write_json(&s, 2, &text), AS_OK);
    summary_done(&s);
    golden_check(FOLDER "summary.json", strbuf_text(&text), text.len);
}

/* One line, with the same content. */
static void test_line(void **state)
{
    (void)state;
    struct run_facts facts = example_facts();
    struct summary s = made_summary(&facts, records, EXAMPLE_RECORDS);
    AS_AUTO_STRBUF struct strbuf line, document, again;
    strbuf_init(&line, 0);
    strbuf_init(&document, 0);
    strbuf_init(&again, 0);
    assert_int_equal(summary_write_json(&s, 0, &line), AS_OK);
    assert_int_equal(summary_write_json(&s, 2, &document), AS_OK);
    summary_done(&s);
    assert_null(strchr(strbuf_text(&line), '\n'));
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *tree;
    assert_int_equal(json_parse(strbuf_text(&line), line.len, NULL, &arena, &tree, NULL), AS_OK);
    struct json_writer writer;
    json_writer_init(&writer, &again, 2);
    json_put_value(&writer, tree);
    strbuf_addc(&again, '\n');
    assert_string_equal(strbuf_text(&again), strbuf_text(&document));
    arena_done(&arena);
}

static void test_records(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    static const int64_t chosen[] = {0, 2, 20, 30, 40, 41, 50, 60, 70, 80};
    const struct record_context context = {.tool = "llm", .run_id = "run", .endpoints = names, .endpoint_count = 2};
    struct record_writer writer;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(record_writer_init(&writer, &context, NULL), AS_OK);
    writer.epoch = (struct wall){INT64_C(1796060733000000000)};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        record_writer_line(&writer, &records[chosen[i]], &text);
    record_writer_done(&writer);
    assert_int_equal(strbuf_status(&text), AS_OK);
    golden_check(FOLDER "requests.jsonl", strbuf_text(&text), text.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
