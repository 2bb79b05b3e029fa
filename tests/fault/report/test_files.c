/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries on disk: whole, one line each, and not at all when they contradict themselves. */
#include "report/files.h"

#include "base/file.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/temp_dir.h"
#include "unit/summary/made_run.h"

static struct temp_dir dir;
static struct run_facts facts;
static struct summary summary;

static size_t lines_of(const char *path, struct strbuf *ret)
{
    strbuf_init(ret, 0);
    assert_int_equal(file_read(path, ret, NULL), AS_OK);
    size_t lines = 0;
    for (size_t i = 0; i < ret->len; i++)
        lines += ret->data[i] == '\n';
    return lines;
}

static void test_data_log_gets_a_line_a_run(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&dir, "data.jsonl", path);
    for (size_t run = 1; run <= 3; run++) {
        assert_int_equal(report_append_data_log(path, &summary, NULL), AS_OK);
        AS_AUTO_STRBUF struct strbuf text;
        assert_int_equal(lines_of(path, &text), run);
        assert_int_equal(text.data[text.len - 1], '\n');
    }
}

static void test_summary_is_replaced_whole(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&dir, "summary.json", path);
    assert_int_equal(report_write_summary(path, &summary, NULL), AS_OK);
    AS_AUTO_STRBUF struct strbuf before;
    assert_true(lines_of(path, &before) > 100);
    fault_arm(FAULT_WRITE, 1);
    struct as_error err = {0};
    assert_int_equal(report_write_summary(path, &summary, &err), AS_E_IO);
    fault_disarm();
    assert_non_null(strstr(err.message, "summary.json"));
    AS_AUTO_STRBUF struct strbuf after;
    (void)lines_of(path, &after);
    assert_string_equal(strbuf_text(&before), strbuf_text(&after));
}

static void test_contradiction_is_not_written(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct as_error err = {0};
    temp_dir_join(&dir, "broken.json", path);
    summary.counts.all.ok++;
    assert_int_equal(report_write_summary(path, &summary, &err), AS_E_INTERNAL);
    assert_non_null(strstr(err.message, "sent = ok + failed + timed_out + cancelled"));
    assert_int_equal(report_append_data_log(path, &summary, &err), AS_E_INTERNAL);
    summary.counts.all.ok--;
    assert_false(file_exists(path));
}

static as_status write_once(void *context)
{
    struct as_error err;
    return report_write_summary(context, &summary, &err);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_dir_join(&dir, "memory.json", path);
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, write_once, path) > 2);
}

static int set_up(void **state)
{
    (void)state;
    struct request_record records[] = {made_ok(0, 0, 100), made_ok(1, 10, 100)};
    facts = made_facts(2);
    summary = made_summary(&facts, records, 2);
    temp_dir_make(&dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    summary_done(&summary);
    temp_dir_remove(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_log_gets_a_line_a_run),
        cmocka_unit_test(test_summary_is_replaced_whole),
        cmocka_unit_test(test_contradiction_is_not_written),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
