/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include "support/check.h"

#include <math.h>
#include <string.h>

static void write_sample(struct json_writer *writer)
{
    json_open_object(writer);
    json_member_string(writer, "s", "a\"b");
    json_member_string(writer, "none", NULL);
    json_member_int(writer, "i", INT64_MIN);
    json_key(writer, "u");
    json_put_uint(writer, UINT64_MAX);
    json_member_double(writer, "d", 2.5);
    json_member_double(writer, "nan", NAN);
    json_member_bool(writer, "t", true);
    json_member_bool(writer, "f", false);
    json_member_null(writer, "n");
    json_key(writer, "e");
    json_open_object(writer);
    json_close_object(writer);
    json_keyn(writer, "k\n!", 2);
    json_open_array(writer);
    json_open_array(writer);
    json_close_array(writer);
    json_put_int(writer, 1);
    json_put_raw(writer, "{\"r\":1}", 7);
    json_put_stringn(writer, "x\0y", 3);
    json_close_array(writer);
    json_close_object(writer);
}

static void writes_one_line(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    struct json_writer writer;
    json_writer_init(&writer, &out, 0);
    write_sample(&writer);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    assert_string_equal(out.data,
                        "{\"s\":\"a\\\"b\",\"none\":null,\"i\":-9223372036854775808,\"u\":18446744073709551615,"
                        "\"d\":2.5,\"nan\":null,\"t\":true,\"f\":false,\"n\":null,\"e\":{},"
                        "\"k\\n\":[[],1,{\"r\":1},\"x\\u0000y\"]}");
}

static void writes_indented(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    struct json_writer writer;
    json_writer_init(&writer, &out, 2);
    write_sample(&writer);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    assert_string_equal(out.data, "{\n"
                                  "  \"s\": \"a\\\"b\",\n"
                                  "  \"none\": null,\n"
                                  "  \"i\": -9223372036854775808,\n"
                                  "  \"u\": 18446744073709551615,\n"
                                  "  \"d\": 2.5,\n"
                                  "  \"nan\": null,\n"
                                  "  \"t\": true,\n"
                                  "  \"f\": false,\n"
                                  "  \"n\": null,\n"
                                  "  \"e\": {},\n"
                                  "  \"k\\n\": [\n"
                                  "    [],\n"
                                  "    1,\n"
                                  "    {\"r\":1},\n"
                                  "    \"x\\u0000y\"\n"
                                  "  ]\n"
                                  "}");
}

static void check_escaped(const char *text, size_t len, const char *expected)
{
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    json_escape(&out, text, len);
    assert_string_equal(strbuf_text(&out), expected);
}

static void escapes_what_json_asks_for(void **state)
{
    (void)state;
    check_escaped("", 0, "");
    check_escaped(NULL, 0, "");
    check_escaped("plain / text, long enough for blocks of sixteen", 47,
                  "plain / text, long enough for blocks of sixteen");
    check_escaped("\"\\\b\f\n\r\t", 7, "\\\"\\\\\\b\\f\\n\\r\\t");
    check_escaped("\0\x01\x1F\x7F", 4, "\\u0000\\u0001\\u001f\x7F");
    check_escaped("caf\xC3\xA9 \xF0\x9F\x98\x80", 10, "caf\xC3\xA9 \xF0\x9F\x98\x80");
    check_escaped("a\xC3(\xE2\x82\xFFz\xED\xA0\x80", 10,
                  "a\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    check_escaped("\xF0\x9F\x98", 3, "\xEF\xBF\xBD");
}

struct misuse {
    void (*apply)(struct json_writer *writer);
    bool is_object; /* inside an object, else at the top */
};

static void value_without_key(struct json_writer *writer)
{
    json_put_int(writer, 1);
}

static void two_keys(struct json_writer *writer)
{
    json_key(writer, "a");
    json_key(writer, "b");
}

static void key_without_value(struct json_writer *writer)
{
    json_key(writer, "a");
    json_close_object(writer);
}

static void wrong_close(struct json_writer *writer)
{
    json_close_array(writer);
}

static void key_outside(struct json_writer *writer)
{
    json_key(writer, "a");
}

static void two_values(struct json_writer *writer)
{
    json_put_int(writer, 1);
    json_put_int(writer, 2);
}

static void unclosed(struct json_writer *writer)
{
    json_open_array(writer);
}

static void too_deep(struct json_writer *writer)
{
    for (int i = 0; i <= JSON_WRITE_DEPTH_MAX; i++)
        json_open_array(writer);
    for (int i = 0; i <= JSON_WRITE_DEPTH_MAX; i++)
        json_close_array(writer);
}

static void misuse_is_told(void **state)
{
    (void)state;
    static const struct misuse cases[] = {{value_without_key, true}, {two_keys, true},     {key_without_value, true},
                                          {wrong_close, true},       {wrong_close, false}, {key_outside, false},
                                          {two_values, false},       {unclosed, false},    {too_deep, false}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        AS_AUTO_STRBUF struct strbuf out;
        strbuf_init(&out, 0);
        struct json_writer writer;
        json_writer_init(&writer, &out, 0);
        if (cases[i].is_object)
            json_open_object(&writer);
        cases[i].apply(&writer);
        if (cases[i].is_object)
            json_close_object(&writer);
        assert_int_equal(json_writer_status(&writer), AS_E_INTERNAL);
    }
}

static void as_deep_as_allowed(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    struct json_writer writer;
    json_writer_init(&writer, &out, 0);
    for (int i = 0; i < JSON_WRITE_DEPTH_MAX / 2; i++) {
        json_open_object(&writer);
        json_key(&writer, "");
        json_open_array(&writer);
    }
    for (int i = 0; i < JSON_WRITE_DEPTH_MAX / 2; i++) {
        json_close_array(&writer);
        json_close_object(&writer);
    }
    assert_int_equal(json_writer_status(&writer), AS_OK);
    assert_true(json_cursor_validate(out.data, out.len, NULL));
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *root = NULL;
    assert_int_equal(json_parse(out.data, out.len, NULL, &arena, &root, NULL), AS_OK);
    AS_AUTO_STRBUF struct strbuf again;
    strbuf_init(&again, 0);
    json_writer_init(&writer, &again, 0);
    json_put_value(&writer, root);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    assert_string_equal(again.data, out.data);
    arena_done(&arena);
}

static void the_buffers_limit_is_told(void **state)
{
    (void)state;
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 8);
    struct json_writer writer;
    json_writer_init(&writer, &out, 2);
    json_open_array(&writer);
    json_put_string(&writer, "0123456789");
    json_close_array(&writer);
    assert_int_equal(json_writer_status(&writer), AS_E_LIMIT);
}

static void trees_keep_order_and_number_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"z\":1.50,\"a\":[1e2,-0,[],{},[[]],{\"x\":{\"y\":null}}],\"a\":true,\"\\u0001\":\"\\n\xC3\xA9\"}",
        "[]",
        "{}",
        "null",
        "12.00",
        "\"x\"",
        "[[1],[2,[3]],{\"a\":{}}]"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct arena arena;
        arena_init(&arena, 0, 0);
        const struct json_value *root = NULL;
        assert_int_equal(json_parse(texts[i], strlen(texts[i]), NULL, &arena, &root, NULL), AS_OK);
        AS_AUTO_STRBUF struct strbuf out;
        strbuf_init(&out, 0);
        struct json_writer writer;
        json_writer_init(&writer, &out, 0);
        json_put_value(&writer, root);
        assert_int_equal(json_writer_status(&writer), AS_OK);
        assert_string_equal(out.data, texts[i]);
        arena_done(&arena);
    }
}

static void a_tree_may_be_a_member(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0, 0);
    const struct json_value *root = NULL;
    assert_int_equal(json_parse("{\"a\":[1,2],\"b\":3}", 17, NULL, &arena, &root, NULL), AS_OK);
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    struct json_writer writer;
    json_writer_init(&writer, &out, 0);
    json_open_object(&writer);
    json_key(&writer, "x");
    json_put_value(&writer, json_get(root, "a"));
    json_key(&writer, "y");
    json_put_value(&writer, json_get(root, "absent"));
    json_close_object(&writer);
    assert_int_equal(json_writer_status(&writer), AS_OK);
    assert_string_equal(out.data, "{\"x\":[1,2],\"y\":null}");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_one_line),
        cmocka_unit_test(writes_indented),
        cmocka_unit_test(escapes_what_json_asks_for),
        cmocka_unit_test(misuse_is_told),
        cmocka_unit_test(as_deep_as_allowed),
        cmocka_unit_test(the_buffers_limit_is_told),
        cmocka_unit_test(trees_keep_order_and_number_text),
        cmocka_unit_test(a_tree_may_be_a_member),
    };
    return cmocka_run_group_tests_name("json_write", tests, NULL, NULL);
}
