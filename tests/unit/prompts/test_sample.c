/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/calibration.h"
#include "prompts/sample.h"
#include "prompts/show.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS 200

/* Prompt i has i + 1 words; every third expects i + 1 tokens. */
static void make_prompts(struct prompts *ret)
{
    struct library library;
    struct as_error err;
    assert_int_equal(library_init(&library), AS_OK);
    for (int i = 0; i < ROWS; i++) {
        struct strbuf text AS_AUTO_STRBUF;
        strbuf_init(&text, 0);
        for (int w = 0; w <= i; w++)
            strbuf_addf(&text, "%sw%d", w ? " " : "", w);
        struct library_row row = {strbuf_text(&text), text.len, NULL, 0, i % 3 == 0 ? i + 1 : -1};
        assert_int_equal(library_add(&library, &row), AS_OK);
    }
    assert_int_equal(prompts_parse(strbuf_text(&library.lines), library.lines.len, NULL, ret, &err), AS_OK);
    library_done(&library);
}

static void test_what_fits(void **state)
{
    (void)state;
    struct prompts prompts;
    make_prompts(&prompts);
    static const struct {
        struct sample_spec spec;
        int64_t input_fits, fits, taken;
    } cases[] = {
        {{.isl = 100, .tolerance = 0.1, .ratio = {1, 0}}, 21, 21, 21},
        {{.isl = 100, .tolerance = 0, .ratio = {1, 0}}, 1, 1, 1},
        {{.isl = 100, .tolerance = 0.1, .ratio = {1, 50}}, 21, 21, 21},
        {{.isl = 300, .tolerance = 0.1, .ratio = {2, 0}}, 31, 31, 31},
        /* words 90 to 110; of them 91, 94, 97, … 109 expect as many tokens: 91, 94 are too few for 105 ± 10 % */
        {{.isl = 100, .osl = 105, .tolerance = 0.1, .ratio = {1, 0}}, 21, 19, 19},
        {{.isl = 100, .tolerance = 0.1, .ratio = {1, 0}, .count = 5}, 21, 21, 5},
        {{.isl = 100, .tolerance = 0.1, .ratio = {1, 0}, .count = 50, .allow_fewer = true}, 21, 21, 21},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct library library;
        struct sample_report report;
        struct as_error err;
        assert_int_equal(library_init(&library), AS_OK);
        assert_int_equal(sample_take(&prompts, &cases[i].spec, &library, &report, &err), AS_OK);
        assert_int_equal(report.input_fits, cases[i].input_fits);
        assert_int_equal(report.fits, cases[i].fits);
        assert_int_equal(report.taken, cases[i].taken);
        assert_int_equal(library.count, cases[i].taken);
        assert_true(report.tokens.min >= (double)cases[i].spec.isl * (1 - cases[i].spec.tolerance) - 0.5);
        assert_true(report.tokens.max <= (double)cases[i].spec.isl * (1 + cases[i].spec.tolerance) + 0.5);
        assert_int_equal(library.with_expected_tokens == library.count, cases[i].spec.osl > 0 || report.taken == 1);
        library_done(&library);
    }
    prompts_done(&prompts);
}

static void sample_digest(const struct prompts *prompts, uint64_t seed, char ret[DIGEST_TEXT_BYTES])
{
    const struct sample_spec spec = {.isl = 100, .tolerance = 0.5, .count = 30, .seed = seed, .ratio = {1, 0}};
    struct library library;
    struct sample_report report;
    struct as_error err;
    assert_int_equal(library_init(&library), AS_OK);
    assert_int_equal(sample_take(prompts, &spec, &library, &report, &err), AS_OK);
    memcpy(ret, library.content_digest, DIGEST_TEXT_BYTES);
    library_done(&library);
}

static void test_the_seed_decides(void **state)
{
    (void)state;
    struct prompts prompts;
    char one[DIGEST_TEXT_BYTES], again[DIGEST_TEXT_BYTES], other[DIGEST_TEXT_BYTES];
    make_prompts(&prompts);
    sample_digest(&prompts, 1, one);
    sample_digest(&prompts, 1, again);
    sample_digest(&prompts, 2, other);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    prompts_done(&prompts);
}

static void test_too_few(void **state)
{
    (void)state;
    struct prompts prompts;
    make_prompts(&prompts);
    static const struct {
        struct sample_spec spec;
        const char *message;
    } cases[] = {
        {{.isl = 9000, .tolerance = 0.1, .ratio = {1, 0}}, "the library's are 1 to 200 tokens"},
        {{.isl = 100, .tolerance = 0.1, .count = 22, .ratio = {1, 0}}, "only 21 of 22 prompts wanted fit"},
        {{.isl = 1, .osl = 50, .tolerance = 0.1, .ratio = {1, 0}}, "the answers expected of them are none of 50 tokens"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct library library;
        struct sample_report report;
        struct as_error err = {0};
        assert_int_equal(library_init(&library), AS_OK);
        assert_int_equal(sample_take(&prompts, &cases[i].spec, &library, &report, &err), AS_E_INVALID);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s", err.message);
        library_done(&library);
    }
    prompts_done(&prompts);
}

/* A model of 1.5 tokens a word and 11 around each prompt. */
static as_status count_words(void *context, const char *text, int64_t *ret_tokens, struct as_error *err)
{
    (void)err;
    int64_t words = 1;
    for (const char *at = text; *at; at++)
        words += *at == ' ';
    *ret_tokens = 11 + llround(1.5 * (double)words);
    ++*(int *)context;
    return AS_OK;
}

static void test_calibration(void **state)
{
    (void)state;
    struct prompts prompts;
    struct calibration calibration;
    struct as_error err = {0};
    struct token_ratio ratio = {0};
    struct strbuf text AS_AUTO_STRBUF;
    int calls = 0;
    strbuf_init(&text, 0);
    make_prompts(&prompts);
    const struct token_counter counter = {&calls, count_words};
    assert_int_equal(calibration_measure(&prompts, 8, &counter, &calibration, &err), AS_OK);
    assert_int_equal(calls, 16);
    assert_int_equal(calibration.probe_count, 16);
    assert_true(fabs(calibration.ratio.tokens_per_word - 1.5) < 0.01);
    assert_true(fabs(calibration.ratio.overhead_tokens - 11) < 0.6);
    const struct calibration_facts facts = {.model = "m", .library = "l.jsonl"};
    assert_int_equal(calibration_write(&calibration, &facts, &text), AS_OK);
    assert_int_equal(calibration_parse(text.data, text.len, &ratio, &err), AS_OK);
    assert_true(ratio.tokens_per_word == calibration.ratio.tokens_per_word);
    assert_true(ratio.overhead_tokens == calibration.ratio.overhead_tokens);
    prompts_done(&prompts);
}

static void test_calibration_files_that_are_none(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "{}", "[]", "{\"schema\":\"assay.calibration.v1\"}",
        "{\"schema\":\"assay.calibration.v1\",\"tokens_per_word\":99,\"overhead_tokens\":0}",
        "{\"schema\":\"assay.calibration.v1\",\"tokens_per_word\":1,\"overhead_tokens\":-1}",
        "{\"schema\":\"assay.calibration.v2\",\"tokens_per_word\":1,\"overhead_tokens\":0}",
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct token_ratio ratio = {7, 7};
        struct as_error err = {0};
        assert_int_equal(calibration_parse(bad[i], strlen(bad[i]), &ratio, &err), AS_E_INVALID);
        assert_true(err.message[0] && ratio.tokens_per_word == 7);
    }
}

static void test_shown_safely(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"a\nb\tc", "a b c"},
        {"a\x1b[31m", "a\xEF\xBF\xBD[31m"},
        {"\xE2\x80\xAEx", "\xEF\xBF\xBDx"},
        {"\xFFx", "\xEF\xBF\xBDx"},
        {"\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xE2\x80\xA6"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct strbuf out AS_AUTO_STRBUF;
        strbuf_init(&out, 0);
        show_safely(cases[i].text, strlen(cases[i].text), i < 4 ? 20 : 5, &out);
        assert_string_equal(strbuf_text(&out), cases[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_fits),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_calibration_files_that_are_none),
        cmocka_unit_test(test_shown_safely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
