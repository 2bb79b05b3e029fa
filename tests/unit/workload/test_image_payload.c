/* SPDX-License-Identifier: Apache-2.0 */
#include "support/media/drawn.h"

#include "workload/images.h"

static struct image_payload make(const char *reference, const struct images_options *options)
{
    static const struct images_options plain = {0};
    struct image_payload payload;
    assert_int_equal(image_payload_make(reference, options ? options : &plain, &payload), AS_OK);
    return payload;
}

static void refuse(const char *reference, const struct images_options *options, const char *reason)
{
    struct image_payload payload = make(reference, options);
    assert_null(payload.text);
    if (!payload.error || !strstr(payload.error, reason))
        fail_msg("wanted \"%s\", got \"%s\"", reason, payload.error ? payload.error : "no error");
    image_payload_done(&payload);
}

static void bytes_are_sent_as_they_are(void **state)
{
    (void)state;
    static const enum image_format formats[] = {IMAGE_PNG, IMAGE_JPEG, IMAGE_WEBP};
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        char *url = drawn_url(40, 30, formats[i], 7);
        struct image_payload payload = make(url, NULL);
        assert_string_equal(payload.text, url);
        assert_int_equal(payload.len, strlen(url));
        assert_int_equal(payload.format, formats[i]);
        assert_int_equal(payload.width, 40);
        assert_int_equal(payload.height, 30);
        assert_int_equal(payload.source_width, 40);
        assert_int_equal(payload.bytes, payload.source_bytes);
        assert_false(payload.is_resized || payload.is_encoded || payload.is_by_url);
        assert_int_equal(strlen(payload.sha256), 64);
        assert_true(payload.load_ns >= 0 && payload.processing_ns >= 0);
        image_payload_done(&payload);
        free(url);
    }
}

static void the_type_comes_from_the_bytes(void **state)
{
    (void)state;
    struct strbuf bytes AS_AUTO_STRBUF;
    strbuf_init(&bytes, 0);
    draw(8, 8, IMAGE_JPEG, 1, &bytes);
    char *wrong = data_url("image/png", bytes.data, bytes.len), *right = data_url("image/jpeg", bytes.data, bytes.len);
    struct image_payload payload = make(wrong, NULL);
    assert_string_equal(payload.text, right);
    image_payload_done(&payload);
    free(wrong);
    free(right);
}

static void large_ones_are_shrunk_in_their_format(void **state)
{
    (void)state;
    const struct images_options options = {.max_dimension = 50, .quality = 90};
    static const enum image_format formats[] = {IMAGE_PNG, IMAGE_JPEG, IMAGE_WEBP};
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        char *url = drawn_url(200, 100, formats[i], 7);
        struct image_payload payload = make(url, &options);
        assert_non_null(payload.text);
        assert_int_equal(payload.width, 50);
        assert_int_equal(payload.height, 25);
        assert_int_equal(payload.source_width, 200);
        assert_int_equal(payload.source_height, 100);
        assert_int_equal(payload.format, formats[i]);
        assert_true(payload.is_resized && payload.is_encoded);
        image_payload_done(&payload);
        free(url);
    }
}

static void small_ones_are_never_enlarged(void **state)
{
    (void)state;
    const struct images_options options = {.max_dimension = 50};
    char *url = drawn_url(50, 10, IMAGE_PNG, 7);
    struct image_payload payload = make(url, &options);
    assert_string_equal(payload.text, url);
    assert_false(payload.is_resized);
    image_payload_done(&payload);
    free(url);
}

static void a_wanted_format_is_made(void **state)
{
    (void)state;
    const struct images_options options = {.format = IMAGE_JPEG, .quality = 80};
    char *png = drawn_url(30, 20, IMAGE_PNG, 7), *jpeg = drawn_url(30, 20, IMAGE_JPEG, 7);
    struct image_payload payload = make(png, &options);
    assert_int_equal(payload.format, IMAGE_JPEG);
    assert_memory_equal(payload.text, "data:image/jpeg;base64,", 23);
    assert_true(payload.is_encoded);
    assert_false(payload.is_resized);
    image_payload_done(&payload);
    payload = make(jpeg, &options);
    assert_string_equal(payload.text, jpeg);
    assert_false(payload.is_encoded);
    image_payload_done(&payload);
    free(png);
    free(jpeg);
}

static void a_gif_is_sent_but_not_resized(void **state)
{
    (void)state;
    static const unsigned char gif[] =
        "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02"
        "D\x01\x00;";
    char *url = data_url("image/gif", gif, sizeof gif - 1);
    struct image_payload payload = make(url, NULL);
    assert_string_equal(payload.text, url);
    image_payload_done(&payload);
    refuse(url, &(struct images_options){.format = IMAGE_PNG}, "gif images are not decoded");
    free(url);
}

static void what_is_no_whole_image_has_a_reason(void **state)
{
    (void)state;
    struct strbuf bytes AS_AUTO_STRBUF;
    strbuf_init(&bytes, 0);
    draw(64, 64, IMAGE_PNG, 1, &bytes);
    char *cut = data_url("image/png", bytes.data, bytes.len / 2);
    refuse(cut, NULL, "broken PNG");
    struct image_payload payload = make(cut, &(struct images_options){.skip_decoding = true});
    assert_string_equal(payload.text, cut);
    image_payload_done(&payload);
    free(cut);
    refuse("data:image/png;base64,aGVsbG8=", NULL, "not an image");
    refuse("data:image/png;base64,a*b=", NULL, "base64");
    refuse("data:image/png,hello", NULL, "must be base64");
    refuse("data:", NULL, "must be base64");
    refuse("", NULL, "empty");
    refuse("ftp://host/a.png", NULL, "\"ftp\" is no scheme");
    refuse("s3://bucket/a.png", NULL, "\"s3\" is no scheme");
    refuse("file://host/a.png", NULL, "file:///PATH");
    refuse("file:a.png", NULL, "file:///PATH");
    refuse("a.png", NULL, "prompts that are a file");
}

/* The header of a PNG that says 100000 × 100000. */
static void a_bomb_is_not_opened(void **state)
{
    (void)state;
    struct strbuf bytes AS_AUTO_STRBUF;
    strbuf_init(&bytes, 0);
    draw(4, 4, IMAGE_PNG, 1, &bytes);
    memcpy(bytes.data + 16, "\x00\x01\x86\xa0\x00\x01\x86\xa0", 8);
    char *url = data_url("image/png", bytes.data, bytes.len);
    refuse(url, NULL, "pixels are more than the limit");
    refuse(url, &(struct images_options){.skip_decoding = true}, "pixels are more than the limit");
    free(url);
    url = drawn_url(40, 40, IMAGE_PNG, 1);
    refuse(url, &(struct images_options){.max_pixels = 1599}, "more than the limit of 1599");
    refuse(url, &(struct images_options){.max_bytes = 20}, "larger than 20 bytes");
    free(url);
}

static void a_url_is_sent_as_it_is(void **state)
{
    (void)state;
    const struct images_options options = {.by_url = true};
    struct image_payload payload = make("http://host/a\"b.png", &options);
    assert_string_equal(payload.text, "http://host/a\\\"b.png");
    assert_true(payload.is_by_url);
    assert_int_equal(payload.bytes, -1);
    assert_int_equal(payload.width, 0);
    assert_string_equal(payload.sha256, "");
    image_payload_done(&payload);
    char *url = drawn_url(4, 4, IMAGE_PNG, 1);
    payload = make(url, &options);
    assert_false(payload.is_by_url);
    assert_string_equal(payload.text, url);
    image_payload_done(&payload);
    free(url);
    refuse("a.png", &options, "prompts that are a file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_sent_as_they_are),
        cmocka_unit_test(the_type_comes_from_the_bytes),
        cmocka_unit_test(large_ones_are_shrunk_in_their_format),
        cmocka_unit_test(small_ones_are_never_enlarged),
        cmocka_unit_test(a_wanted_format_is_made),
        cmocka_unit_test(a_gif_is_sent_but_not_resized),
        cmocka_unit_test(what_is_no_whole_image_has_a_reason),
        cmocka_unit_test(a_bomb_is_not_opened),
        cmocka_unit_test(a_url_is_sent_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
