/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEDIA_AUDIO_FORMATS_H
#define ASSAY_MEDIA_AUDIO_FORMATS_H

/* The walkers of single formats (for audio.c). Each fills duration_ns and returns why the file is none, NULL = it is
 * one. */

#include "media/audio.h"

#include <math.h>

/* What is left to read. */
struct audio_bytes {
    const uint8_t *at;
    size_t len;
};

static inline struct audio_bytes audio_skip(struct audio_bytes bytes, size_t count)
{
    size_t step = count < bytes.len ? count : bytes.len;
    return (struct audio_bytes){bytes.at + step, bytes.len - step};
}

static inline uint32_t audio_le16(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static inline uint32_t audio_le32(const uint8_t *at)
{
    return audio_le16(at) | audio_le16(at + 2) << 16;
}

static inline uint64_t audio_le64(const uint8_t *at)
{
    return (uint64_t)audio_le32(at + 4) << 32 | audio_le32(at);
}

static inline uint32_t audio_be32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint64_t audio_be64(const uint8_t *at)
{
    return (uint64_t)audio_be32(at) << 32 | audio_be32(at + 4);
}

/* samples / rate in ns; -1 when it is no sensible length (over 10 years). */
static inline int64_t audio_ns(double samples, double rate)
{
    double ns = rate > 0 ? samples / rate * 1e9 : -1;
    return ns >= 0 && ns < 3.2e17 ? (int64_t)llround(ns) : -1;
}

const char *audio_walk_wav(struct audio_bytes file, int64_t *ret_duration_ns);
const char *audio_walk_flac(struct audio_bytes file, int64_t *ret_duration_ns);
const char *audio_walk_mp3(struct audio_bytes file, int64_t *ret_duration_ns);
const char *audio_walk_ogg(struct audio_bytes file, int64_t *ret_duration_ns);
const char *audio_walk_mp4(struct audio_bytes file, int64_t *ret_duration_ns);
const char *audio_walk_webm(struct audio_bytes file, int64_t *ret_duration_ns);

/* Bytes of an ID3v2 tag at the start, 0 = none. */
size_t audio_id3_bytes(const uint8_t *data, size_t len);
/* True when four bytes are the header of an MPEG layer III frame. */
bool audio_is_mp3_header(const uint8_t *at);

#endif
