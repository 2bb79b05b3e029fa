/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEDIA_IMAGE_H
#define ASSAY_MEDIA_IMAGE_H

/*
 * Images in memory: what the bytes are, whether they decode, pixels, resizing, encoding. PNG (libpng), JPEG (libjpeg-turbo) and
 * WebP (libwebp) are decoded; GIF is recognised and its blocks are walked, not decoded. The format comes from the bytes, never from a name.
 * Input is hostile: dimensions are checked against the limit before any pixel is allocated. Any thread; no globals.
 */

#include "base/status.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

enum image_format { IMAGE_UNKNOWN, IMAGE_PNG, IMAGE_JPEG, IMAGE_WEBP, IMAGE_GIF };

struct image_info {
    enum image_format format;
    uint32_t width, height; /* pixels */
};

#define IMAGE_PIXELS_MAX_DEFAULT (UINT64_C(100) * 1000 * 1000)

/* 8 bits a channel, rows from the top without padding. */
struct image_pixels {
    uint32_t width, height;
    uint32_t channels; /* 3 = RGB, 4 = RGBA */
    uint8_t *data;     /* malloc'ed: image_pixels_done */
};

const char *image_format_name(enum image_format format); /* "png" */
const char *image_mime(enum image_format format);        /* "image/png"; IMAGE_UNKNOWN: "application/octet-stream" */

/* By magic bytes and header alone. AS_E_UNSUPPORTED when it is none of the four, AS_E_INVALID when the header is broken. */
as_status image_probe(const void *data, size_t len, struct image_info *ret, struct as_error *err) AS_NODISCARD;
/* Decodes the whole image (GIF: walks its blocks) and throws the pixels away: AS_E_INVALID when it is cut or corrupt, AS_E_LIMIT above
   max_pixels (0 = default). Memory: 4 bytes a pixel at most. */
as_status image_verify(const void *data, size_t len, uint64_t max_pixels, struct image_info *ret, struct as_error *err) AS_NODISCARD;
/* PNG, JPEG, WebP to pixels; RGBA when the image has transparency. */
as_status image_decode(const void *data, size_t len, uint64_t max_pixels, struct image_pixels *ret, struct as_error *err) AS_NODISCARD;
void image_pixels_done(struct image_pixels *pixels);
/* A copy that fits into max_dimension × max_dimension, aspect kept, never enlarged (then a plain copy). Mitchell filter, linear light for sRGB. */
as_status image_resize(const struct image_pixels *pixels, uint32_t max_dimension, struct image_pixels *ret, struct as_error *err) AS_NODISCARD;
/* Appends the encoded image. quality 1–100 for JPEG and WebP (100 = lossless WebP); JPEG drops transparency. */
as_status image_encode(const struct image_pixels *pixels, enum image_format format, int quality, struct strbuf *ret,
                       struct as_error *err) AS_NODISCARD;

#endif
