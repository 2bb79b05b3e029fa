/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images of any bytes: probing, verifying and decoding agree with each other, within a small limit of pixels; what
 * decodes can be resized and encoded anew, and decodes again to the same size.
 */
#include "media/image.h"

#include <stdbool.h>
#include <stdlib.h>

#define PIXELS_MAX 262144

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void encode_again(const struct image_pixels *pixels, enum image_format format)
{
    struct image_pixels small;
    struct image_info info;
    AS_AUTO_STRBUF struct strbuf out;
    strbuf_init(&out, 0);
    must(image_resize(pixels, 16, &small, NULL) == AS_OK);
    must(small.width >= 1 && small.width <= 16 && small.height >= 1 && small.height <= 16);
    must(small.width <= pixels->width && small.height <= pixels->height);
    must(image_encode(&small, format, 80, &out, NULL) == AS_OK);
    must(image_verify(out.data, out.len, 0, &info, NULL) == AS_OK);
    must(info.format == format && info.width == small.width && info.height == small.height);
    image_pixels_done(&small);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_info probed, verified;
    struct image_pixels pixels;
    struct as_error err;
    as_status probe = image_probe(data, size, &probed, &err);
    as_status verify = image_verify(data, size, PIXELS_MAX, &verified, &err);
    as_status decode = image_decode(data, size, PIXELS_MAX, &pixels, &err);
    must(probe == AS_OK || (verify != AS_OK && decode != AS_OK));
    must(probe != AS_OK || (probed.width > 0 && probed.height > 0 && probed.format != IMAGE_UNKNOWN));
    if (verify == AS_OK) {
        must(verified.format == probed.format && verified.width == probed.width && verified.height == probed.height);
        must((uint64_t)verified.width * verified.height <= PIXELS_MAX);
    }
    must(probe != AS_OK || probed.format == IMAGE_GIF || (verify == AS_OK) == (decode == AS_OK));
    if (decode != AS_OK)
        return 0;
    must(pixels.width == probed.width && pixels.height == probed.height &&
         (pixels.channels == 3 || pixels.channels == 4));
    encode_again(&pixels, probed.format);
    image_pixels_done(&pixels);
    return 0;
}
