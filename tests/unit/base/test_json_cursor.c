/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "json_cases.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static struct json_cursor cursor_at(const char *text)
{
    struct json_cursor cursor;
    json_cursor_init(&cursor, text, strlen(text));
    return cursor;
}

static void walks_a_chunk_of_a_stream(void **state)
{
    (void)state;
    struct json_cursor cursor =
        cursor_at(" { \"id\" : \"x\", \"choices\":[ {\"index\":0,\"delta\":{\"content\":\"a\\\"b\"},\"n\":null} "
                  ",{}],\"usage\":null}");
    struct json_raw key, content = {0};
    int choices = 0;
    bool saw_usage = false;
    assert_true(json_enter_object(&cursor));
    while (json_next_member(&cursor, &key)) {
        if (json_raw_equals(&key, "usage")) {
            saw_usage = json_take_null(&cursor);
            continue;
        }
        if (!json_raw_equals(&key, "choices")) {
            assert_true(json_skip(&cursor));
            continue;
        }
        bool first = true;
        assert_true(json_enter_array(&cursor));
        while (json_next_item(&cursor, &first)) {
            choices++;
            assert_true(json_enter_object(&cursor));
            while (json_next_member(&cursor, &key)) {
                if (!json_raw_equals(&key, "delta")) {
                    assert_true(json_skip(&cursor));
                    continue;
                }
                assert_true(json_enter_object(&cursor));
                assert_true(json_next_member(&cursor, &key));
                assert_true(json_take_string(&cursor, &content));
                assert_false(json_next_member(&cursor, &key));
            }
        }
    }
    assert_false(cursor.failed);
    assert_ptr_equal(cursor.at, cursor.end);
    assert_int_equal(choices, 2);
    assert_true(saw_usage);
    assert_true(content.escaped);
    assert_int_equal(content.len, 4);
    assert_true(json_raw_equals(&content, "a\"b"));
    assert_false(json_raw_equals(&content, "a\"bc"));
    assert_false(json_raw_equals(&content, "a\""));
    assert_false(json_raw_equals(&content, "a\\\"b"));
    assert_false(json_raw_equals(&key, "no key was set by the last call"));
}

static void another_type_is_no_failure(void **state)
{
    (void)state;
    struct json_cursor cursor = cursor_at("  null");
    struct json_raw raw;
    bool boolean;
    assert_false(json_take_string(&cursor, &raw));
    assert_false(json_take_number(&cursor, &raw));
    assert_false(json_take_bool(&cursor, &boolean));
    assert_false(json_enter_object(&cursor));
    assert_false(json_enter_array(&cursor));
    assert_false(cursor.failed);
    assert_true(json_take_null(&cursor));
    assert_int_equal(json_cursor_type(&cursor), -1);
    assert_false(cursor.failed);
    assert_false(json_skip(&cursor));
    assert_true(cursor.failed);
}

static void knows_types(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int type;
    } cases[] = {{" {", JSON_OBJECT},
                 {"[", JSON_ARRAY},
                 {"\"", JSON_STRING},
                 {"-", JSON_NUMBER},
                 {"7", JSON_NUMBER},
                 {"t", JSON_BOOL},
                 {"f", JSON_BOOL},
                 {"n", JSON_NULL},
                 {"", -1},
                 {" \n", -1},
                 {"x", -1},
                 {"+1", -1},
                 {"}", -1}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct json_cursor cursor = cursor_at(cases[i].text);
        assert_int_equal(json_cursor_type(&cursor), cases[i].type);
    }
}

static void takes_scalars(void **state)
{
    (void)state;
    struct json_cursor cursor = cursor_at("[ true , false,-1.5e3,\"\\u00e9\",null]");
    struct json_raw raw;
    bool first = true, value = false;
    assert_true(json_enter_array(&cursor));
    assert_true(json_next_item(&cursor, &first) && json_take_bool(&cursor, &value));
    assert_true(value);
    assert_true(json_next_item(&cursor, &first) && json_take_bool(&cursor, &value));
    assert_false(value);
    assert_true(json_next_item(&cursor, &first) && json_take_number(&cursor, &raw));
    double number = 0;
    assert_true(json_text_double(raw.at, raw.len, &number));
    assert_true(number == -1500);
    assert_true(json_next_item(&cursor, &first) && json_take_string(&cursor, &raw));
    char text[8];
    assert_int_equal(json_raw_decode(&raw, text), 2);
    assert_memory_equal(text, "\xC3\xA9", 2);
    assert_true(json_next_item(&cursor, &first) && json_take_null(&cursor));
    assert_false(json_next_item(&cursor, &first));
    assert_false(cursor.failed);
}

/* Steps through everything without skipping, as strictly as the functions allow; true when nothing failed. */
static bool walk_all(struct json_cursor *cursor, int depth)
{
    struct json_raw raw;
    bool boolean, first = true;
    assert_in_range(depth, 0, 10);
    switch (json_cursor_type(cursor)) {
    case JSON_OBJECT:
        if (!json_enter_object(cursor))
            return false;
        while (json_next_member(cursor, &raw)) {
            if (!walk_all(cursor, depth + 1))
                return false;
        }
        return !cursor->failed;
    case JSON_ARRAY:
        if (!json_enter_array(cursor))
            return false;
        while (json_next_item(cursor, &first)) {
            if (!walk_all(cursor, depth + 1))
                return false;
        }
        return !cursor->failed;
    case JSON_STRING:
        return json_take_string(cursor, &raw);
    case JSON_NUMBER:
        return json_take_number(cursor, &raw);
    case JSON_BOOL:
        return json_take_bool(cursor, &boolean);
    case JSON_NULL:
        return json_take_null(cursor);
    default:
        return false;
    }
}

/* In a block of its own size, so that a sanitizer sees a read beyond it. */
static bool walks_to_the_end(const struct json_case *one, bool skip)
{
    char *copy = malloc(one->len + 1);
    assert_non_null(copy);
    memcpy(copy, one->text, one->len);
    struct json_cursor cursor;
    json_cursor_init(&cursor, copy, one->len);
    bool walked = skip ? json_skip(&cursor) : walk_all(&cursor, 0);
    bool at_end = walked && json_cursor_type(&cursor) == -1 && !cursor.failed && cursor.at == cursor.end;
    free(copy);
    return at_end;
}

static void valid_texts_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(JSON_VALID); i++) {
        const struct json_case *one = &JSON_VALID[i];
        if (!walks_to_the_end(one, false) || !walks_to_the_end(one, true))
            fail_msg("%s", one->text);
        assert_true(json_cursor_validate(one->text, one->len, NULL));
    }
}

/* The cursor does not judge UTF-8 and the partners of surrogates: such texts are left to json_cursor_validate. */
static bool is_beyond_the_cursor(const struct json_case *one)
{
    for (size_t i = 0; i < one->len; i++) {
        if ((unsigned char)one->text[i] >= 0x80)
            return true;
    }
    return strstr(one->text, "\\ud") != NULL;
}

static void invalid_texts_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(JSON_INVALID); i++) {
        const struct json_case *one = &JSON_INVALID[i];
        if (!is_beyond_the_cursor(one) && walks_to_the_end(one, false))
            fail_msg("%s", one->text);
        if (json_cursor_validate(one->text, one->len, NULL))
            fail_msg("%s", one->text);
    }
}

static void skipping_checks_strings_and_nesting(void **state)
{
    (void)state;
    static const char *const bad[] = {"[1}",       "{\"a\":[}", "[\"a]", "[\"\\\"]", "[[1]", "[\"a\nb\"]",
                                      "[\"\\q\"]", "{",         "\"a",   "-",        "tru"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct json_cursor cursor = cursor_at(bad[i]);
        assert_false(json_skip(&cursor));
        assert_true(cursor.failed);
        assert_int_equal(json_cursor_type(&cursor), -1);
        assert_false(json_skip(&cursor));
    }
    struct json_cursor cursor = cursor_at("[\"]}\\\"{\",{\"[\":\"\\\\\"}] tail");
    assert_true(json_skip(&cursor));
    assert_string_equal(cursor.at, " tail");
}

static void skipping_has_a_depth_limit(void **state)
{
    (void)state;
    char deep[2 * (JSON_DEPTH_MAX + 1)];
    memset(deep, '[', JSON_DEPTH_MAX + 1);
    memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    struct json_cursor cursor;
    json_cursor_init(&cursor, deep + 1, 2 * JSON_DEPTH_MAX);
    assert_true(json_skip(&cursor));
    assert_ptr_equal(cursor.at, cursor.end);
    json_cursor_init(&cursor, deep, sizeof deep);
    assert_false(json_skip(&cursor));
    deep[JSON_DEPTH_MAX + 1] = '}';
    json_cursor_init(&cursor, deep + 1, 2 * JSON_DEPTH_MAX);
    assert_false(json_skip(&cursor));
    struct json_limits limits = {.max_depth = 3};
    assert_true(json_cursor_validate("[[[]]]", 6, &limits));
    assert_false(json_cursor_validate("[[[[]]]]", 8, &limits));
}

static void unconsumed_values_fail(void **state)
{
    (void)state;
    struct json_cursor cursor = cursor_at("{\"a\":1,\"b\":2}");
    struct json_raw key;
    assert_true(json_enter_object(&cursor));
    assert_true(json_next_member(&cursor, &key));
    assert_false(json_next_member(&cursor, &key));
    assert_true(cursor.failed);
}

static void decodes_damaged_text(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *decoded;
    } cases[] = {
        {"", ""},
        {"plain text that is longer than sixteen bytes", "plain text that is longer than sixteen bytes"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"\\u0041\\u00df\\u20ac\\uD83D\\uDE00", "A\xC3\x9F\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\\ud83dx", "\xEF\xBF\xBDx"},
        {"\\ude00\\ud83d", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\\ud83d\\u0041", "\xEF\xBF\xBD"
                           "A"},
        {"a\xF0\x9F\x98z\x80", "a\xEF\xBF\xBDz\xEF\xBF\xBD"},
        {"\xC3\xA9", "\xC3\xA9"},
        {"\\", "\xEF\xBF\xBD"},
        {"\\u12", "\xEF\xBF\xBDu12"},
        {"\\x", "\xEF\xBF\xBDx"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct json_raw raw = {cases[i].raw, strlen(cases[i].raw), strchr(cases[i].raw, '\\') != NULL};
        char *decoded = malloc(3 * raw.len + 1);
        assert_non_null(decoded);
        size_t len = json_raw_decode(&raw, decoded);
        assert_int_equal(len, strlen(cases[i].decoded));
        assert_memory_equal(decoded, cases[i].decoded, len);
        free(decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_a_chunk_of_a_stream),
        cmocka_unit_test(another_type_is_no_failure),
        cmocka_unit_test(knows_types),
        cmocka_unit_test(takes_scalars),
        cmocka_unit_test(valid_texts_pass),
        cmocka_unit_test(invalid_texts_fail),
        cmocka_unit_test(skipping_checks_strings_and_nesting),
        cmocka_unit_test(skipping_has_a_depth_limit),
        cmocka_unit_test(unconsumed_values_fail),
        cmocka_unit_test(decodes_damaged_text),
    };
    return cmocka_run_group_tests_name("json_cursor", tests, NULL, NULL);
}
