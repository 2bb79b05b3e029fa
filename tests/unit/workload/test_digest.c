/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"
#include "workload/digest.h"

#include <string.h>

static void test_known_sums(void **state)
{
    (void)state;
    char text[DIGEST_TEXT_BYTES];
    assert_int_equal(digest_bytes("", 0, text), AS_OK);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_int_equal(digest_bytes("abc", 3, text), AS_OK);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_pieces_do_not_run_together(void **state)
{
    (void)state;
    static const char *const pieces[][2] = {{"a", "bc"}, {"ab", "c"}};
    char sums[2][DIGEST_TEXT_BYTES];
    for (size_t i = 0; i < 2; i++) {
        struct digest digest;
        assert_int_equal(digest_init(&digest), AS_OK);
        for (size_t j = 0; j < 2; j++) {
            assert_int_equal(digest_add_length(&digest, strlen(pieces[i][j])), AS_OK);
            assert_int_equal(digest_add(&digest, pieces[i][j], strlen(pieces[i][j])), AS_OK);
        }
        assert_int_equal(digest_finish(&digest, sums[i]), AS_OK);
    }
    assert_string_not_equal(sums[0], sums[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_sums),
                                       cmocka_unit_test(test_pieces_do_not_run_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
