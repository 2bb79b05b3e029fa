/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/audio_truth.h"

#include <string.h>

static struct audio_truth truth;
static struct as_error err;

static as_status parse(const char *text, bool skip_bad_lines)
{
    return audio_truth_parse(&(struct audio_text){text, strlen(text), "t.jsonl", skip_bad_lines}, &truth, &err);
}

static void test_references_are_found(void **state)
{
    (void)state;
    assert_int_equal(
        parse("{\"id\":\"b\",\"transcript\":\"two \\u00e9\"}\n{\"id\":3,\"transcript\":\"\",\"speaker\":1}\n"
              "{\"id\":\"a\",\"transcript\":\"one\"}\n",
              false),
        AS_OK);
    assert_int_equal(truth.count, 3);
    assert_string_equal(audio_truth_find(&truth, "a")->text, "one");
    assert_string_equal(audio_truth_find(&truth, "b")->text, "two \xC3\xA9");
    assert_int_equal(audio_truth_find(&truth, "b")->len, 6);
    assert_int_equal(audio_truth_find(&truth, "3")->len, 0);
    assert_null(audio_truth_find(&truth, "c"));
    assert_null(audio_truth_find(&truth, ""));
    assert_string_equal(truth.lines.unknown.names[0], "speaker");
    audio_truth_done(&truth);
}

static void test_bad_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"{\"id\":\"a\"}", "line 1: the member \"transcript\" is missing"},
        {"{\"id\":\"a\",\"transcript\":null}", "\"transcript\" must be a string"},
        {"{\"transcript\":\"x\"}", "\"id\" is missing"},
        {"{\"id\":\"a\",\"transcript\":\"x\"}\n{\"id\":\"a\",\"transcript\":\"y\"}",
         "line 2: the id \"a\" is taken by line 1"},
        {"", "holds no transcript"},
        {"nonsense", "line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(cases[i].text, false), AS_E_INVALID);
        if (!strstr(err.message, cases[i].reason))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].reason);
    }
    assert_int_equal(parse("x\n{\"id\":\"a\",\"transcript\":\"y\"}", true), AS_OK);
    assert_int_equal(truth.lines.bad_lines, 1);
    audio_truth_done(&truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_references_are_found), cmocka_unit_test(test_bad_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
