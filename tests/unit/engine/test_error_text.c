/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/error_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *body, const char *expected)
{
    struct error_text text;
    error_text_from_body(body, strlen(body), NULL, &text);
    assert_string_equal(text.text, expected);
    assert_int_equal(text.len, strlen(expected));
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *body, *expected;
    } cases[] = {
        {"{\"error\":{\"message\":\"Too long: 9120 > 8192.\",\"type\":\"invalid\",\"code\":null}}",
         "Too long: 9120 > 8192."},
        {"{\"error\":\"Model does not exist\"}", "Model does not exist"},
        {"{\"error\":\"server_error\",\"message\":\"std::bad_alloc\"}", "server_error: std::bad_alloc"},
        {"{\"status\":\"failure\",\"message\":\"No upstream\"}", "No upstream"},
        {"{\"object\":\"error\",\"message\":\"flat\",\"code\":400}", "flat"},
        {"{\"detail\":\"Not allowed\"}", "Not allowed"},
        {"{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\",\"messages\",0],\"msg\":\"value "
         "needed\",\"input\":\"oom\"}]}",
         "body.messages.0: value needed"},
        {"{\"detail\":[{\"msg\":\"a\"},{\"msg\":\"b\"},7]}", "a; b"},
        {"{\"errors\":[\"one\",{\"message\":\"two\"}]}", "one; two"},
        {"{\"error\":{\"code\":500},\"detail\":\"deeper\"}", "deeper"},
        {"{\"error\":null,\"message\":\"kept\"}", "kept"},
        {"{\"code\":5}", "{\"code\":5}"},
        {"\"just a string\"", "just a string"},
        {"  {\"error\":{\"message\":\"a\\u0041\\n b\\t\\u0000c\"}}", "aA b c"},
        {"{\"error\":{\"message\":\"cut off\",\"trace\":\"aaaaaaa", "cut off"},
        {"data: {\"error\":{\"message\":\"in a stream\"}}\n\n", "in a stream"},
        {"<html>\r\n<head><title>502 Bad\n Gateway</title></head><body>x</body></html>", "502 Bad Gateway"},
        {"<!DOCTYPE html><html><head><style>p{}</style><title> </title></head><body><h1>No &amp; "
         "no</h1><script>if(a<b)</script>&lt;x&copy;</body>",
         "No & no <x&copy;"},
        {"<!DOCTYPE html>\n<html><head>\n<title>Error</title>\n</head><body>\n<pre>Cannot POST "
         "/api</pre>\n</body></html>\n",
         "Error Cannot POST /api"},
        {"Internal failure\n", "Internal failure"},
        {"  two\r\n\r\nlines  ", "two lines"},
        {"", ""},
        {" \n", ""},
        {"bad \xE6\xAD utf \xFF \xED\xA0\x80",
         "bad \xEF\xBF\xBD\xEF\xBF\xBD utf \xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xC5\xBDlu\xC5\xA5 \xF0\x9F\x98\x80", "\xC5\xBDlu\xC5\xA5 \xF0\x9F\x98\x80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].body, cases[i].expected);
}

static void test_bound(void **state)
{
    (void)state;
    size_t len = 600 * 1024;
    char *body = malloc(len);
    struct error_text text;
    assert_non_null(body);
    memset(body, 'x', len);
    memcpy(body, "<p>", 3);
    error_text_from_body(body, len, NULL, &text);
    assert_int_equal(text.len, ERROR_TEXT_MAX);
    assert_string_equal(text.text + text.len - 4, "x\xE2\x80\xA6");
    /* Cut before a character, not inside it. */
    for (size_t i = 0; i + 1 < 4000; i += 2)
        memcpy(body + i, "\xC5\xBD", 2);
    error_text_from_body(body, 4000, NULL, &text);
    assert_true(text.len <= ERROR_TEXT_MAX && text.len >= ERROR_TEXT_MAX - 4);
    assert_memory_equal(text.text + text.len - 5, "\xC5\xBD\xE2\x80\xA6", 5);
    free(body);
}

static void test_secrets(void **state)
{
    (void)state;
    static const char *const secrets[] = {"sk-1234567890", "abc", NULL};
    const char *body = "{\"error\":{\"message\":\"Incorrect API key provided: sk-1234567890 (sk-1234567890). abc\"}}";
    struct error_text text;
    error_text_from_body(body, strlen(body), secrets, &text);
    assert_string_equal(text.text, "Incorrect API key provided: *** (***). abc");
    /* Wherever it lies, no part of 4 bytes of a secret is kept, however long the text. */
    char *long_body = malloc(6000);
    assert_non_null(long_body);
    for (size_t at = 0; at < 5900; at += 7) {
        memset(long_body, '.', 6000);
        memcpy(long_body + at, secrets[0], strlen(secrets[0]));
        error_text_from_plain(long_body, 6000, secrets, &text);
        assert_null(strstr(text.text, "sk-1"));
    }
    /* Many secrets, so that their removal pulls the cut into what is kept. */
    for (size_t i = 0; i < 6000; i++)
        long_body[i] = secrets[0][i % strlen(secrets[0])];
    error_text_from_plain(long_body, 6000, secrets, &text);
    assert_null(strstr(text.text, "sk-1"));
    free(long_body);
}

static void test_oom(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "CUDA out of memory. Tried to allocate 20 MiB",
        "torch.OutOfMemoryError",
        "CUDA_ERROR_OUT_OF_MEMORY",
        "OOM",
        "killed (oom)",
        "worker hit OOM-killer",
        "CUBLAS_STATUS_ALLOC_FAILED",
        "std::bad_alloc",
        "cudaErrorMemoryAllocation in kernel",
        "Out Of Memory",
        "hipErrorOutOfMemory",
        "OOMKilled",
        "Cannot allocate memory",
        "ran out of memory",
    };
    static const char *const no[] = {
        "Unknown model 'bloom-zoom-room'.",
        "broom",
        "oomph",
        "out of memoryless",
        "running out of time, memory fine",
        "",
        "room",
        "shout of memory",
        "boom",
        "zoom oomx",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(error_text_is_oom(yes[i], strlen(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(error_text_is_oom(no[i], strlen(no[i])));
    struct error_text text;
    char late[3000];
    memset(late, ' ', sizeof late);
    memset(late, 'x', 2000);
    memcpy(late + 2900, "out of memory", 13);
    error_text_from_plain(late, sizeof late, NULL, &text);
    assert_true(text.is_oom);
    /* The input that a validation error echoes is not the server's word. */
    const char *echo = "{\"detail\":[{\"msg\":\"value needed\",\"input\":\"out of memory\"}]}";
    error_text_from_body(echo, strlen(echo), NULL, &text);
    assert_false(text.is_oom);
}

static void test_status(void **state)
{
    (void)state;
    static const struct {
        int status;
        enum error_type type;
    } cases[] = {
        {429, ERROR_TYPE_RATE_LIMIT},   {401, ERROR_TYPE_AUTH},         {403, ERROR_TYPE_AUTH},
        {400, ERROR_TYPE_BAD_REQUEST},  {500, ERROR_TYPE_SERVER_ERROR}, {529, ERROR_TYPE_SERVER_ERROR},
        {599, ERROR_TYPE_SERVER_ERROR}, {301, ERROR_TYPE_REDIRECT},     {308, ERROR_TYPE_REDIRECT},
        {404, ERROR_TYPE_HTTP_OTHER},   {408, ERROR_TYPE_HTTP_OTHER},   {422, ERROR_TYPE_HTTP_OTHER},
        {600, ERROR_TYPE_HTTP_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(error_type_of_status(cases[i].status), cases[i].type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_bound),  cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_oom),    cmocka_unit_test(test_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
