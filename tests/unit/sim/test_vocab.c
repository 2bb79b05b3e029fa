/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/vocab.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sim_vocab *vocab;

static int setup(void **state)
{
    (void)state;
    return sim_vocab_new(1, &vocab) == AS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    sim_vocab_free(vocab);
    return 0;
}

static int64_t words_of(const char *text, size_t len)
{
    int64_t words = 0;
    for (size_t i = 0; i < len; i++)
        words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    return words;
}

/* Put piece by piece or at once, across the end of the sequence, the text is the same and has a word a token. */
static void test_pieces(void **state)
{
    (void)state;
    static char whole[3 * SIM_VOCAB_TOKENS * SIM_TOKEN_BYTES], pieces[sizeof(whole)];
    static const uint64_t starts[] = {0, 1, SIM_VOCAB_TOKENS - 3, SIM_VOCAB_TOKENS, UINT64_C(0x123456789abcdef)};
    static const int64_t counts[] = {1, 2, 40, SIM_VOCAB_TOKENS, 2 * SIM_VOCAB_TOKENS + 5};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            char *end = sim_vocab_put(vocab, starts[i], 0, counts[k], whole);
            size_t len = (size_t)(end - whole);
            assert_int_equal(len, counts[k] * SIM_TOKEN_BYTES - 1);
            assert_int_equal(words_of(whole, len), counts[k]);
            assert_int_not_equal(whole[0], ' ');
            char *at = pieces;
            for (int64_t from = 0; from < counts[k]; from += 3) {
                int64_t take = counts[k] - from < 3 ? counts[k] - from : 3;
                at = sim_vocab_put(vocab, starts[i], from, take, at);
            }
            assert_int_equal(at - pieces, len);
            assert_memory_equal(pieces, whole, len);
        }
    assert_ptr_equal(sim_vocab_put(vocab, 0, 0, 0, whole), whole);
}

static void test_is_json_text(void **state)
{
    (void)state;
    static char json[SIM_VOCAB_TOKENS * SIM_TOKEN_BYTES + 3] = "\"";
    char *end = sim_vocab_put(vocab, 0, 0, SIM_VOCAB_TOKENS, json + 1);
    *end++ = '"';
    assert_true(json_cursor_validate(json, (size_t)(end - json), NULL));
}

static void test_seeded(void **state)
{
    (void)state;
    struct sim_vocab *same, *other;
    assert_int_equal(sim_vocab_new(1, &same), AS_OK);
    assert_int_equal(sim_vocab_new(2, &other), AS_OK);
    assert_memory_equal(same->text, vocab->text, sizeof(vocab->text));
    assert_memory_not_equal(other->text, vocab->text, sizeof(vocab->text));
    sim_vocab_free(same);
    sim_vocab_free(other);
    sim_vocab_free(NULL);
}

/* Each token is one blank and one word without a blank in it. */
static void test_token_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vocab->text); i++)
        assert_int_equal(vocab->text[i] == ' ', i % SIM_TOKEN_BYTES == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_is_json_text),
        cmocka_unit_test(test_seeded),
        cmocka_unit_test(test_token_size),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
