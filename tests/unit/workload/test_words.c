/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/words.h"

#include <string.h>

static void test_spaces_are_pythons(void **state)
{
    (void)state;
    static const uint32_t spaces[] = {0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
                                      0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
                                      0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
    size_t found = 0;
    for (uint32_t code = 0; code < 0x110000; code++)
        found += words_is_space(code);
    assert_int_equal(found, ARRAY_COUNT(spaces));
    for (size_t i = 0; i < ARRAY_COUNT(spaces); i++)
        assert_true(words_is_space(spaces[i]));
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t words;
    } cases[] = {{"", 0},
                 {" \t\n", 0},
                 {"one", 1},
                 {" one\ntwo\r\n three ", 3},
                 {"caf\xC3\xA9\xC2\xA0noir", 2},
                 {"\xFF \xFF", 2},
                 {"a\xE3\x80\x80"
                  "b",
                  2}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_int_equal(words_count(cases[i].text, strlen(cases[i].text)), cases[i].words);
    assert_int_equal(words_count("a\0b", 3), 1);
}

/* Every scalar value decodes to itself, and any cut of it is one invalid part. */
static void test_decoding(void **state)
{
    (void)state;
    for (uint32_t code = 0x80; code < 0x110000; code += code < 0x3000 ? 1 : 97) {
        char bytes[4];
        size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t i = len - 1, rest = code; i > 0; i--, rest >>= 6)
            bytes[i] = (char)(0x80 | (rest & 0x3F));
        static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
        bytes[0] = (char)(leads[len] | code >> 6 * (len - 1));
        uint32_t got = 0;
        bool valid = true;
        size_t used = words_decode(bytes, bytes + len, &got, &valid);
        bool is_surrogate = code >= 0xD800 && code < 0xE000;
        assert_int_equal(valid, !is_surrogate);
        if (!is_surrogate) {
            assert_int_equal(used, len);
            assert_int_equal(got, code);
        }
        for (size_t cut = 1; cut < len; cut++) {
            valid = true;
            used = words_decode(bytes, bytes + cut, &got, &valid);
            assert_false(valid);
            assert_true(used <= cut);
            assert_int_equal(got, WORDS_REPLACEMENT);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spaces_are_pythons), cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_decoding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
