/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_SUBTITLE_H
#define ASSAY_MODALITY_ASR_SUBTITLE_H

/*
 * SubRip (srt) and WebVTT read alike, as lenient players do: a line with "-->" behind a time starts a cue, a blank line
 * ends it, everything outside cues (numbers, headers, notes, styles) is not text. Any line end. For asr_text.c.
 */

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asr_subtitle {
    int64_t cues;
    bool is_webvtt; /* begins with WEBVTT */
};

/* Appends the cues' text; `is_vtt`: character references are decoded. */
void asr_read_subtitle(const char *data, size_t len, bool is_vtt, struct strbuf *text, struct asr_subtitle *ret);

#endif
