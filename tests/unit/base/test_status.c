/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include "support/check.h"

#include <errno.h>
#include <string.h>

static void every_status_has_its_row(void **state)
{
    (void)state;
    assert_string_equal(status_name(AS_OK), "OK");
    assert_int_equal(status_exit_code(AS_OK), 0);
    assert_int_equal(status_http(AS_OK), 200);
    assert_string_equal(status_name(AS_E_USAGE), "E_USAGE");
    assert_int_equal(status_exit_code(AS_E_USAGE), 2);
    assert_int_equal(status_exit_code(AS_E_INTERRUPTED), 130);
    assert_int_equal(status_http(AS_E_NOTFOUND), 404);
    for (int status = AS_E_NOMEM; status <= AS_E_INTERNAL; status++) {
        assert_true(status_exit_code((as_status)status) > 0);
        assert_in_range(status_http((as_status)status), 400, 599);
        assert_true(strlen(status_sentence((as_status)status)) > 5);
        assert_memory_equal(status_name((as_status)status), "E_", 2);
    }
    assert_string_equal(status_name((as_status)9999), "E_INTERNAL");
    assert_string_equal(status_name((as_status)-1), "E_INTERNAL");
}

static void errors_carry_sentence_and_place(void **state)
{
    (void)state;
    struct as_error err;
    memset(&err, 0x55, sizeof err);
    assert_int_equal(error_set(&err, AS_E_INVALID, "%s: no", "x"), AS_E_INVALID);
    assert_int_equal(err.status, AS_E_INVALID);
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 0);
    assert_int_equal(err.offset, -1);
    assert_string_equal(err.message, "x: no");
    assert_int_equal(error_set_at(&err, AS_E_LIMIT, 3, 44, "too long"), AS_E_LIMIT);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.offset, 44);
    assert_int_equal(error_prefix(&err, "file %d", 7), AS_E_LIMIT);
    assert_string_equal(err.message, "file 7: too long");
    assert_int_equal(err.line, 3);
    assert_int_equal(error_set(NULL, AS_E_IO, "x"), AS_E_IO);
    assert_int_equal(error_set_at(NULL, AS_E_IO, 1, 1, "x"), AS_E_IO);
    assert_int_equal(error_prefix(NULL, "x"), AS_E_INTERNAL);
}

static void system_errors_keep_their_kind(void **state)
{
    (void)state;
    static const struct {
        int errnum;
        as_status status;
    } cases[] = {{ENOENT, AS_E_NOTFOUND}, {EACCES, AS_E_DENIED}, {EPERM, AS_E_DENIED}, {ENOMEM, AS_E_NOMEM},
                 {EEXIST, AS_E_EXISTS},   {EIO, AS_E_IO},        {ENOSPC, AS_E_IO}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct as_error err;
        assert_int_equal(error_set_errno(&err, cases[i].errnum, "/a/b"), cases[i].status);
        assert_int_equal(err.status, cases[i].status);
        assert_memory_equal(err.message, "/a/b: ", 6);
        assert_string_equal(err.message + 6, strerror(cases[i].errnum));
        assert_int_equal(error_set_errno(NULL, cases[i].errnum, "x"), cases[i].status);
    }
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct as_error err;
    (void)error_set(&err, AS_E_INVALID, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    (void)error_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    (void)error_set_errno(&err, EIO, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    (void)error_set(&err, AS_E_INVALID, "short");
    (void)error_prefix(&err, "p");
    assert_string_equal(err.message, "p: short");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_row),
        cmocka_unit_test(errors_carry_sentence_and_place),
        cmocka_unit_test(system_errors_keep_their_kind),
        cmocka_unit_test(long_messages_are_cut),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
