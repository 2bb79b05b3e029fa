/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "plane/guess.h"
#include "plane/secret.h"

#include <string.h>

static void tokens_differ_and_hold_256_bits(void **state)
{
    char one[SECRET_TOKEN_BYTES], two[SECRET_TOKEN_BYTES];
    struct arena arena;
    size_t len = 0;
    (void)state;
    arena_init(&arena, 0, 0);
    assert_int_equal(secret_token(one), AS_OK);
    assert_int_equal(secret_token(two), AS_OK);
    assert_string_not_equal(one, two);
    assert_non_null(secret_base64url_read(&arena, one, strlen(one), &len));
    assert_int_equal(len, 32);
    arena_done(&arena);
}

static void hashes_are_sha256(void **state)
{
    char hash[SECRET_HASH_BYTES];
    (void)state;
    assert_int_equal(secret_hash("abc", 3, hash), AS_OK);
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(secret_equals(hash, hash));
    assert_false(secret_equals("a", "ab"));
    assert_false(secret_equals("ab", "ac"));
}

static void a_password_fits_its_hash_only(void **state)
{
    char hash[SECRET_PASSWORD_BYTES];
    (void)state;
    assert_int_equal(secret_password_hash("correct horse", hash), AS_OK);
    assert_memory_equal(hash, "$argon2id$v=19$m=19456,t=2,p=1$", 31);
    assert_true(secret_password_fits("correct horse", hash));
    assert_false(secret_password_fits("correct horsf", hash));
    assert_false(secret_password_fits("", NULL));
    assert_false(secret_password_fits("x", "no hash"));
}

static void weak_passwords_are_refused(void **state)
{
    static const struct {
        const char *password;
        bool is_taken;
    } cases[] = {{"1234567", false},
                 {"password123", false},
                 {"PASSWORD123", false},
                 {"aaaaaaaaaa", false},
                 {"somebody", false},
                 {"a pass phrase", true},
                 {"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", false},
                 {"12345678x", true}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_int_equal(secret_password_refusal(cases[i].password, strlen(cases[i].password), "somebody") == NULL,
                         cases[i].is_taken);
}

static void a_sealed_value_opens_for_its_purpose_only(void **state)
{
    const struct secret_key key = {{1, 2, 3}}, other = {{1, 2, 4}};
    unsigned char sealed[5 + SECRET_SEAL_EXTRA], again[5 + SECRET_SEAL_EXTRA], plain[5] = "";
    (void)state;
    assert_int_equal(secret_seal(&key, "p", "hello", 5, sealed), AS_OK);
    assert_int_equal(secret_seal(&key, "p", "hello", 5, again), AS_OK);
    assert_memory_not_equal(sealed, again, sizeof sealed);
    assert_int_equal(secret_open(&key, "p", sealed, sizeof sealed, plain), AS_OK);
    assert_memory_equal(plain, "hello", 5);
    assert_int_equal(secret_open(&key, "q", sealed, sizeof sealed, plain), AS_E_INVALID);
    assert_int_equal(secret_open(&other, "p", sealed, sizeof sealed, plain), AS_E_INVALID);
    assert_int_equal(secret_open(&key, "p", sealed, SECRET_SEAL_EXTRA - 1, plain), AS_E_INVALID);
    for (size_t i = 0; i < sizeof sealed; i++) {
        sealed[i] ^= 1;
        assert_int_equal(secret_open(&key, "p", sealed, sizeof sealed, plain), AS_E_INVALID);
        sealed[i] ^= 1;
    }
}

static void base64url_goes_both_ways(void **state)
{
    static const struct {
        const char *plain, *text;
    } cases[] = {{"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"\xfb\xff\xfe", "-__-"}};
    struct arena arena;
    (void)state;
    arena_init(&arena, 0, 0);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        size_t len = 0;
        assert_string_equal(secret_base64url(&arena, cases[i].plain, strlen(cases[i].plain)), cases[i].text);
        const unsigned char *back = secret_base64url_read(&arena, cases[i].text, strlen(cases[i].text), &len);
        assert_int_equal(len, strlen(cases[i].plain));
        assert_memory_equal(back, cases[i].plain, len);
    }
    size_t len = 0;
    assert_null(secret_base64url_read(&arena, "a", 1, &len));
    assert_null(secret_base64url_read(&arena, "a+b=", 4, &len));
    arena_done(&arena);
}

static void guessing_closes_one_account_to_one_address_for_a_while(void **state)
{
    struct guess *guess;
    struct mono now = {1000};
    (void)state;
    assert_int_equal(guess_new(&guess), AS_OK);
    for (int i = 0; i < GUESS_MAX; i++) {
        assert_int_equal(guess_wait_s(guess, "ann", "10.0.0.1", now), 0);
        guess_failed(guess, "ann", "10.0.0.1", now);
    }
    assert_in_range(guess_wait_s(guess, "ann", "10.0.0.1", now), 890, 901);
    assert_int_equal(guess_wait_s(guess, "ann", "10.0.0.2", now), 0);
    assert_int_equal(guess_wait_s(guess, "bob", "10.0.0.1", now), 0);
    now = mono_add_ns(now, GUESS_WINDOW_NS);
    assert_int_equal(guess_wait_s(guess, "ann", "10.0.0.1", now), 0);
    for (int i = 0; i < GUESS_MAX - 1; i++)
        guess_failed(guess, "ann", "10.0.0.1", now);
    guess_succeeded(guess, "ann", "10.0.0.1");
    guess_failed(guess, "ann", "10.0.0.1", now);
    assert_int_equal(guess_wait_s(guess, "ann", "10.0.0.1", now), 0);
    guess_free(guess);
}

static void a_flood_of_accounts_is_bounded(void **state)
{
    struct guess *guess;
    (void)state;
    assert_int_equal(guess_new(&guess), AS_OK);
    for (int i = 0; i < 20000; i++) {
        const char account[] = {(char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676), '\0'};
        guess_failed(guess, account, "10.0.0.1", (struct mono){i});
    }
    assert_int_equal(guess_wait_s(guess, "never", "10.0.0.1", (struct mono){20000}), 0);
    guess_free(guess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_differ_and_hold_256_bits),
        cmocka_unit_test(hashes_are_sha256),
        cmocka_unit_test(a_password_fits_its_hash_only),
        cmocka_unit_test(weak_passwords_are_refused),
        cmocka_unit_test(a_sealed_value_opens_for_its_purpose_only),
        cmocka_unit_test(base64url_goes_both_ways),
        cmocka_unit_test(guessing_closes_one_account_to_one_address_for_a_while),
        cmocka_unit_test(a_flood_of_accounts_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
