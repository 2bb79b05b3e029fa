/* SPDX-License-Identifier: Apache-2.0 */
#include "media/image.h"

#include <stdlib.h>
#include <string.h>

/* A single-header library of Debian's libstb-dev; its code is compiled here and nowhere else, with its own warnings off. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wpedantic"
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#pragma GCC diagnostic pop

/* side × max / longest, rounded, at least 1. */
static uint32_t scaled(uint32_t side, uint32_t longest, uint32_t max)
{
    uint64_t size = ((uint64_t)side * max + longest / 2) / longest;
    return size ? (uint32_t)size : 1;
}

as_status image_resize(const struct image_pixels *pixels, uint32_t max_dimension, struct image_pixels *ret, struct as_error *err)
{
    uint32_t longest = pixels->width > pixels->height ? pixels->width : pixels->height;
    struct image_pixels out = {.width = pixels->width, .height = pixels->height, .channels = pixels->channels};
    if (longest > max_dimension) {
        out.width = scaled(pixels->width, longest, max_dimension);
        out.height = scaled(pixels->height, longest, max_dimension);
    }
    size_t bytes = (size_t)out.width * out.height * out.channels;
    out.data = malloc(bytes);
    if (!out.data)
        return error_set(err, AS_E_NOMEM, "no memory for %u × %u pixels", out.width, out.height);
    int channels = (int)out.channels;
    if (longest <= max_dimension) {
        memcpy(out.data, pixels->data, bytes);
    } else if (!stbir_resize_uint8_generic(pixels->data, (int)pixels->width, (int)pixels->height, 0, out.data, (int)out.width,
                                           (int)out.height, 0, channels, channels == 4 ? 3 : STBIR_ALPHA_CHANNEL_NONE, 0,
                                           STBIR_EDGE_CLAMP, STBIR_FILTER_MITCHELL, STBIR_COLORSPACE_SRGB, NULL)) {
        free(out.data);
        return error_set(err, AS_E_NOMEM, "no memory to resize to %u × %u pixels", out.width, out.height);
    }
    *ret = out;
    return AS_OK;
}
