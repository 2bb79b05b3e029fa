/* SPDX-License-Identifier: Apache-2.0 */
/* The example run as people see it, against the files beside this one. ASSAY_BLESS=1 writes them anew. */
#include "report/console.h"
#include "report/vllm_block.h"

#include "unit/summary/example_run.h"

#include "base/file.h"

#include <stdlib.h>

#define FOLDER "tests/golden/report/"

static struct request_record records[EXAMPLE_RECORDS];

static struct summary example_summary(const struct run_facts *facts)
{
    example_records(records);
    return made_summary(facts, records, EXAMPLE_RECORDS);
}

static void assert_golden(const char *path, const struct strbuf *got)
{
    if (getenv("ASSAY_BLESS"))
        assert_int_equal(file_write_atomic(path, strbuf_text(got), got->len, NULL), AS_OK);
    AS_AUTO_STRBUF struct strbuf expected;
    strbuf_init(&expected, 0);
    assert_int_equal(file_read(path, &expected, NULL), AS_OK);
    assert_string_equal(strbuf_text(got), strbuf_text(&expected));
}

static void test_table(void **state)
{
    (void)state;
    struct run_facts facts = example_facts();
    struct summary s = example_summary(&facts);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(console_table(&s, false, &text), AS_OK);
    summary_done(&s);
    assert_golden(FOLDER "table.txt", &text);
}

static void test_vllm(void **state)
{
    (void)state;
    struct run_facts facts = example_facts();
    struct summary s = example_summary(&facts);
    struct vllm_choice choice;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(vllm_choice_read(NULL, NULL, &choice, NULL), AS_OK);
    assert_int_equal(vllm_block(&s, &choice, &text), AS_OK);
    summary_done(&s);
    assert_golden(FOLDER "vllm.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_vllm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
