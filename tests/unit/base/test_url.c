/* SPDX-License-Identifier: Apache-2.0 */
#include "base/url.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

static void expect_shown(const char *url, const char *expected)
{
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    url_add_shown(&out, url);
    assert_string_equal(strbuf_text(&out), expected);
}

static void test_keys_are_not_shown(void **state)
{
    (void)state;
    static const char *const names[] = {
        "key",
        "api-key",
        "api_key",
        "apikey",
        "API-KEY",
        "token",
        "access_token",
        "sig",
        "Signature",
        "subscription-key",
        "password",
        "x-amz-signature",
        "X-Amz-Credential",
        "pwd",
        "client_secret",
        "auth",
        "Authorization",
        "code",
        "api%2Dkey",
        "ap%69key",
        "a-very-long-name-of-a-parameter-that-goes-on-and-on-and-on-and-on-and-is-a-key"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char url[256], shown[256];
        snprintf(url, sizeof url, "https://h/p?a=1&%s=s3cret%%2F&b=2", names[i]);
        snprintf(shown, sizeof shown, "https://h/p?a=1&%s=***&b=2", names[i]);
        expect_shown(url, shown);
    }
}

static void test_what_is_no_key_is_shown(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "https://h/openai/deployments/x/chat/completions?api-version=2024-06-01",
        "http://h/key=1/token=2",
        "http://h/a&key=1",
        "http://h?max_tokens=4&keys=1&codec=x&key&token=&a=key=1",
        "http://h/#?key=1",
        "",
        "?",
        "unix:/run/server.sock",
    };
    for (size_t i = 0; i < ARRAY_COUNT(urls); i++)
        expect_shown(urls[i], urls[i]);
}

static void test_all_parts(void **state)
{
    (void)state;
    expect_shown("http://me:pw@h/p?sig=a&x=1&key=b", "http://***@h/p?sig=***&x=1&key=***");
    expect_shown("me:pw@h?key=a@b", "***@h?key=***");
    expect_shown("http://h?key=a@b", "http://h?key=***");
    expect_shown("/v1/chat/completions?key=a#f", "/v1/chat/completions?key=***#f");
    expect_shown("http://h?key=a=b&&token=c?d", "http://h?key=***&&token=***");
}

static void test_keys_are_found(void **state)
{
    (void)state;
    const char *at = "?key=one&b=2&sig=&token=two%3D#x", *key;
    size_t len;
    assert_true(url_next_key(&at, &key, &len));
    assert_int_equal(len, 3);
    assert_memory_equal(key, "one", 3);
    assert_true(url_next_key(&at, &key, &len));
    assert_int_equal(len, 6);
    assert_memory_equal(key, "two%3D", 6);
    assert_false(url_next_key(&at, &key, &len));
    assert_false(url_next_key(&at, &key, &len));
}

static void test_decoding(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"", ""},   {"a", "a"},   {"%41%2f%2F", "A//"},
                                           {"%", "%"}, {"%4", "%4"}, {"%zz%00+", "%zz%00+"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        assert_int_equal(url_decode(text), strlen(cases[i][1]));
        assert_string_equal(text, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_not_shown), cmocka_unit_test(test_what_is_no_key_is_shown),
        cmocka_unit_test(test_all_parts),          cmocka_unit_test(test_keys_are_found),
        cmocka_unit_test(test_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
