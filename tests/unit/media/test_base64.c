/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "media/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* RFC 4648 section 10. */
static void test_vectors(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"", ""},         {"f", "Zg=="},     {"fo", "Zm8="},        {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[16], data[16];
        size_t len = strlen(rows[i][0]);
        assert_int_equal(base64_encoded_bytes(len), strlen(rows[i][1]));
        base64_encode(rows[i][0], len, text);
        assert_memory_equal(text, rows[i][1], strlen(rows[i][1]));
        size_t got;
        assert_int_equal(base64_decode(rows[i][1], strlen(rows[i][1]), data, &got, NULL), AS_OK);
        assert_int_equal(got, len);
        assert_memory_equal(data, rows[i][0], len);
    }
}

/* Every length up to 300 and exact buffers, so that a sanitizer sees a byte too many. */
static void test_round_trip(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 5, 5);
    for (size_t len = 0; len <= 300; len++) {
        uint8_t *data = malloc(len + 1);
        size_t text_len = base64_encoded_bytes(len);
        char *text = malloc(text_len + 1);
        uint8_t *back = malloc(base64_decoded_max(text_len) + 1);
        assert_true(data && text && back);
        for (size_t i = 0; i < len; i++)
            data[i] = (uint8_t)rng_u64(&rng);
        base64_encode(data, len, text);
        size_t got = 0;
        assert_int_equal(base64_decode(text, text_len, back, &got, NULL), AS_OK);
        assert_int_equal(got, len);
        assert_memory_equal(back, data, len);
        free(data);
        free(text);
        free(back);
    }
}

static void test_white_space(void **state)
{
    (void)state;
    static const char text[] = "Zm9v\r\nYmFy\n Zg = =\n";
    char data[32];
    size_t got;
    assert_int_equal(base64_decode(text, sizeof text - 1, data, &got, NULL), AS_OK);
    assert_int_equal(got, 7);
    assert_memory_equal(data, "foobarf", 7);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t offset;
    } rows[] = {{"Zm9*", 3},  {"Zg", 2},     {"Z", 1},       {"Zg=", 3},  {"Zg===", 4}, {"=", 1},
                {"Zh==", 4}, {"Zm9=", 4},  {"Zg==Zg==", 4}, {"ab-_", 2}, {"Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFy!m9v", 48}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char data[64];
        size_t got = 99;
        struct as_error err;
        assert_int_equal(base64_decode(rows[i].text, strlen(rows[i].text), data, &got, &err), AS_E_INVALID);
        assert_int_equal(err.offset, rows[i].offset);
        assert_int_equal(got, 99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_white_space),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
