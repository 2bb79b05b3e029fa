/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct sim_ask asked(const char *body, bool is_chat)
{
    struct sim_ask ask;
    struct as_error err = {0};
    if (sim_ask_read(body, strlen(body), is_chat, &ask, &err) != AS_OK)
        fail_msg("%s: %s", body, err.message);
    return ask;
}

static void test_chat(void **state)
{
    (void)state;
    struct sim_ask ask =
        asked("{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
              "{\"role\":\"user\",\"content\":\"one\\ntwo  three\\u00e9 \\\"four\\\" \"}],\"stream\":true,"
              "\"stream_options\":{\"include_usage\":true},\"max_tokens\":64,\"n\":2,\"temperature\":0}",
              true);
    assert_true(ask.stream && ask.include_usage && ask.is_chat && !ask.ignore_eos);
    assert_int_equal(ask.max_tokens, 64);
    assert_int_equal(ask.min_tokens, -1);
    assert_int_equal(ask.choices, 2);
    assert_int_equal(ask.prompt_words, 6);
    assert_int_equal(ask.model.len, 1);
}

static void test_parts_and_defaults(void **state)
{
    (void)state;
    struct sim_ask ask =
        asked("{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"what is this\"},"
              "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}]},"
              "{\"role\":\"assistant\",\"content\":null}],\"max_completion_tokens\":8,\"max_tokens\":null,"
              "\"ignore_eos\":true,\"min_tokens\":8,\"stream_options\":null,\"nosuch\":{\"messages\":[1]}}",
              true);
    assert_false(ask.stream);
    assert_int_equal(ask.images, 1);
    assert_int_equal(ask.prompt_words, 3);
    assert_int_equal(ask.max_tokens, 8);
    assert_int_equal(ask.min_tokens, 8);
    assert_true(ask.ignore_eos);
    assert_int_equal(ask.choices, 1);
    assert_null(ask.model.at);
}

static void test_completions(void **state)
{
    (void)state;
    assert_int_equal(asked("{\"prompt\":\"a b c\"}", false).prompt_words, 3);
    assert_int_equal(asked("{\"prompt\":[\"a b\",\"c\"]}", false).prompt_words, 3);
    assert_int_equal(asked("{\"prompt\":[11,12,13,14]}", false).prompt_ids, 4);
    assert_int_equal(asked("{\"prompt\":\"\"}", false).prompt_words, 0);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool is_chat;
        const char *word;
    } cases[] = {
        {"", true, "not JSON"},
        {"[]", true, "object"},
        {"{\"messages\":[{\"content\":\"x\"}],}", true, "not JSON"},
        {"{}", true, "messages is missing"},
        {"{\"messages\":[]}", true, "messages is missing"},
        {"{\"messages\":\"x\"}", true, "messages"},
        {"{\"messages\":[7]}", true, "a message"},
        {"{\"messages\":[{\"content\":7}]}", true, "content"},
        {"{\"messages\":[{\"content\":[7]}]}", true, "part"},
        {"{\"messages\":[{\"content\":\"x\"}],\"max_tokens\":\"64\"}", true, "max_tokens"},
        {"{\"messages\":[{\"content\":\"x\"}],\"max_tokens\":0}", true, "max_tokens"},
        {"{\"messages\":[{\"content\":\"x\"}],\"max_tokens\":1.5}", true, "max_tokens"},
        {"{\"messages\":[{\"content\":\"x\"}],\"n\":17}", true, "n must"},
        {"{\"messages\":[{\"content\":\"x\"}],\"stream\":1}", true, "stream"},
        {"{\"messages\":[{\"content\":\"x\"}],\"model\":7}", true, "model"},
        {"{\"messages\":[{\"content\":\"x\"}],\"stream_options\":{\"include_usage\":\"yes\"}}", true, "include_usage"},
        {"{\"prompt\":{}}", false, "prompt"},
        {"{\"messages\":[{\"content\":\"x\"}]}", false, "prompt is missing"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_ask ask = {.choices = 77};
        struct as_error err = {0};
        if (sim_ask_read(cases[i].body, strlen(cases[i].body), cases[i].is_chat, &ask, &err) != AS_E_INVALID)
            fail_msg("%s was taken", cases[i].body);
        if (!strstr(err.message, cases[i].word))
            fail_msg("%s: '%s' does not say '%s'", cases[i].body, err.message, cases[i].word);
        assert_int_equal(ask.choices, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chat),
        cmocka_unit_test(test_parts_and_defaults),
        cmocka_unit_test(test_completions),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
