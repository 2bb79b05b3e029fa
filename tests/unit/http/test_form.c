/* SPDX-License-Identifier: Apache-2.0 */
#include "http/form.h"
#include "support/check.h"

#include <string.h>

static struct http_form form;
static struct as_error err;

static struct http_text text(const char *at)
{
    return (struct http_text){at, strlen(at)};
}

static as_status read_form(const char *body)
{
    return http_form_read(text("xYz"), text(body), &form, &err);
}

static bool is(struct http_text got, const char *want)
{
    return got.len == strlen(want) && memcmp(got.at, want, got.len) == 0;
}

static void test_boundaries(void **state)
{
    (void)state;
    struct http_text boundary;
    assert_true(http_form_boundary(text("multipart/form-data; boundary=abc"), &boundary));
    assert_true(is(boundary, "abc"));
    assert_true(http_form_boundary(text("Multipart/Form-Data ;charset=x; Boundary=\"a b\""), &boundary));
    assert_true(is(boundary, "a b"));
    static const char *const bad[] = {"",
                                      "multipart/form-data",
                                      "multipart/mixed; boundary=a",
                                      "multipart/form-data; boundary=",
                                      "multipart/form-data; boundary=\"a",
                                      "multipart/form-data; xboundary=a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(http_form_boundary(text(bad[i]), &boundary));
}

static void test_fields_and_a_file(void **state)
{
    (void)state;
    assert_int_equal(
        read_form(
            "--xYz\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n"
            "--xYz \r\ncontent-disposition:form-data;filename=\"a b.wav\" ; name=file\r\nContent-Type: "
            "audio/wav\r\n\r\n"
            "one\r\n--xY\r\n--x\r\n--xYz\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n\r\n--xYz--\r\nepilogue"),
        AS_OK);
    const struct http_form_part *parts = form.parts;
    assert_int_equal(form.count, 3);
    assert_true(is(parts[0].name, "model") && is(parts[0].data, "whisper") && !parts[0].is_file);
    assert_true(is(parts[1].name, "file") && is(parts[1].file_name, "a b.wav") && parts[1].is_file);
    assert_true(is(parts[1].content_type, "audio/wav"));
    assert_true(is(parts[1].data, "one\r\n--xY\r\n--x"));
    assert_true(parts[2].name.len == 0 && parts[2].data.len == 0);
    assert_ptr_equal(http_form_find(&form, "file"), &parts[1]);
    assert_null(http_form_find(&form, "fil"));
}

static void test_a_preamble_is_skipped(void **state)
{
    (void)state;
    assert_int_equal(read_form("preamble --xYz\r\n--xYz--"), AS_OK);
    assert_int_equal(form.count, 0);
}

static void test_damage(void **state)
{
    (void)state;
    static const struct {
        const char *body, *reason;
    } cases[] = {
        {"", "nowhere"},
        {"--xYq\r\n", "nowhere"},
        {"--xYz", "delimiter is malformed"},
        {"--xYzz\r\n", "delimiter is malformed"},
        {"--xYz\n", "delimiter is malformed"},
        {"--xYz\r\nContent-Disposition: form-data; name=a\r\n", "head of a part has no end"},
        {"--xYz\r\nContent-Disposition: form-data; name=a\r\n\r\nbody", "part has no end"},
        {"--xYz\r\n\r\nbody\r\n--xYz--", "no Content-Disposition"},
        {"--xYz\r\nContent-Disposition: attachment; name=a\r\n\r\nb\r\n--xYz--", "no form-data"},
        {"--xYz\r\nContent-Disposition: form-data\r\n\r\nb\r\n--xYz--", "no form-data"},
        {"--xYz\r\nno colon\r\n\r\nb\r\n--xYz--", "malformed"},
        {"--xYz\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--xYz", "delimiter is malformed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(read_form(cases[i].body), AS_E_INVALID);
        if (!strstr(err.message, cases[i].reason))
            fail_msg("%zu: \"%s\" does not say \"%s\"", i, err.message, cases[i].reason);
    }
}

static void test_too_many_parts(void **state)
{
    (void)state;
#define PART  "--xYz\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n"
#define EIGHT PART PART PART PART PART PART PART PART
    assert_int_equal(read_form(EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT "--xYz--"), AS_OK);
    assert_int_equal(form.count, HTTP_FORM_PARTS_MAX);
    assert_int_equal(read_form(EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT PART "--xYz--"), AS_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_fields_and_a_file),
        cmocka_unit_test(test_a_preamble_is_skipped),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_too_many_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
