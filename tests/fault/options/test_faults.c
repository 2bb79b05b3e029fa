/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a reading and of the documents fails once. */
#include "../../unit/options/sample.h"
#include "options/yaml_tree.h"
#include "support/faults.h"

static as_status read_everything(void *context)
{
    struct reading r;
    (void)context;
    char *const *words = WORDS("--url", "http://a", "--url", "http://b", "--header", "A=b", "C: d", "--extra-body",
                               "{\"a\": [1, 2]}", "--goodput", "x:1", "y:2", "--save-result", "--request-count", "4");
    read_all(&r, &SAMPLE, words, ENVIRONMENT("ASSAY_MODEL=m", "SAMPLE_KEY=k", "ASSAY_NUM_REQUEST=1"));
    arena_done(&r.arena);
    return r.status;
}

static as_status parse_yaml(void *context)
{
    struct arena arena;
    const struct json_value *root = NULL;
    struct as_error err;
    arena_init(&arena, 64, 0);
    as_status status = yaml_parse(context, strlen(context), &arena, &root, &err);
    arena_done(&arena);
    return status;
}

static as_status make_documents(void *context)
{
    struct strbuf out AS_AUTO_STRBUF;
    (void)context;
    strbuf_init(&out, 0);
    options_help(&SAMPLE, 80, &out);
    options_man(&SAMPLE, "1", &out);
    options_markdown(&SAMPLE, &out);
    options_schema(&SAMPLE, &out);
    return strbuf_status(&out);
}

static void readings(void **state)
{
    (void)state;
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, read_everything, NULL) > 0);
}

static void trees(void **state)
{
    (void)state;
    char text[] = "a: 1\nb: [2, {c: d}]\n";
    assert_true(fault_each(FAULT_ALLOC, AS_E_NOMEM, parse_yaml, text) > 0);
}

/* A piece that could not be made is left out of help, but the buffer of the whole says so when it failed itself. */
static void documents(void **state)
{
    (void)state;
    size_t failed = 0;
    for (size_t n = 1; n < 2000; n += 7) {
        fault_blocks_watch();
        fault_arm(FAULT_ALLOC, n);
        as_status status = make_documents(NULL);
        fault_disarm();
        assert_int_equal(fault_blocks_left(), 0);
        assert_true(status == AS_OK || status == AS_E_NOMEM);
        failed += status != AS_OK;
    }
    assert_int_equal(make_documents(NULL), AS_OK);
    assert_true(failed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings),
        cmocka_unit_test(trees),
        cmocka_unit_test(documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
