/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/synthetic.h"
#include "workload/words.h"

#include <math.h>
#include <string.h>

static void test_lengths_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t mean, spread;
    } good[] = {{"1", 1, 0},
                {"512", 512, 0},
                {"512\xC2\xB1"
                 "64",
                 512, 64},
                {"512+-64", 512, 64},
                {"100+/-99", 100, 99}};
    static const char *const bad[] = {"",
                                      "0",
                                      "x",
                                      "5x",
                                      "5\xC2\xB1",
                                      "5\xC2\xB1\x35",
                                      "-5",
                                      "5.5",
                                      "16777217",
                                      "16777216+-1",
                                      "99999999999999999999",
                                      " 5",
                                      "5 "};
    struct length_spec spec;
    struct as_error err;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        assert_int_equal(length_parse(good[i].text, &spec, &err), AS_OK);
        assert_int_equal(spec.mean, good[i].mean);
        assert_int_equal(spec.spread, good[i].spread);
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        assert_int_equal(length_parse(bad[i], &spec, &err), AS_E_INVALID);
}

static void test_lengths_are_uniform(void **state)
{
    (void)state;
    struct length_spec spec = {20, 3};
    size_t seen[7] = {0};
    for (uint64_t i = 0; i < 7000; i++) {
        int64_t length = length_draw(&spec, 1, 2, i);
        assert_true(length >= 17 && length <= 23);
        assert_int_equal(length, length_draw(&spec, 1, 2, i));
        seen[length - 17]++;
    }
    for (size_t i = 0; i < 7; i++)
        assert_true(seen[i] > 850 && seen[i] < 1150);
    spec.spread = 0;
    assert_int_equal(length_draw(&spec, 1, 2, 3), 20);
}

static void test_texts(void **state)
{
    (void)state;
    struct strbuf one, longer, other;
    strbuf_init(&one, 0);
    strbuf_init(&longer, 0);
    strbuf_init(&other, 0);
    synthetic_text(5, 1, 300, &one);
    synthetic_text(5, 1, 600, &longer);
    synthetic_text(5, 2, 300, &other);
    assert_int_equal(words_count(one.data, one.len), 300);
    assert_int_equal(words_count(longer.data, longer.len), 600);
    assert_memory_equal(one.data, longer.data, one.len);
    assert_string_not_equal(one.data, other.data);
    assert_null(strstr(one.data, "  "));
    strbuf_done(&one);
    strbuf_done(&longer);
    strbuf_done(&other);
}

static void test_the_ratio_is_a_line(void **state)
{
    (void)state;
    static const struct token_probe exact[] = {{100, 142}, {200, 262}, {400, 502}};
    static const struct token_probe noisy[] = {{100, 143}, {200, 261}, {400, 502}, {800, 983}};
    struct token_ratio ratio;
    struct as_error err;
    assert_int_equal(token_ratio_fit(exact, ARRAY_COUNT(exact), &ratio, &err), AS_OK);
    assert_true(fabs(ratio.tokens_per_word - 1.2) < 1e-9);
    assert_true(fabs(ratio.overhead_tokens - 22) < 1e-6);
    assert_int_equal(token_ratio_words(&ratio, 142), 100);
    assert_int_equal(token_ratio_words(&ratio, 1222), 1000);
    assert_int_equal(token_ratio_words(&ratio, 5), 1);
    assert_int_equal(token_ratio_fit(noisy, ARRAY_COUNT(noisy), &ratio, &err), AS_OK);
    assert_true(fabs(ratio.tokens_per_word - 1.2) < 0.01);
}

static void test_a_negative_overhead_is_none(void **state)
{
    (void)state;
    static const struct token_probe probes[] = {{100, 99}, {200, 201}};
    struct token_ratio ratio;
    struct as_error err;
    assert_int_equal(token_ratio_fit(probes, ARRAY_COUNT(probes), &ratio, &err), AS_OK);
    assert_true(ratio.overhead_tokens == 0);
    assert_true(fabs(ratio.tokens_per_word - 1.002) < 1e-9);
}

static void test_nonsense_is_refused(void **state)
{
    (void)state;
    static const struct token_probe same[] = {{100, 120}, {100, 121}}, flat[] = {{100, 50}, {200, 50}},
                                    steep[] = {{100, 5000}, {200, 10000}}, falling[] = {{100, 500}, {200, 100}};
    static const struct {
        const struct token_probe *probes;
        size_t count;
    } cases[] = {{same, 2}, {same, 1}, {same, 0}, {flat, 2}, {steep, 2}, {falling, 2}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct token_ratio ratio;
        struct as_error err;
        assert_int_equal(token_ratio_fit(cases[i].probes, cases[i].count, &ratio, &err), AS_E_INVALID);
    }
}

static void test_prompts_are_made(void **state)
{
    (void)state;
    struct synthetic_spec spec = {.seed = 3, .count = 50, .input = {100, 10}, .output = {20, 5}, .ratio = {1.25, 10}};
    struct prompts prompts, again;
    struct as_error err;
    assert_int_equal(synthetic_prompts(&spec, &prompts, &err), AS_OK);
    assert_int_equal(prompts.count, 50);
    assert_int_equal(prompts.with_expected_tokens, 50);
    assert_string_equal(prompts.items[7].id, "synthetic-7");
    for (size_t i = 0; i < 50; i++) {
        const struct prompt *prompt = &prompts.items[i];
        assert_int_equal(prompt->words, words_count(prompt->text, prompt->len));
        double tokens = 10 + 1.25 * (double)prompt->words;
        assert_true(tokens > 89 && tokens < 111);
        assert_true(prompt->expected_output_tokens >= 15 && prompt->expected_output_tokens <= 25);
    }
    spec.count = 20;
    assert_int_equal(synthetic_prompts(&spec, &again, &err), AS_OK);
    for (size_t i = 0; i < 20; i++) {
        assert_string_equal(again.items[i].text, prompts.items[i].text);
        assert_int_equal(again.items[i].expected_output_tokens, prompts.items[i].expected_output_tokens);
    }
    assert_string_not_equal(again.digest, prompts.digest);
    prompts_done(&again);
    prompts_done(&prompts);
}

static void test_prompts_without_an_output_length(void **state)
{
    (void)state;
    struct synthetic_spec spec = {.seed = 3, .count = 2, .input = {5, 0}, .ratio = TOKEN_RATIO_DEFAULT};
    struct prompts prompts;
    struct as_error err;
    assert_int_equal(synthetic_prompts(&spec, &prompts, &err), AS_OK);
    assert_int_equal(prompts.items[0].expected_output_tokens, -1);
    assert_int_equal(prompts.items[0].words, 5);
    assert_string_not_equal(prompts.items[0].text, prompts.items[1].text);
    prompts_done(&prompts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_are_parsed),
        cmocka_unit_test(test_lengths_are_uniform),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_the_ratio_is_a_line),
        cmocka_unit_test(test_a_negative_overhead_is_none),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_prompts_are_made),
        cmocka_unit_test(test_prompts_without_an_output_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
