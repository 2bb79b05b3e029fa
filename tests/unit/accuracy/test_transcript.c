/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy/transcript.h"
#include "support/check.h"

#include <string.h>

static void normalized(enum normalizer normalizer, const char *in, const char *want)
{
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(text_normalize(normalizer, in, strlen(in), &out), AS_OK);
    assert_string_equal(strbuf_text(&out), want);
}

static void test_none_and_lowercase(void **state)
{
    (void)state;
    normalized(NORMALIZER_NONE, " Hello,\n World\u2003! ", "Hello, World !");
    normalized(NORMALIZER_LOWERCASE, "\tÄRGER in Straße ΣΑΣ\n", "ärger in straße σασ");
    normalized(NORMALIZER_LOWERCASE, "a\xff" "b", "a\uFFFDb");
    normalized(NORMALIZER_LOWERCASE, " \n ", "");
}

static void test_basic(void **state)
{
    (void)state;
    normalized(NORMALIZER_BASIC, "Hello, world! [laughter] (aside) It's 5 €.", "hello world it s 5");
    normalized(NORMALIZER_BASIC, "\uFB01ne \uFF21\uFF22", "fine ab");
    normalized(NORMALIZER_BASIC, "re\u0301sume\u0301 caf\u00e9", "r\u00e9sum\u00e9 caf\u00e9");
    normalized(NORMALIZER_BASIC, "a ( b", "a b");
}

static void test_english(void **state)
{
    (void)state;
    normalized(NORMALIZER_ENGLISH, "Um, I can\u2019t see Mr. Smith's colour; they're 1,000 miles away.",
               "i can not see mister smith is color they are 1000 miles away");
    normalized(NORMALIZER_ENGLISH, "We don't, won't.", "we do not will not");
}

static void compare(enum normalizer normalizer, const char *reference, const char *hypothesis, struct transcript_errors *ret)
{
    assert_int_equal(transcript_compare(reference, strlen(reference), hypothesis, strlen(hypothesis), normalizer, ret), AS_OK);
}

static void test_case_does_not_count(void **state)
{
    (void)state;
    struct transcript_errors errors;
    compare(NORMALIZER_LOWERCASE, "THE TIDE COMES IN AT DAWN", "the tide comes in at dawn", &errors);
    assert_int_equal(errors.words.hits, 6);
    assert_true(error_rate(&errors.words) == 0);
    compare(NORMALIZER_NONE, "THE TIDE", "the tide", &errors);
    assert_true(error_rate(&errors.words) == 1);
}

static void test_counts(void **state)
{
    (void)state;
    struct transcript_errors errors;
    compare(NORMALIZER_LOWERCASE, "the tide comes in at dawn", "", &errors);
    assert_int_equal(errors.words.deletions, 6);
    assert_int_equal(errors.characters.reference, 25);
    compare(NORMALIZER_LOWERCASE, "", "", &errors);
    assert_true(error_rate(&errors.words) == 0 && error_rate(&errors.characters) == 0);
    compare(NORMALIZER_LOWERCASE, "", "two words", &errors);
    assert_true(error_rate(&errors.words) == 2);
    compare(NORMALIZER_LOWERCASE, "a b c d", "a x c d e", &errors);
    assert_int_equal(errors.words.substitutions, 1);
    assert_int_equal(errors.words.insertions, 1);
    assert_true(error_rate(&errors.words) == 0.5);
}

static void test_graphemes(void **state)
{
    (void)state;
    struct transcript_errors errors;
    compare(NORMALIZER_LOWERCASE, "e\u0301a", "xa", &errors);
    assert_int_equal(errors.characters.reference, 3);
    assert_int_equal(errors.graphemes.reference, 2);
    assert_int_equal(errors.graphemes.substitutions, 1);
}

static void test_names(void **state)
{
    (void)state;
    enum normalizer normalizer;
    assert_true(normalizer_from_name("english", &normalizer));
    assert_int_equal(normalizer, NORMALIZER_ENGLISH);
    assert_string_equal(normalizer_name(NORMALIZER_LOWERCASE), "lowercase");
    assert_false(normalizer_from_name("English", &normalizer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_and_lowercase), cmocka_unit_test(test_basic),  cmocka_unit_test(test_english),
        cmocka_unit_test(test_case_does_not_count), cmocka_unit_test(test_counts), cmocka_unit_test(test_graphemes),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
