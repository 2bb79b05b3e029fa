/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "media/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIDE 61

static struct image_pixels gradient(uint32_t width, uint32_t height, uint32_t channels)
{
    struct image_pixels pixels = {width, height, channels, malloc((size_t)width * height * channels)};
    assert_non_null(pixels.data);
    for (size_t i = 0; i < (size_t)width * height * channels; i++)
        pixels.data[i] = (uint8_t)(i * 7 / channels);
    return pixels;
}

static const enum image_format WRITTEN[] = {IMAGE_PNG, IMAGE_JPEG, IMAGE_WEBP};

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        for (uint32_t channels = 3; channels <= 4; channels++) {
            struct image_pixels pixels = gradient(SIDE, 17, channels), back;
            struct strbuf out;
            strbuf_init(&out, 0);
            struct as_error err = {0};
            assert_int_equal(image_encode(&pixels, WRITTEN[f], 100, &out, &err), AS_OK);
            struct image_info info;
            assert_int_equal(image_verify(out.data, out.len, 0, &info, &err), AS_OK);
            assert_int_equal(info.format, WRITTEN[f]);
            assert_int_equal(info.width, SIDE);
            assert_int_equal(info.height, 17);
            assert_int_equal(image_decode(out.data, out.len, 0, &back, &err), AS_OK);
            if (WRITTEN[f] != IMAGE_JPEG && back.channels == channels && channels == 3)
                assert_memory_equal(back.data, pixels.data, (size_t)SIDE * 17 * channels);
            image_pixels_done(&back);
            image_pixels_done(&pixels);
            strbuf_done(&out);
        }
    }
}

/* A cut file never verifies, wherever it is cut; nor does it crash. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        struct image_pixels pixels = gradient(33, 9, 3);
        struct strbuf out;
        strbuf_init(&out, 0);
        assert_int_equal(image_encode(&pixels, WRITTEN[f], 90, &out, NULL), AS_OK);
        size_t must_fail = WRITTEN[f] == IMAGE_PNG ? out.len - 12 : out.len - 2; /* PNG: IEND is not pixels */
        for (size_t len = 0; len < must_fail; len++) {
            char *cut = malloc(len + 1);
            assert_non_null(cut);
            memcpy(cut, out.data, len);
            struct image_info info;
            assert_int_not_equal(image_verify(cut, len, 0, &info, NULL), AS_OK);
            free(cut);
        }
        image_pixels_done(&pixels);
        strbuf_done(&out);
    }
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 9, 9);
    for (size_t f = 0; f < 3; f++) {
        struct image_pixels pixels = gradient(33, 9, 4);
        struct strbuf out;
        strbuf_init(&out, 0);
        assert_int_equal(image_encode(&pixels, WRITTEN[f], 80, &out, NULL), AS_OK);
        for (int round = 0; round < 300; round++) {
            size_t at = (size_t)rng_below(&rng, out.len);
            char kept = out.data[at];
            out.data[at] = (char)rng_u64(&rng);
            struct image_info info;
            as_status status = image_verify(out.data, out.len, 1000000, &info, NULL);
            assert_true(status == AS_OK || status == AS_E_INVALID || status == AS_E_LIMIT || status == AS_E_UNSUPPORTED);
            out.data[at] = kept;
        }
        image_pixels_done(&pixels);
        strbuf_done(&out);
    }
}

static void test_bomb(void **state)
{
    (void)state;
    static const uint8_t head[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R',
                                   0,    1,   0,   0,   0,    1,    0,    0,    8, 6, 0, 0,  0,   0,   0,   0, 0};
    struct image_pixels pixels;
    struct as_error err;
    assert_int_equal(image_decode(head, sizeof head, 0, &pixels, &err), AS_E_LIMIT);
    assert_non_null(strstr(err.message, "65536"));
}

static void test_gif(void **state)
{
    (void)state;
    static const uint8_t gif[] = {'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0,    0x80, 0, 0, 0, 0, 0, 255, 255, 255, 0x2c,
                                  0,   0,   0,   0,   1,   0,   1, 0, 0, 0x02, 0x02, 0x44, 0x01, 0x00, 0x3b};
    struct image_info info;
    assert_int_equal(image_verify(gif, sizeof gif, 0, &info, NULL), AS_OK);
    assert_int_equal(info.width, 1);
    assert_string_equal(image_mime(info.format), "image/gif");
    for (size_t len = 0; len < sizeof gif; len++)
        assert_int_not_equal(image_verify(gif, len, 0, &info, NULL), AS_OK);
}

static void test_not_an_image(void **state)
{
    (void)state;
    static const char html[] = "<!doctype html><html></html>";
    struct image_info info;
    assert_int_equal(image_probe(html, sizeof html - 1, &info, NULL), AS_E_UNSUPPORTED);
}

static void test_resize(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, max, want_width, want_height;
    } rows[] = {{100, 50, 20, 20, 10}, {50, 100, 20, 10, 20}, {10, 10, 20, 10, 10}, {1000, 1, 10, 10, 1}, {64, 64, 64, 64, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct image_pixels pixels = gradient(rows[i].width, rows[i].height, i % 2 ? 3 : 4), out;
        assert_int_equal(image_resize(&pixels, rows[i].max, &out, NULL), AS_OK);
        assert_int_equal(out.width, rows[i].want_width);
        assert_int_equal(out.height, rows[i].want_height);
        assert_int_equal(out.channels, pixels.channels);
        image_pixels_done(&pixels);
        image_pixels_done(&out);
    }
}

static void test_resize_keeps_a_flat_colour(void **state)
{
    (void)state;
    struct image_pixels pixels = gradient(64, 48, 3), out;
    memset(pixels.data, 200, (size_t)64 * 48 * 3);
    assert_int_equal(image_resize(&pixels, 16, &out, NULL), AS_OK);
    for (size_t i = 0; i < (size_t)16 * 12 * 3; i++)
        assert_in_range(out.data[i], 199, 201);
    image_pixels_done(&pixels);
    image_pixels_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_bomb),         cmocka_unit_test(test_gif),          cmocka_unit_test(test_not_an_image),
        cmocka_unit_test(test_resize),       cmocka_unit_test(test_resize_keeps_a_flat_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
