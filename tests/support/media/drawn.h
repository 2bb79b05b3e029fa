/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_SUPPORT_MEDIA_DRAWN_H
#define ASSAY_TESTS_SUPPORT_MEDIA_DRAWN_H

/* Images drawn for tests, as data: URLs. */

#include "media/base64.h"
#include "media/image.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A gradient that differs with `tint`; the bytes are added to `out`. */
static inline void draw(uint32_t width, uint32_t height, enum image_format format, uint8_t tint, struct strbuf *out)
{
    struct image_pixels pixels = {.width = width, .height = height, .channels = 3};
    pixels.data = malloc((size_t)width * height * 3);
    assert_non_null(pixels.data);
    for (size_t i = 0; i < (size_t)width * height; i++) {
        pixels.data[3 * i] = (uint8_t)(i % width);
        pixels.data[3 * i + 1] = (uint8_t)(i / width);
        pixels.data[3 * i + 2] = tint;
    }
    assert_int_equal(image_encode(&pixels, format, 100, out, NULL), AS_OK);
    image_pixels_done(&pixels);
}

/* "data:TYPE;base64,…" of some bytes; free it. */
static inline char *data_url(const char *type, const void *bytes, size_t len)
{
    char *text = malloc(64 + base64_encoded_bytes(len) + 1);
    assert_non_null(text);
    int head = snprintf(text, 64, "data:%s;base64,", type);
    base64_encode(bytes, len, text + head);
    text[(size_t)head + base64_encoded_bytes(len)] = '\0';
    return text;
}

static inline char *drawn_url(uint32_t width, uint32_t height, enum image_format format, uint8_t tint)
{
    struct strbuf bytes AS_AUTO_STRBUF;
    strbuf_init(&bytes, 0);
    draw(width, height, format, tint, &bytes);
    return data_url(image_mime(format), bytes.data, bytes.len);
}

#endif
