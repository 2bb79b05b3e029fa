/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEDIA_AUDIO_PROBE_H
#define ASSAY_MEDIA_AUDIO_PROBE_H

/*
 * How long an audio file is, by the libraries that decode it: WAV, FLAC and Ogg by libsndfile, MP3 by libmpg123's scan
 * of all frames (libsndfile's length of an MP3 without a Xing tag is an estimate). For the program assay-media only, so
 * that nothing else links these libraries. One thread.
 */

#include "media/audio.h"

#define AUDIO_PROBE_REASON_BYTES 200

struct audio_probe {
    enum audio_format format;              /* of the bytes */
    int64_t duration_ns;                   /* -1 = not known: a format without a library here, or a reason is given */
    int64_t sample_rate_hz;                /* -1 = not known */
    int64_t channels;                      /* -1 = not known */
    const char *library;                   /* "libsndfile", "libmpg123"; NULL = none */
    char reason[AUDIO_PROBE_REASON_BYTES]; /* why there is no length, "" = there is one */
};

/* Never fails: what is wrong is in the result. */
void audio_probe_file(const char *path, struct audio_probe *ret);

#endif
