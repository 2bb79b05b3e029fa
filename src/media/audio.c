/* SPDX-License-Identifier: Apache-2.0 */
#include "media/audio.h"

#include "media/audio_formats.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *mime;
} formats[] = {
#define AUDIO_FORMAT_ROW(format, name, mime) {name, mime},
    AUDIO_FORMAT_MAP(AUDIO_FORMAT_ROW)
#undef AUDIO_FORMAT_ROW
        {"unknown", "application/octet-stream"},
};

const char *audio_format_name(enum audio_format format)
{
    return formats[format].name;
}

const char *audio_mime(enum audio_format format)
{
    return formats[format].mime;
}

static enum audio_format by_name(const char *name, size_t len)
{
    for (int i = 0; i < AUDIO_FORMAT_COUNT; i++)
        if (strlen(formats[i].name) == len && strncasecmp(formats[i].name, name, len) == 0)
            return (enum audio_format)i;
    return AUDIO_UNKNOWN;
}

enum audio_format audio_format_from_name(const char *name)
{
    name += name[0] == '.';
    return by_name(name, strlen(name));
}

enum audio_format audio_format_of_path(const char *path)
{
    size_t len = strcspn(path, "?#");
    const char *dot = memrchr(path, '.', len);
    return dot ? by_name(dot + 1, (size_t)(path + len - dot) - 1) : AUDIO_UNKNOWN;
}

enum audio_format audio_format_of_mime(const char *mime, size_t len)
{
    static const struct {
        const char *mime;
        enum audio_format format;
    } others[] = {
        {"audio/mp3", AUDIO_MP3},      {"audio/x-wav", AUDIO_WAV},   {"audio/wave", AUDIO_WAV},
        {"audio/vnd.wave", AUDIO_WAV}, {"video/webm", AUDIO_WEBM},   {"application/ogg", AUDIO_OGG},
        {"audio/opus", AUDIO_OGG},     {"audio/x-m4a", AUDIO_M4A},   {"audio/m4a", AUDIO_M4A},
        {"video/mp4", AUDIO_MP4},      {"audio/x-flac", AUDIO_FLAC},
    };
    const char *end = memchr(mime, ';', len);
    len = end ? (size_t)(end - mime) : len;
    while (len > 0 && mime[len - 1] == ' ')
        len--;
    for (int i = AUDIO_FORMAT_COUNT - 1; i >= 0; i--)
        if (strlen(formats[i].mime) == len && strncasecmp(formats[i].mime, mime, len) == 0)
            return (enum audio_format)i;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i].mime) == len && strncasecmp(others[i].mime, mime, len) == 0)
            return others[i].format;
    return AUDIO_UNKNOWN;
}

static enum audio_format container_of(enum audio_format format)
{
    return format == AUDIO_MP4 ? AUDIO_M4A : format;
}

bool audio_format_matches(enum audio_format one, enum audio_format other)
{
    return container_of(one) == container_of(other);
}

size_t audio_id3_bytes(const uint8_t *data, size_t len)
{
    if (len < 10 || memcmp(data, "ID3", 3) != 0)
        return 0;
    uint32_t bytes = 0;
    for (int i = 6; i < 10; i++) {
        if (data[i] & 0x80)
            return 0;
        bytes = bytes << 7 | data[i];
    }
    return bytes + 10 + ((data[5] & 0x10) ? 10u : 0u);
}

enum audio_format audio_sniff(const void *data, size_t len)
{
    const uint8_t *at = data;
    size_t tag = audio_id3_bytes(at, len);
    if (tag > 0 && tag + 4 > len)
        return AUDIO_MP3;
    at += tag;
    len -= tag;
    if (len >= 12 && (memcmp(at, "RIFF", 4) == 0 || memcmp(at, "RF64", 4) == 0) && memcmp(at + 8, "WAVE", 4) == 0)
        return AUDIO_WAV;
    if (len >= 4 && memcmp(at, "fLaC", 4) == 0)
        return AUDIO_FLAC;
    if (len >= 4 && memcmp(at, "OggS", 4) == 0)
        return AUDIO_OGG;
    if (len >= 4 && memcmp(at, "\x1A\x45\xDF\xA3", 4) == 0)
        return AUDIO_WEBM;
    if (len >= 8 && memcmp(at + 4, "ftyp", 4) == 0)
        return AUDIO_M4A;
    return len >= 4 && audio_is_mp3_header(at) ? AUDIO_MP3 : AUDIO_UNKNOWN;
}

as_status audio_check(const void *data, size_t len, struct audio_info *ret, struct as_error *err)
{
    static const char *(*const walkers[])(struct audio_bytes, int64_t *) = {
        [AUDIO_MP3] = audio_walk_mp3, [AUDIO_WAV] = audio_walk_wav, [AUDIO_WEBM] = audio_walk_webm,
        [AUDIO_OGG] = audio_walk_ogg, [AUDIO_M4A] = audio_walk_mp4, [AUDIO_FLAC] = audio_walk_flac,
    };
    struct audio_info info = {audio_sniff(data, len), -1};
    if (len == 0)
        return error_set(err, AS_E_INVALID, "the audio is empty");
    if (info.format == AUDIO_UNKNOWN)
        return error_set(err, AS_E_UNSUPPORTED, "the bytes are none of " AUDIO_FORMAT_ALLOWED);
    const char *reason = walkers[info.format]((struct audio_bytes){data, len}, &info.duration_ns);
    if (reason)
        return error_set(err, AS_E_INVALID, "the %s audio is damaged: %s", audio_format_name(info.format), reason);
    *ret = info;
    return AS_OK;
}
