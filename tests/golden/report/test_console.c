/* SPDX-License-Identifier: Apache-2.0 */
/* The example run as people see it, against the files beside this one. */
#include "report/console.h"
#include "report/vllm_block.h"

#include "support/golden.h"
#include "unit/summary/example_run.h"

#define FOLDER "tests/golden/report/"

static struct request_record records[EXAMPLE_RECORDS];

static struct summary example_summary(const struct run_facts *facts)
{
    example_records(records);
    return made_summary(facts, records, EXAMPLE_RECORDS);
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
    golden_check(FOLDER "table.txt", strbuf_text(&text), text.len);
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
    golden_check(FOLDER "vllm.txt", strbuf_text(&text), text.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_vllm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
