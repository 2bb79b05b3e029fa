/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts from a file and from a URL. */
#include "base/file.h"
#include "support/check.h"
#include "support/temp_dir.h"
#include "wire/fetch/server.h"
#include "workload/prompts.h"

#define TWO_LINES "{\"prompt\":\"one\"}\n{\"prompt\":\"two\"}\n"

static struct server server;
static struct prompts prompts;
static struct as_error err;

static as_status load_from(const char *answer)
{
    char url[256];
    server_listen(&server);
    add_answer(&server, answer);
    server_start(&server);
    as_status status = prompts_load(url_of(&server, "/prompts.jsonl?key=secret", url), NULL, &prompts, &err);
    server_stop(&server);
    return status;
}

static void test_from_a_url(void **state)
{
    (void)state;
    assert_int_equal(load_from("HTTP/1.1 200 OK\r\nContent-Length: 34\r\nConnection: close\r\n\r\n" TWO_LINES), AS_OK);
    assert_int_equal(prompts.count, 2);
    assert_string_equal(prompts.items[1].text, "two");
    prompts_done(&prompts);
}

static void test_a_url_that_fails(void **state)
{
    (void)state;
    assert_int_equal(load_from("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                     AS_E_NETWORK);
    assert_non_null(strstr(err.message, "404"));
    assert_int_equal(load_from("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nnot json"),
                     AS_E_INVALID);
    assert_null(strstr(err.message, "secret"));
}

static void test_from_a_file(void **state)
{
    (void)state;
    TEMP_DIR_AUTO struct temp_dir dir = {0};
    char path[PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_join(&dir, "prompts.jsonl", path);
    assert_int_equal(prompts_load(path, NULL, &prompts, &err), AS_E_NOTFOUND);
    assert_int_equal(file_write_atomic(path, TWO_LINES, strlen(TWO_LINES), &err), AS_OK);
    assert_int_equal(prompts_load(path, NULL, &prompts, &err), AS_OK);
    assert_int_equal(prompts.count, 2);
    prompts_done(&prompts);
    assert_int_equal(file_write_atomic(path, "{\"prompt\":\"x\"}\n{", 16, &err), AS_OK);
    assert_int_equal(prompts_load(path, NULL, &prompts, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(err.line, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_a_url),
        cmocka_unit_test(test_a_url_that_fails),
        cmocka_unit_test(test_from_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
