/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEDIA_AUDIO_H
#define ASSAY_MEDIA_AUDIO_H

/*
 * Audio files in memory: names of formats, their MIME types, what the bytes are, and whether they are built as their
 * format says. Nothing here decodes sound, and no library is needed: the length that a benchmark works with is measured
 * by the program assay-media (media/audio_probe.h). Input is hostile. Pure functions, any thread.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* format, name, MIME type */
#define AUDIO_FORMAT_MAP(X)                                                                                            \
    X(MP3, "mp3", "audio/mpeg")                                                                                        \
    X(WAV, "wav", "audio/wav")                                                                                         \
    X(WEBM, "webm", "audio/webm")                                                                                      \
    X(OGG, "ogg", "audio/ogg")                                                                                         \
    X(M4A, "m4a", "audio/mp4")                                                                                         \
    X(MP4, "mp4", "audio/mp4")                                                                                         \
    X(FLAC, "flac", "audio/flac")

enum audio_format {
#define AUDIO_FORMAT_ENUM(format, name, mime) AUDIO_##format,
    AUDIO_FORMAT_MAP(AUDIO_FORMAT_ENUM)
#undef AUDIO_FORMAT_ENUM
        AUDIO_UNKNOWN
};
#define AUDIO_FORMAT_COUNT   AUDIO_UNKNOWN
#define AUDIO_FORMAT_ALLOWED "mp3, wav, webm, ogg, m4a, mp4, flac"

/* "mp3", "unknown"; "audio/mpeg", "application/octet-stream". */
const char *audio_format_name(enum audio_format format);
const char *audio_mime(enum audio_format format);
/* By name, in any case, with or without a dot before it; AUDIO_UNKNOWN when it is none. */
enum audio_format audio_format_from_name(const char *name);
/* By the ending of a path or URL (query and fragment aside). */
enum audio_format audio_format_of_path(const char *path);
/* By MIME type, parameters aside; the "x-" forms too. AUDIO_MP4 for audio/mp4. */
enum audio_format audio_format_of_mime(const char *mime, size_t len);
/* The same container: m4a and mp4 are. */
bool audio_format_matches(enum audio_format one, enum audio_format other);

/* By the first bytes alone (64 are enough, an ID3 tag aside); AUDIO_M4A for every MP4 container. */
enum audio_format audio_sniff(const void *data, size_t len);

struct audio_info {
    enum audio_format format;
    int64_t duration_ns; /* -1 = the file does not say */
};

/*
 * Walks the file's structure: chunks, frame headers, pages with their checksums, boxes, elements. AS_E_UNSUPPORTED when
 * the bytes are no format of the list, AS_E_INVALID with a sentence when the file is cut, empty or not built as its
 * format says.
 */
as_status audio_check(const void *data, size_t len, struct audio_info *ret, struct as_error *err) AS_NODISCARD;

#endif
