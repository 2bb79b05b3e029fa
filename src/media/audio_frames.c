/* SPDX-License-Identifier: Apache-2.0 */
/* WAV, FLAC and MP3. */
#include "media/audio_formats.h"

#include <string.h>

#define WAV_HEAD_BYTES 12
#define WAV_FMT_BYTES  16

const char *audio_walk_wav(struct audio_bytes file, int64_t *ret_duration_ns)
{
    uint32_t rate = 0, block_bytes = 0;
    struct audio_bytes rest = audio_skip(file, WAV_HEAD_BYTES);
    while (rest.len >= 8) {
        size_t size = audio_le32(rest.at + 4);
        struct audio_bytes chunk = audio_skip(rest, 8);
        if (memcmp(rest.at, "fmt ", 4) == 0 && size >= WAV_FMT_BYTES && chunk.len >= WAV_FMT_BYTES) {
            rate = audio_le32(chunk.at + 4);
            block_bytes = audio_le16(chunk.at + 12);
        } else if (memcmp(rest.at, "data", 4) == 0) {
            /* A writer that could not seek back leaves the size open. */
            bool is_open = size == 0 || size == UINT32_MAX;
            if (rate == 0 || block_bytes == 0)
                return "there is no sound format before the data";
            if (chunk.len == 0)
                return "it holds no sound";
            if (!is_open && size > chunk.len)
                return "its data is cut off";
            size_t blocks = (is_open ? chunk.len : size) / block_bytes;
            *ret_duration_ns = audio_ns((double)blocks, rate);
            return NULL;
        }
        rest = audio_skip(chunk, size + (size & 1));
    }
    return "it has no data chunk";
}

#define FLAC_STREAMINFO_BYTES 34

const char *audio_walk_flac(struct audio_bytes file, int64_t *ret_duration_ns)
{
    struct audio_bytes rest = audio_skip(file, audio_id3_bytes(file.at, file.len) + 4);
    if (rest.len < 4 + FLAC_STREAMINFO_BYTES || (rest.at[0] & 0x7F) != 0)
        return "it does not begin with its stream information";
    const uint8_t *info = rest.at + 4;
    uint32_t rate = (uint32_t)info[10] << 12 | (uint32_t)info[11] << 4 | info[12] >> 4;
    uint64_t samples = (uint64_t)(info[13] & 0xF) << 32 | audio_be32(info + 14);
    bool is_last = false;
    while (!is_last) {
        if (rest.len < 4)
            return "its metadata is cut off";
        is_last = (rest.at[0] & 0x80) != 0;
        size_t size = audio_be32(rest.at) & 0xFFFFFF;
        if (size > rest.len - 4)
            return "its metadata is cut off";
        rest = audio_skip(rest, 4 + size);
    }
    if (rest.len < 6 || rest.at[0] != 0xFF || (rest.at[1] & 0xFE) != 0xF8)
        return "there is no frame behind the metadata";
    if (rate == 0)
        return "its sample rate is 0";
    *ret_duration_ns = samples > 0 ? audio_ns((double)samples, rate) : -1;
    return NULL;
}

/* Of an MPEG audio frame of layer III. */
struct mp3_frame {
    uint32_t rate, samples;
    size_t bytes;
    bool is_mpeg1, is_mono;
};

/* False when the four bytes are no header of layer III with a bitrate. */
static bool read_frame(const uint8_t *at, struct mp3_frame *ret)
{
    static const uint16_t kbits_1[] = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0};
    static const uint16_t kbits_2[] = {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0};
    static const uint32_t rates[] = {44100, 48000, 32000, 0};
    uint32_t version = at[1] >> 3 & 3, layer = at[1] >> 1 & 3, rate = rates[at[2] >> 2 & 3];
    if (at[0] != 0xFF || (at[1] & 0xE0) != 0xE0 || version == 1 || layer != 1)
        return false;
    bool is_mpeg1 = version == 3;
    uint32_t kbits = (is_mpeg1 ? kbits_1 : kbits_2)[at[2] >> 4];
    if (kbits == 0 || rate == 0)
        return false;
    rate >>= is_mpeg1 ? 0 : version == 2 ? 1 : 2;
    *ret = (struct mp3_frame){
        .rate = rate, .samples = is_mpeg1 ? 1152 : 576, .is_mpeg1 = is_mpeg1, .is_mono = at[3] >> 6 == 3};
    ret->bytes = (size_t)ret->samples / 8 * kbits * 1000 / rate + (at[2] >> 1 & 1);
    return true;
}

bool audio_is_mp3_header(const uint8_t *at)
{
    struct mp3_frame frame;
    return read_frame(at, &frame);
}

/* A first frame that holds no sound but tells about the file. */
static bool is_info_frame(struct audio_bytes rest, const struct mp3_frame *frame)
{
    size_t at = 4 + (frame->is_mpeg1 ? (frame->is_mono ? 17u : 32u) : (frame->is_mono ? 9u : 17u));
    return rest.len >= at + 4 && (memcmp(rest.at + at, "Xing", 4) == 0 || memcmp(rest.at + at, "Info", 4) == 0);
}

static bool is_tag(struct audio_bytes rest)
{
    return (rest.len >= 3 && memcmp(rest.at, "TAG", 3) == 0) ||
           (rest.len >= 8 && memcmp(rest.at, "APETAGEX", 8) == 0) || (rest.len >= 3 && memcmp(rest.at, "ID3", 3) == 0);
}

const char *audio_walk_mp3(struct audio_bytes file, int64_t *ret_duration_ns)
{
    size_t tag = audio_id3_bytes(file.at, file.len), frames = 0;
    struct audio_bytes rest = audio_skip(file, tag);
    struct mp3_frame frame = {0};
    uint32_t rate = 0;
    double samples = 0;
    while (rest.len >= 4 && read_frame(rest.at, &frame)) {
        if (frame.bytes > rest.len)
            return frames ? "its last frame is cut off" : "its first frame is cut off";
        if (rate != 0 && frame.rate != rate)
            return "its sample rate changes";
        rate = frame.rate;
        samples += frames == 0 && is_info_frame(rest, &frame) ? 0 : frame.samples;
        frames++;
        rest = audio_skip(rest, frame.bytes);
    }
    bool is_end = rest.len < 4 || is_tag(rest);
    for (size_t i = 0; i < rest.len && !is_end; i++) {
        if (rest.at[i] != 0)
            return frames ? "there is something else between its frames" : "it has no frame";
    }
    if (frames == 0 || samples <= 0)
        return "it has no frame";
    *ret_duration_ns = audio_ns(samples, rate);
    return NULL;
}
