/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "plane/prompt_lines.h"

#include <string.h>

/* A text given in pieces of `step` bytes. */
struct text {
    const char *at;
    size_t left, step;
};

static as_status give(void *context, char *buffer, size_t size, size_t *ret, struct as_error *err)
{
    struct text *text = context;
    (void)err;
    *ret = text->left < text->step ? text->left : text->step;
    if (*ret > size)
        *ret = size;
    memcpy(buffer, text->at, *ret);
    text->at += *ret;
    text->left -= *ret;
    return AS_OK;
}

struct seen {
    int64_t rows, words, expected, local, last_line;
};

static as_status take(void *context, const struct prompt_row *row, struct as_error *err)
{
    struct seen *seen = context;
    (void)err;
    assert_int_equal(row->ordinal, seen->rows);
    seen->rows++;
    seen->words += row->words;
    seen->expected += row->expected_output_tokens;
    seen->local += row->local_places;
    seen->last_line = row->line;
    return AS_OK;
}

static as_status read_in_steps(enum prompt_kind kind, const char *data, size_t step, struct seen *ret,
                               struct as_error *err)
{
    struct text text = {data, strlen(data), step};
    const struct prompt_input input = {&text, give};
    const struct prompt_visitor visitor = {ret, take};
    *ret = (struct seen){.rows = 0};
    return prompt_lines_read(kind, &input, &visitor, err);
}

static void lines_are_the_same_however_they_arrive(void **state)
{
    static const char data[] = "\xEF\xBB\xBF{\"prompt\": \"one two\", \"expected_output_tokens\": 5}\r\n"
                               "\n \t\n{\"prompt\":\"\xC3\xA4\", \"more\": [{}]}";
    (void)state;
    for (size_t step = 1; step <= sizeof data; step++) {
        struct seen seen;
        struct as_error err = {0};
        assert_int_equal(read_in_steps(PROMPT_LIBRARY, data, step, &seen, &err), AS_OK);
        assert_int_equal(seen.rows, 2);
        assert_int_equal(seen.words, 3);
        assert_int_equal(seen.expected, 4); /* 5, and -1 for none */
        assert_int_equal(seen.last_line, 4);
    }
}

static void local_references_are_counted(void **state)
{
    struct seen seen;
    struct as_error err = {0};
    (void)state;
    assert_int_equal(
        read_in_steps(PROMPT_VLM,
                      "{\"prompt\":\"a\",\"image_urls\":[\"HTTPS://x/1.png\",\"1.png\",\"file:///2.png\"]}\n"
                      "{\"prompt\":\"b\",\"image_url\":\"http://x/3.png\"}\n",
                      7, &seen, &err),
        AS_OK);
    assert_int_equal(seen.local, 2);
    assert_int_equal(read_in_steps(PROMPT_ASR,
                                   "{\"id\":1,\"path\":\"a/b.flac\"}\n{\"id\":2,\"url\":\"http://x/y.wav\"}", 9, &seen,
                                   &err),
                     AS_OK);
    assert_int_equal(seen.local, 1);
    assert_int_equal(seen.words, 0);
}

static void bad_lines_are_named(void **state)
{
    static const struct {
        enum prompt_kind kind;
        const char *data, *words;
    } cases[] = {
        {PROMPT_LIBRARY, "", "holds no row"},
        {PROMPT_LIBRARY, "{\"prompt\":\"a\"}\n\n{\"prompt\":\"b\"", "line 3: "},
        {PROMPT_LIBRARY, "\"prompt\"", "line 1: the line is a JSON string"},
        {PROMPT_LIBRARY, "{\"prompt\":null}", "line 1: the member \"prompt\" is missing"},
        {PROMPT_LIBRARY, "{\"prompt\":\"a\",\"expected_output_tokens\":\"5\"}", "whole number"},
        {PROMPT_VLM, "{\"prompt\":\"a\"}", "line 1: give either \"image_urls\""},
        {PROMPT_VLM, "{\"prompt\":\"a\",\"image_url\":\"x\",\"image_urls\":[\"y\"]}", "give either"},
        {PROMPT_VLM, "{\"prompt\":\"a\",\"image_url\":\"x\",\"image_digests\":[]}", "one digest an image"},
        {PROMPT_ASR, "{\"id\":\"\",\"path\":\"x.wav\"}", "\"id\""},
        {PROMPT_ASR, "{\"id\":\"1\",\"url\":\"file:///x.wav\"}", "\"url\" must begin"},
        {PROMPT_ASR, "{\"id\":\"1\",\"path\":\"dir.d/x\"}", "no ending"},
        {PROMPT_IMAGEGEN, "{\"prompt\":\"a\",\"size\":\"64x\"}", "WIDTHxHEIGHT"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct seen seen;
        struct as_error err = {0};
        assert_int_equal(read_in_steps(cases[i].kind, cases[i].data, 5, &seen, &err), AS_E_INVALID);
        if (!strstr(err.message, cases[i].words))
            fail_msg("%s: %s", cases[i].data, err.message);
    }
}

static void kinds_have_the_names_of_the_api(void **state)
{
    enum prompt_kind kind = PROMPT_LIBRARY;
    (void)state;
    assert_true(prompt_kind_from("metrumbench_imagegen_snapshot", &kind));
    assert_int_equal(kind, PROMPT_IMAGEGEN);
    assert_true(prompt_kind_from("prompt_library", &kind));
    assert_int_equal(kind, PROMPT_LIBRARY);
    assert_false(prompt_kind_from("library", &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_the_same_however_they_arrive),
        cmocka_unit_test(local_references_are_counted),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(kinds_have_the_names_of_the_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
