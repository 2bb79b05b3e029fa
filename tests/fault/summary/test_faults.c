/* SPDX-License-Identifier: Apache-2.0 */
/* A summary when memory runs out, when its temporary file cannot be written, and when run.json cannot. */
#include "summary/run_file.h"
#include "support/faults.h"
#include "support/temp_dir.h"
#include "unit/summary/example_run.h"

static struct request_record records[EXAMPLE_RECORDS];
static struct temp_dir dir;

/* Builds and writes the example's summary; the text is kept when `ret` is given. */
static as_status summarize(const char *spill_folder, struct strbuf *ret)
{
    struct run_facts facts = example_facts();
    const struct run_facts *shards[] = {&facts};
    struct summary_builder *builder = NULL;
    struct summary summary;
    as_status status = summary_builder_new(shards, 1, spill_folder, &builder);
    if (status != AS_OK)
        return status;
    for (size_t i = 0; i < EXAMPLE_RECORDS; i++)
        summary_add(builder, 0, &records[i]);
    status = summary_finish(builder, &summary, NULL);
    if (status == AS_OK) {
        status = summary_write_json(&summary, 0, ret);
        summary_done(&summary);
    }
    summary_builder_free(builder);
    return status;
}

static as_status summarize_once(void *context)
{
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    return summarize(context, &text);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    size_t failures = fault_each(FAULT_ALLOC, AS_E_NOMEM, summarize_once, NULL);
    assert_true(failures > 50);
}

/* Long columns: blocks go to the file, or stay in memory when it cannot take them; the figures are the same. */
static as_status summarize_many(const char *spill_folder, struct strbuf *ret)
{
    enum { N = 20000 };
    struct run_facts facts = made_facts(N);
    const struct run_facts *shards[] = {&facts};
    struct summary_builder *builder = NULL;
    struct summary summary;
    as_status status = summary_builder_new(shards, 1, spill_folder, &builder);
    if (status != AS_OK)
        return status;
    for (int64_t i = 0; i < N; i++) {
        struct request_record record = made_ok(i, i * 10, 50 + i * 7919 % 1000);
        summary_add(builder, 0, &record);
    }
    status = summary_finish(builder, &summary, NULL);
    if (status == AS_OK) {
        status = summary_write_json(&summary, 0, ret);
        summary_done(&summary);
    }
    summary_builder_free(builder);
    return status;
}

static void test_spill_file_changes_no_figure(void **state)
{
    (void)state;
    static const enum fault_kind kinds[] = {FAULT_WRITE, FAULT_SHORT, FAULT_EINTR};
    AS_AUTO_STRBUF struct strbuf expected;
    strbuf_init(&expected, 0);
    assert_int_equal(summarize_many(NULL, &expected), AS_OK);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t nth = 1; nth <= 201; nth += 40) {
            AS_AUTO_STRBUF struct strbuf text;
            strbuf_init(&text, 0);
            if (kinds[k] == FAULT_WRITE)
                fault_arm_from(kinds[k], nth);
            else
                fault_arm(kinds[k], nth);
            as_status status = summarize_many(dir.path, &text);
            assert_true(fault_calls(kinds[k]) >= nth);
            fault_disarm();
            assert_int_equal(status, AS_OK);
            assert_string_equal(strbuf_text(&text), strbuf_text(&expected));
        }
    }
}

static void test_spill_file_that_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    fault_arm(FAULT_READ, 5);
    assert_int_equal(summarize_many(dir.path, &text), AS_E_IO);
    fault_disarm();
    assert_int_equal(text.len, 0);
}

static as_status write_facts(void *context)
{
    struct run_facts facts = example_facts();
    struct as_error err;
    return run_file_write(context, &facts, &err);
}

/* The file that was there is whole whatever fails. */
static void test_run_file(void **state)
{
    (void)state;
    static const enum fault_kind kinds[] = {FAULT_WRITE, FAULT_SYNC, FAULT_RENAME};
    assert_int_equal(write_facts(dir.path), AS_OK);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fault_arm(kinds[k], 1);
        assert_int_not_equal(write_facts(dir.path), AS_OK);
        fault_disarm();
        struct arena arena;
        struct run_facts facts;
        arena_init(&arena, 0, 0);
        assert_int_equal(run_file_read(dir.path, &arena, &facts, NULL), AS_OK);
        assert_int_equal(facts.endpoint_count, 2);
        arena_done(&arena);
    }
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, write_facts, dir.path) > 2);
}

static void test_run_file_is_missing(void **state)
{
    (void)state;
    struct arena arena;
    struct run_facts facts;
    struct as_error err = {0};
    arena_init(&arena, 0, 0);
    assert_int_equal(run_file_read("/nonexistent", &arena, &facts, &err), AS_E_NOTFOUND);
    assert_non_null(strstr(err.message, "/nonexistent/run.json"));
    arena_done(&arena);
}

static int set_up(void **state)
{
    (void)state;
    example_records(records);
    temp_dir_make(&dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_spill_file_changes_no_figure),
        cmocka_unit_test(test_spill_file_that_cannot_be_read_is_an_error),
        cmocka_unit_test(test_run_file),
        cmocka_unit_test(test_run_file_is_missing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
