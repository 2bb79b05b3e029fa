/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_UNIT_MEDIA_AUDIO_FILES_H
#define ASSAY_TESTS_UNIT_MEDIA_AUDIO_FILES_H

/* Small audio files of each format, made byte by byte. */

#include "base/strbuf.h"

#include <stdint.h>
#include <string.h>

static inline void put_be(struct strbuf *out, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        strbuf_addc(out, (char)(value >> (8 * i)));
}

static inline void put_le(struct strbuf *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        strbuf_addc(out, (char)(value >> (8 * i)));
}

static inline void put_zeros(struct strbuf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_addc(out, '\0');
}

/* 16 bit mono; `size` is what the data chunk says. */
static inline void make_wav(struct strbuf *out, uint32_t rate, uint32_t samples, uint32_t size)
{
    strbuf_add(out, "RIFF\0\0\0\0WAVE", 12);
    strbuf_add(out, "LIST\3\0\0\0abc\0", 12); /* an odd chunk before, padded */
    strbuf_add(out, "fmt \x10\0\0\0\1\0\1\0", 12);
    put_le(out, rate, 4);
    put_le(out, rate * 2, 4);
    put_le(out, 2, 2);
    put_le(out, 16, 2);
    strbuf_adds(out, "data");
    put_le(out, size, 4);
    put_zeros(out, (size_t)samples * 2);
}

static inline void make_flac(struct strbuf *out, uint32_t rate, uint64_t samples)
{
    strbuf_adds(out, "fLaC");
    put_be(out, 34, 4); /* stream information, not the last block */
    put_zeros(out, 10);
    put_be(out, (uint64_t)rate << 44 | (uint64_t)15 << 36 | samples, 8);
    put_zeros(out, 16);
    put_be(out, 0x81000004, 4); /* padding, the last block */
    put_zeros(out, 4);
    put_be(out, 0xFFF8, 2);
    put_zeros(out, 8);
}

/* Layer III, 48 kbit/s, 16 kHz (MPEG 2): 216 bytes, 576 samples a frame. */
static inline void make_mp3(struct strbuf *out, size_t frames)
{
    for (size_t i = 0; i < frames; i++) {
        put_be(out, 0xFFF368C4, 4);
        put_zeros(out, 212);
    }
}

static inline uint32_t ogg_crc_of(const char *data, size_t len)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint32_t)(unsigned char)data[i] << 24;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x80000000u ? crc << 1 ^ 0x04C11DB7u : crc << 1;
    }
    return crc;
}

static inline void put_page(struct strbuf *out, uint64_t granule, const void *packet, size_t len)
{
    size_t start = out->len;
    strbuf_add(out, "OggS\0\0", 6);
    put_le(out, granule, 8);
    put_zeros(out, 12); /* serial, number, checksum */
    strbuf_addc(out, 1);
    strbuf_addc(out, (char)len);
    strbuf_add(out, packet, len);
    uint32_t crc = ogg_crc_of(out->data + start, out->len - start);
    for (int i = 0; i < 4; i++)
        out->data[start + 22 + (size_t)i] = (char)(crc >> (8 * i));
}

/* Opus: 48 kHz, 312 samples before the sound. */
static inline void make_opus(struct strbuf *out, uint64_t granule)
{
    static const char head[19] = "OpusHead\1\1\x38\1\x80\x3e\0\0\0\0\0";
    put_page(out, 0, head, sizeof head);
    put_page(out, granule, "sound", 5);
}

static inline void make_mp4(struct strbuf *out, uint32_t scale, uint32_t duration, bool has_data)
{
    put_be(out, 16, 4);
    strbuf_add(out, "ftypM4A \0\0\0\0", 12);
    put_be(out, 8 + 8 + 100, 4);
    strbuf_adds(out, "moov");
    put_be(out, 8 + 100, 4);
    strbuf_adds(out, "mvhd");
    put_zeros(out, 12);
    put_be(out, scale, 4);
    put_be(out, duration, 4);
    put_zeros(out, 80);
    if (!has_data)
        return;
    put_be(out, 12, 4);
    strbuf_adds(out, "mdatsoun");
}

static inline void make_webm(struct strbuf *out, const char *type, bool has_cluster)
{
    strbuf_add(out, "\x1A\x45\xDF\xA3\x87\x42\x82\x84", 8);
    strbuf_add(out, type, 4);
    strbuf_add(out, "\x18\x53\x80\x67\xFF", 5);         /* segment of unknown size */
    strbuf_add(out, "\x15\x49\xA9\x66\x8E", 5);         /* information */
    strbuf_add(out, "\x2A\xD7\xB1\x83\x0F\x42\x40", 7); /* a tick is a millisecond */
    strbuf_add(out, "\x44\x89\x84\x45\x1C\x40\x00", 7); /* 2500.0 of them */
    if (has_cluster)
        strbuf_add(out, "\x1F\x43\xB6\x75\x83\xE7\x81\0", 8);
}

#endif
