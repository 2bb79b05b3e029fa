/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries that ship are the same on every machine, for ever: shipped.txt pins code, prompts and content digest. */
#include "prompts/generate.h"
#include "support/check.h"
#include "support/golden.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void generate(const struct generate_spec *spec, struct library *ret)
{
    struct as_error err = {0};
    assert_int_equal(library_init(ret), AS_OK);
    assert_int_equal(generate_library(spec, ret, &err), AS_OK);
}

static void test_digests(void **state)
{
    (void)state;
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < shipped_source_count; i++) {
        struct library library;
        generate(&shipped_sources[i].spec, &library);
        strbuf_addf(&out, "%s %" PRId64 " %s\n", shipped_sources[i].code, library.count, library.content_digest);
        library_done(&library);
    }
    golden_check("tests/golden/prompts/shipped.txt", strbuf_text(&out), out.len);
}

/* Nine of ten prompts are within 10 % of the length asked for, all within 25 %; none is there twice. */
static void test_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < shipped_source_count; i++) {
        const struct generate_spec *spec = &shipped_sources[i].spec;
        struct library library;
        struct prompts prompts;
        struct library_lengths lengths;
        struct as_error err = {0};
        int64_t near = 0;
        generate(spec, &library);
        assert_int_equal(prompts_parse(strbuf_text(&library.lines), library.lines.len, NULL, &prompts, &err), AS_OK);
        assert_int_equal(library_measure(&prompts, &lengths), AS_OK);
        assert_int_equal(lengths.distinct, spec->count);
        for (size_t row = 0; spec->isl_count && row < prompts.count; row++) {
            double wanted = (double)spec->isl[row % spec->isl_count].mean;
            double tokens = spec->ratio.tokens_per_word * (double)prompts.items[row].words;
            assert_true(tokens > wanted * 0.75 && tokens < wanted * 1.25);
            near += tokens >= wanted * 0.9 && tokens <= wanted * 1.1;
        }
        assert_true(spec->isl_count == 0 || near * 10 >= spec->count * 9);
        prompts_done(&prompts);
        library_done(&library);
    }
}

static void test_a_shorter_library_is_a_prefix(void **state)
{
    (void)state;
    for (int kind = 0; kind < GENERATE_KINDS; kind++) {
        struct generate_spec spec = {.kind = (enum generate_kind)kind, .seed = 5, .count = 4, .isl = {{90, 20}, {400, 0}},
                                     .isl_count = 2, .osl = {64, 8}, .ratio = {1.3, 0}};
        struct library shorter, longer, other;
        generate(&spec, &shorter);
        spec.count = 7;
        generate(&spec, &longer);
        spec.seed = 6;
        generate(&spec, &other);
        assert_memory_equal(shorter.lines.data, longer.lines.data, shorter.lines.len);
        assert_int_equal(longer.with_expected_tokens, 7);
        assert_string_not_equal(longer.content_digest, other.content_digest);
        assert_null(strstr(longer.lines.data, "{#}"));
        library_done(&shorter);
        library_done(&longer);
        library_done(&other);
    }
}

static void test_kinds_and_codes(void **state)
{
    (void)state;
    enum generate_kind kind = GENERATE_CODE;
    assert_true(generate_kind_parse("long-context", &kind) && kind == GENERATE_LONG_CONTEXT);
    assert_true(generate_kind_parse("random", &kind) && kind == GENERATE_RANDOM);
    assert_false(generate_kind_parse("poetry", &kind));
    assert_null(shipped_find("assay-poetry-v1"));
    assert_int_equal(shipped_find("text2image-multiprompt-1024")->spec.count, 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_a_shorter_library_is_a_prefix),
        cmocka_unit_test(test_kinds_and_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
