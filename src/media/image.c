/* SPDX-License-Identifier: Apache-2.0 */
#include "media/image.h"

#include <png.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>
#include <webp/decode.h>
#include <webp/encode.h>

static const struct {
    const char *name, *mime;
} FORMATS[] = {[IMAGE_UNKNOWN] = {"unknown", "application/octet-stream"},
               [IMAGE_PNG] = {"png", "image/png"},
               [IMAGE_JPEG] = {"jpeg", "image/jpeg"},
               [IMAGE_WEBP] = {"webp", "image/webp"},
               [IMAGE_GIF] = {"gif", "image/gif"}};

const char *image_format_name(enum image_format format)
{
    return FORMATS[format].name;
}

const char *image_mime(enum image_format format)
{
    return FORMATS[format].mime;
}

static uint32_t big_endian_32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static enum image_format format_of(const uint8_t *data, size_t len)
{
    if (len >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0)
        return IMAGE_PNG;
    if (len >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0)
        return IMAGE_JPEG;
    if (len >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0)
        return IMAGE_WEBP;
    if (len >= 6 && (memcmp(data, "GIF87a", 6) == 0 || memcmp(data, "GIF89a", 6) == 0))
        return IMAGE_GIF;
    return IMAGE_UNKNOWN;
}

/* The frame header of a JPEG (ITU-T T.81 B.2.2), markers walked without decoding. */
static bool jpeg_size(const uint8_t *data, size_t len, struct image_info *ret)
{
    size_t at = 2;
    while (at + 4 <= len) {
        if (data[at] != 0xff)
            return false;
        uint8_t marker = data[at + 1];
        if (marker == 0xff) {
            at++;
            continue;
        }
        if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
            at += 2;
            continue;
        }
        size_t segment = (size_t)data[at + 2] << 8 | data[at + 3];
        bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (is_frame && at + 9 <= len) {
            ret->height = (uint32_t)data[at + 5] << 8 | data[at + 6];
            ret->width = (uint32_t)data[at + 7] << 8 | data[at + 8];
            return true;
        }
        if (segment < 2 || is_frame)
            return false;
        at += 2 + segment;
    }
    return false;
}

static bool header_size(const uint8_t *data, size_t len, struct image_info *ret)
{
    int width, height;
    switch (ret->format) {
    case IMAGE_PNG:
        if (len < 24 || memcmp(data + 12, "IHDR", 4) != 0)
            return false;
        ret->width = big_endian_32(data + 16);
        ret->height = big_endian_32(data + 20);
        return true;
    case IMAGE_JPEG:
        return jpeg_size(data, len, ret);
    case IMAGE_WEBP:
        if (!WebPGetInfo(data, len, &width, &height))
            return false;
        ret->width = (uint32_t)width;
        ret->height = (uint32_t)height;
        return true;
    case IMAGE_GIF:
        if (len < 13)
            return false;
        ret->width = (uint32_t)data[6] | (uint32_t)data[7] << 8;
        ret->height = (uint32_t)data[8] | (uint32_t)data[9] << 8;
        return true;
    case IMAGE_UNKNOWN:
        break;
    }
    return false;
}

as_status image_probe(const void *data, size_t len, struct image_info *ret, struct as_error *err)
{
    struct image_info info = {.format = format_of(data, len)};
    if (info.format == IMAGE_UNKNOWN)
        return error_set(err, AS_E_UNSUPPORTED, "not an image: the bytes are neither PNG, JPEG, WebP nor GIF");
    if (!header_size(data, len, &info) || info.width == 0 || info.height == 0)
        return error_set(err, AS_E_INVALID, "broken %s header", image_format_name(info.format));
    *ret = info;
    return AS_OK;
}

/* Bytes of a series of GIF data sub-blocks at `at`, their end included; 0 when it is cut. */
static size_t gif_blocks(const uint8_t *data, size_t len, size_t at)
{
    size_t from = at;
    while (at < len) {
        size_t block = data[at];
        at += 1 + block;
        if (block == 0)
            return at - from;
    }
    return 0;
}

/* Walks the blocks of a GIF (89a specification, appendix) up to its trailer; true when it has an image and is whole. */
static bool gif_is_whole(const uint8_t *data, size_t len)
{
    size_t at = 13 + (data[10] & 0x80 ? (size_t)3 << ((data[10] & 7) + 1) : 0);
    bool has_image = false;
    while (at < len) {
        uint8_t kind = data[at];
        size_t head;
        if (kind == 0x3b)
            return has_image;
        if (kind == 0x21) {
            head = 2;
        } else if (kind == 0x2c && at + 10 <= len) {
            head = 11 + (data[at + 9] & 0x80 ? (size_t)3 << ((data[at + 9] & 7) + 1) : 0);
            has_image = true;
        } else {
            return false;
        }
        size_t blocks = at + head < len ? gif_blocks(data, len, at + head) : 0;
        if (blocks == 0)
            return false;
        at += head + blocks;
    }
    return false;
}

static as_status pixels_new(struct image_pixels *pixels, struct as_error *err)
{
    pixels->data = malloc((size_t)pixels->width * pixels->height * pixels->channels);
    return pixels->data ? AS_OK : error_set(err, AS_E_NOMEM, "no memory for %u × %u pixels", pixels->width, pixels->height);
}

void image_pixels_done(struct image_pixels *pixels)
{
    free(pixels->data);
    pixels->data = NULL;
}

static as_status decode_png(const void *data, size_t len, struct image_pixels *pixels, struct as_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, data, len))
        return error_set(err, AS_E_INVALID, "broken PNG: %s", image.message);
    image.format = image.format & PNG_FORMAT_FLAG_ALPHA ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    pixels->channels = image.format == PNG_FORMAT_RGBA ? 4 : 3;
    as_status status = pixels_new(pixels, err);
    if (status == AS_OK && !png_image_finish_read(&image, NULL, pixels->data, 0, NULL))
        status = error_set(err, AS_E_INVALID, "broken PNG: %s", image.message);
    png_image_free(&image);
    return status;
}

static as_status decode_jpeg(const void *data, size_t len, struct image_pixels *pixels, struct as_error *err)
{
    tjhandle handle = tjInitDecompress();
    if (!handle)
        return error_set(err, AS_E_NOMEM, "no memory for a JPEG decoder");
    pixels->channels = 3;
    as_status status = pixels_new(pixels, err);
    /* Warnings (a cut file is one) are errors here: TJFLAG_STOPONWARNING. */
    if (status == AS_OK && tjDecompress2(handle, data, (unsigned long)len, pixels->data, (int)pixels->width, 0, (int)pixels->height,
                                         TJPF_RGB, TJFLAG_STOPONWARNING) != 0)
        status = error_set(err, AS_E_INVALID, "broken JPEG: %s", tjGetErrorStr2(handle));
    tjDestroy(handle);
    return status;
}

static as_status decode_webp(const void *data, size_t len, struct image_pixels *pixels, struct as_error *err)
{
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(data, len, &features) != VP8_STATUS_OK || features.has_animation)
        return error_set(err, AS_E_INVALID, "broken or animated WebP");
    pixels->channels = features.has_alpha ? 4 : 3;
    as_status status = pixels_new(pixels, err);
    if (status != AS_OK)
        return status;
    int stride = (int)(pixels->width * pixels->channels);
    size_t bytes = (size_t)stride * pixels->height;
    const uint8_t *done = features.has_alpha ? WebPDecodeRGBAInto(data, len, pixels->data, bytes, stride)
                                             : WebPDecodeRGBInto(data, len, pixels->data, bytes, stride);
    return done ? AS_OK : error_set(err, AS_E_INVALID, "broken WebP");
}

static as_status probe_within(const void *data, size_t len, uint64_t max_pixels, struct image_info *ret, struct as_error *err)
{
    as_status status = image_probe(data, len, ret, err);
    uint64_t limit = max_pixels ? max_pixels : IMAGE_PIXELS_MAX_DEFAULT;
    if (status == AS_OK && (uint64_t)ret->width * ret->height > limit)
        status = error_set(err, AS_E_LIMIT, "%u × %u pixels are more than the limit of %llu", ret->width, ret->height,
                           (unsigned long long)limit);
    return status;
}

as_status image_decode(const void *data, size_t len, uint64_t max_pixels, struct image_pixels *ret, struct as_error *err)
{
    struct image_info info = {.format = IMAGE_UNKNOWN};
    as_status status = probe_within(data, len, max_pixels, &info, err);
    if (status != AS_OK)
        return status;
    struct image_pixels pixels = {.width = info.width, .height = info.height};
    switch (info.format) {
    case IMAGE_PNG:
        status = decode_png(data, len, &pixels, err);
        break;
    case IMAGE_JPEG:
        status = decode_jpeg(data, len, &pixels, err);
        break;
    case IMAGE_WEBP:
        status = decode_webp(data, len, &pixels, err);
        break;
    case IMAGE_GIF:
    case IMAGE_UNKNOWN:
        status = error_set(err, AS_E_UNSUPPORTED, "%s images are not decoded", image_format_name(info.format));
        break;
    }
    if (status == AS_OK)
        *ret = pixels;
    else
        image_pixels_done(&pixels);
    return status;
}

as_status image_verify(const void *data, size_t len, uint64_t max_pixels, struct image_info *ret, struct as_error *err)
{
    struct image_info info = {.format = IMAGE_UNKNOWN};
    as_status status = probe_within(data, len, max_pixels, &info, err);
    if (status == AS_OK && info.format == IMAGE_GIF) {
        if (!gif_is_whole(data, len))
            status = error_set(err, AS_E_INVALID, "broken GIF: it ends before its trailer");
    } else if (status == AS_OK) {
        struct image_pixels pixels;
        status = image_decode(data, len, max_pixels, &pixels, err);
        if (status == AS_OK)
            image_pixels_done(&pixels);
    }
    if (status == AS_OK)
        *ret = info;
    return status;
}

static as_status encode_png(const struct image_pixels *pixels, struct strbuf *ret, struct as_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = pixels->width, .height = pixels->height};
    image.format = pixels->channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    png_alloc_size_t bytes = 0;
    if (!png_image_write_to_memory(&image, NULL, &bytes, 0, pixels->data, 0, NULL))
        return error_set(err, AS_E_INVALID, "PNG: %s", image.message);
    if (!strbuf_reserve(ret, bytes))
        return error_set(err, strbuf_status(ret), "PNG: no room for %zu bytes", (size_t)bytes);
    if (!png_image_write_to_memory(&image, ret->data + ret->len, &bytes, 0, pixels->data, 0, NULL))
        return error_set(err, AS_E_INVALID, "PNG: %s", image.message);
    ret->len += bytes;
    ret->data[ret->len] = '\0';
    return AS_OK;
}

static as_status encode_jpeg(const struct image_pixels *pixels, int quality, struct strbuf *ret, struct as_error *err)
{
    tjhandle handle = tjInitCompress();
    if (!handle)
        return error_set(err, AS_E_NOMEM, "no memory for a JPEG encoder");
    unsigned char *out = NULL;
    unsigned long bytes = 0;
    as_status status = AS_OK;
    if (tjCompress2(handle, pixels->data, (int)pixels->width, 0, (int)pixels->height, pixels->channels == 4 ? TJPF_RGBX : TJPF_RGB, &out,
                    &bytes, TJSAMP_420, quality, 0) != 0)
        status = error_set(err, AS_E_INVALID, "JPEG: %s", tjGetErrorStr2(handle));
    else
        strbuf_add(ret, out, bytes);
    tjFree(out);
    tjDestroy(handle);
    return status == AS_OK ? strbuf_status(ret) : status;
}

static as_status encode_webp(const struct image_pixels *pixels, int quality, struct strbuf *ret, struct as_error *err)
{
    uint8_t *out = NULL;
    size_t bytes;
    int width = (int)pixels->width, height = (int)pixels->height, stride = (int)(pixels->width * pixels->channels);
    bool has_alpha = pixels->channels == 4;
    if (quality >= 100)
        bytes = has_alpha ? WebPEncodeLosslessRGBA(pixels->data, width, height, stride, &out)
                          : WebPEncodeLosslessRGB(pixels->data, width, height, stride, &out);
    else
        bytes = has_alpha ? WebPEncodeRGBA(pixels->data, width, height, stride, (float)quality, &out)
                          : WebPEncodeRGB(pixels->data, width, height, stride, (float)quality, &out);
    if (bytes == 0)
        return error_set(err, AS_E_INVALID, "WebP: the encoder refused %d × %d pixels", width, height);
    strbuf_add(ret, out, bytes);
    WebPFree(out);
    return strbuf_status(ret);
}

as_status image_encode(const struct image_pixels *pixels, enum image_format format, int quality, struct strbuf *ret, struct as_error *err)
{
    switch (format) {
    case IMAGE_PNG:
        return encode_png(pixels, ret, err);
    case IMAGE_JPEG:
        return encode_jpeg(pixels, quality, ret, err);
    case IMAGE_WEBP:
        return encode_webp(pixels, quality, ret, err);
    case IMAGE_GIF:
    case IMAGE_UNKNOWN:
        break;
    }
    return error_set(err, AS_E_UNSUPPORTED, "%s images are not written", image_format_name(format));
}
