/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include "support/check.h"

#include <string.h>

static void grows_and_stays_terminated(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf buf;
    strbuf_init(&buf, 0);
    assert_string_equal(strbuf_text(&buf), "");
    assert_null(buf.data);
    strbuf_adds(&buf, "ab");
    strbuf_addc(&buf, 'c');
    strbuf_add(&buf, "d\0e", 3);
    strbuf_addf(&buf, "-%d-%s", 42, "x");
    assert_int_equal(buf.len, 11);
    assert_memory_equal(buf.data, "abcd\0e-42-x", 12);
    for (int i = 0; i < 1000; i++)
        strbuf_addf(&buf, "%d", i % 10);
    assert_int_equal(buf.len, 1011);
    assert_int_equal(strlen(buf.data + 6), 1005);
    assert_true(buf.capacity > buf.len);
    assert_int_equal(strbuf_status(&buf), AS_OK);
}

static void a_passed_limit_sticks(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf buf;
    strbuf_init(&buf, 4);
    strbuf_adds(&buf, "abcd");
    assert_int_equal(strbuf_status(&buf), AS_OK);
    strbuf_adds(&buf, "");
    assert_int_equal(strbuf_status(&buf), AS_OK);
    strbuf_addc(&buf, 'e');
    assert_int_equal(strbuf_status(&buf), AS_E_LIMIT);
    assert_string_equal(buf.data, "abcd");
    assert_false(strbuf_reserve(&buf, 0));
    strbuf_addf(&buf, "%s", "");
    assert_string_equal(buf.data, "abcd");
    strbuf_reset(&buf);
    assert_int_equal(strbuf_status(&buf), AS_OK);
    assert_string_equal(buf.data, "");
    strbuf_addf(&buf, "%05d", 7);
    assert_int_equal(strbuf_status(&buf), AS_E_LIMIT);
    assert_int_equal(buf.len, 0);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf buf;
    strbuf_init(&buf, 0);
    strbuf_adds(&buf, "x");
    assert_false(strbuf_reserve(&buf, SIZE_MAX));
    assert_int_equal(strbuf_status(&buf), AS_E_LIMIT);
    strbuf_reset(&buf);
    strbuf_adds(&buf, "y");
    assert_false(strbuf_reserve(&buf, SIZE_MAX / 2));
    assert_int_equal(strbuf_status(&buf), AS_E_LIMIT);
    assert_string_equal(buf.data, "y");
}

static void may_be_used_again_after_done(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf, 3);
    strbuf_adds(&buf, "abc");
    strbuf_done(&buf);
    assert_null(buf.data);
    assert_string_equal(strbuf_text(&buf), "");
    strbuf_adds(&buf, "abcd");
    assert_int_equal(strbuf_status(&buf), AS_E_LIMIT);
    strbuf_done(&buf);
}

static void reserve_makes_room_at_once(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf buf;
    strbuf_init(&buf, 0);
    assert_true(strbuf_reserve(&buf, 1000));
    const char *data = buf.data;
    for (int i = 0; i < 1000; i++)
        strbuf_addc(&buf, 'x');
    assert_ptr_equal(buf.data, data);
    assert_int_equal(buf.len, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_stays_terminated), cmocka_unit_test(a_passed_limit_sticks),
        cmocka_unit_test(absurd_sizes_are_refused),   cmocka_unit_test(may_be_used_again_after_done),
        cmocka_unit_test(reserve_makes_room_at_once),
    };
    return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
