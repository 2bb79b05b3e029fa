/* SPDX-License-Identifier: Apache-2.0 */
/* Ogg, MP4 and WebM. */
#include "media/audio_formats.h"

#include <string.h>

/* ---- Ogg (RFC 3533) ---- */

#define OGG_HEAD_BYTES 27
#define OGG_POLYNOMIAL UINT32_C(0x04C11DB7)

static uint32_t ogg_crc_byte(uint32_t crc, uint8_t byte)
{
    crc ^= (uint32_t)byte << 24;
    for (int bit = 0; bit < 8; bit++)
        crc = crc & UINT32_C(0x80000000) ? crc << 1 ^ OGG_POLYNOMIAL : crc << 1;
    return crc;
}

/* Of a page whose checksum field counts as zeros. */
static uint32_t ogg_crc(const uint8_t *page, size_t len)
{
    uint32_t table[256], crc = 0;
    for (uint32_t i = 0; i < 256; i++)
        table[i] = ogg_crc_byte(0, (uint8_t)i);
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = i >= 22 && i < 26 ? 0 : page[i];
        crc = crc << 8 ^ table[(crc >> 24) ^ byte];
    }
    return crc;
}

/* What the first packet of a stream says. */
struct ogg_codec {
    double rate, skipped;
};

static bool ogg_codec(struct audio_bytes packet, struct ogg_codec *ret)
{
    if (packet.len >= 30 && memcmp(packet.at, "\001vorbis", 7) == 0)
        *ret = (struct ogg_codec){audio_le32(packet.at + 12), 0};
    else if (packet.len >= 19 && memcmp(packet.at, "OpusHead", 8) == 0)
        *ret = (struct ogg_codec){48000, audio_le16(packet.at + 10)};
    else if (packet.len >= 51 && memcmp(packet.at,
                                        "\x7F"
                                        "FLAC",
                                        5) == 0)
        *ret = (struct ogg_codec){packet.at[27] << 12 | packet.at[28] << 4 | packet.at[29] >> 4, 0};
    else if (packet.len >= 80 && memcmp(packet.at, "Speex   ", 8) == 0)
        *ret = (struct ogg_codec){audio_le32(packet.at + 36), 0};
    else
        return false;
    return ret->rate > 0;
}

/* Bytes of the page at the start, 0 when it is none or cut. */
static size_t ogg_page_bytes(struct audio_bytes rest)
{
    if (rest.len < OGG_HEAD_BYTES || memcmp(rest.at, "OggS", 4) != 0 || rest.at[4] != 0)
        return 0;
    size_t segments = rest.at[26], bytes = OGG_HEAD_BYTES + segments;
    if (rest.len < bytes)
        return 0;
    for (size_t i = 0; i < segments; i++)
        bytes += rest.at[OGG_HEAD_BYTES + i];
    return bytes <= rest.len ? bytes : 0;
}

const char *audio_walk_ogg(struct audio_bytes file, int64_t *ret_duration_ns)
{
    struct ogg_codec codec = {0};
    uint64_t granule = 0;
    size_t pages = 0;
    for (struct audio_bytes rest = file; rest.len > 0; pages++) {
        size_t bytes = ogg_page_bytes(rest);
        if (bytes == 0)
            return "a page is cut off or broken";
        if (ogg_crc(rest.at, bytes) != audio_le32(rest.at + 22))
            return "the checksum of a page is wrong";
        struct audio_bytes packet = {rest.at + OGG_HEAD_BYTES + rest.at[26], bytes - OGG_HEAD_BYTES - rest.at[26]};
        if (pages == 0 && !ogg_codec(packet, &codec))
            return "its first packet is of no known codec";
        uint64_t place = audio_le64(rest.at + 6);
        granule = place != UINT64_MAX ? place : granule;
        rest = audio_skip(rest, bytes);
    }
    if (granule == 0)
        return "it holds no sound";
    *ret_duration_ns = (double)granule > codec.skipped ? audio_ns((double)granule - codec.skipped, codec.rate) : -1;
    return NULL;
}

/* ---- MP4 (ISO/IEC 14496-12) ---- */

struct box {
    const uint8_t *type;
    struct audio_bytes body;
};

/* The box at the start of *rest, which is moved past it; false at the end or when it is cut. */
static bool next_box(struct audio_bytes *rest, struct box *ret)
{
    if (rest->len < 8)
        return false;
    uint64_t size = audio_be32(rest->at);
    size_t head = 8;
    if (size == 1 && rest->len >= 16) {
        size = audio_be64(rest->at + 8);
        head = 16;
    }
    size = size == 0 ? rest->len : size;
    if (size < head || size > rest->len)
        return false;
    *ret = (struct box){rest->at + 4, {rest->at + head, (size_t)size - head}};
    *rest = audio_skip(*rest, (size_t)size);
    return true;
}

static bool is_type(const struct box *box, const char *type)
{
    return memcmp(box->type, type, 4) == 0;
}

static int64_t movie_duration_ns(struct audio_bytes movie)
{
    struct box box;
    while (next_box(&movie, &box)) {
        if (!is_type(&box, "mvhd") || box.body.len < 20)
            continue;
        const uint8_t *at = box.body.at;
        if (at[0] == 0)
            return audio_ns(audio_be32(at + 16), audio_be32(at + 12));
        return box.body.len >= 32 ? audio_ns((double)audio_be64(at + 24), audio_be32(at + 20)) : -1;
    }
    return -1;
}

const char *audio_walk_mp4(struct audio_bytes file, int64_t *ret_duration_ns)
{
    bool has_movie = false, has_data = false;
    struct audio_bytes rest = file;
    struct box box;
    while (next_box(&rest, &box)) {
        if (is_type(&box, "moov")) {
            has_movie = true;
            *ret_duration_ns = movie_duration_ns(box.body);
        } else if (is_type(&box, "mdat")) {
            has_data = has_data || box.body.len > 0;
        }
    }
    if (rest.len > 0)
        return "a box is cut off";
    return !has_movie ? "it has no movie box" : has_data ? NULL : "it holds no sound";
}

/* ---- WebM (RFC 8794, Matroska) ---- */

enum webm_id {
    WEBM_EBML = 0x1A45DFA3,
    WEBM_DOCTYPE = 0x4282,
    WEBM_SEGMENT = 0x18538067,
    WEBM_INFO = 0x1549A966,
    WEBM_SCALE = 0x2AD7B1,
    WEBM_DURATION = 0x4489,
    WEBM_CLUSTER = 0x1F43B675
};

struct element {
    uint32_t id;
    struct audio_bytes body;
    bool is_open, is_cut; /* of unknown size; longer than what is there */
};

/* A number whose first byte tells its length; 0 when it is cut. `keeps_mark`: the marker bit belongs to it. */
static size_t take_number(struct audio_bytes rest, bool keeps_mark, uint64_t *ret)
{
    if (rest.len == 0 || rest.at[0] == 0)
        return 0;
    size_t len = (size_t)__builtin_clz((unsigned)rest.at[0]) - 23;
    if (len > rest.len)
        return 0;
    uint64_t value = keeps_mark ? rest.at[0] : rest.at[0] & (0xFFu >> len);
    for (size_t i = 1; i < len; i++)
        value = value << 8 | rest.at[i];
    *ret = value;
    return len;
}

static bool next_element(struct audio_bytes *rest, struct element *ret)
{
    uint64_t id, size;
    size_t id_len = take_number(*rest, true, &id);
    if (id_len == 0 || id_len > 4)
        return false;
    struct audio_bytes body = audio_skip(*rest, id_len);
    size_t size_len = take_number(body, false, &size);
    if (size_len == 0)
        return false;
    body = audio_skip(body, size_len);
    bool is_open = size == (UINT64_C(1) << 7 * size_len) - 1;
    bool is_cut = !is_open && size > body.len;
    size_t bytes = is_open || is_cut ? body.len : (size_t)size;
    *ret = (struct element){(uint32_t)id, {body.at, bytes}, is_open, is_cut};
    *rest = audio_skip(body, bytes);
    return true;
}

static double take_double(struct audio_bytes body)
{
    if (body.len == 4) {
        uint32_t bits = audio_be32(body.at);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    double value = -1;
    if (body.len == 8) {
        uint64_t bits = audio_be64(body.at);
        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

static int64_t info_duration_ns(struct audio_bytes info)
{
    double scale_ns = 1e6, ticks = -1;
    struct element element;
    while (next_element(&info, &element)) {
        if (element.id == WEBM_DURATION)
            ticks = take_double(element.body);
        if (element.id != WEBM_SCALE || element.body.len > 8)
            continue;
        scale_ns = 0;
        for (size_t i = 0; i < element.body.len; i++)
            scale_ns = scale_ns * 256 + element.body.at[i];
    }
    return ticks >= 0 ? audio_ns(ticks * scale_ns, 1e9) : -1;
}

static bool is_webm(struct audio_bytes head)
{
    struct element element;
    while (next_element(&head, &element)) {
        if (element.id == WEBM_DOCTYPE)
            return (element.body.len >= 4 && memcmp(element.body.at, "webm", 4) == 0) ||
                   (element.body.len >= 8 && memcmp(element.body.at, "matroska", 8) == 0);
    }
    return false;
}

const char *audio_walk_webm(struct audio_bytes file, int64_t *ret_duration_ns)
{
    struct element element;
    if (!next_element(&file, &element) || element.is_cut || !is_webm(element.body))
        return "its document type is not webm";
    if (!next_element(&file, &element) || element.id != WEBM_SEGMENT)
        return "it has no segment";
    if (element.is_cut)
        return "it is cut off";
    struct audio_bytes segment = element.body;
    bool has_sound = false;
    while (next_element(&segment, &element)) {
        if (element.id == WEBM_INFO)
            *ret_duration_ns = info_duration_ns(element.body);
        has_sound = has_sound || (element.id == WEBM_CLUSTER && element.body.len > 0);
        if (element.is_open)
            break;
    }
    return has_sound ? NULL : "it holds no sound";
}
