/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_AUDIO_H
#define ASSAY_SIM_AUDIO_H

/*
 * Transcriptions: reads the form of a request strictly (a whole audio file of a known format, as media/audio.h walks
 * it, whose bytes are what the part's Content-Type says), and makes the answer in every response format. The transcript
 * is that of the file of the same name among --transcripts, else generated: 2.5 words a second of audio, decided by
 * seed and request. The work takes --ttft and --audio-rtf times the audio's length, which is told as inference_time; a
 * stream's further words come each --itl.
 */

#include "base/arena.h"
#include "base/strbuf.h"
#include "http/field.h"
#include "media/audio.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_answer;
struct sim_ask;

/* Known transcripts, by name. Read-only once loaded. */
struct sim_transcript {
    const char *name;
    const char *text; /* UTF-8, words joined by single spaces */
    size_t len;
    int64_t words;
};
struct sim_transcripts {
    struct sim_transcript *items; /* by name */
    size_t count;
};

/* JSONL: id, transcript; lives in the arena. AS_E_INVALID names file and line. */
as_status sim_transcripts_load(const char *path, struct arena *arena, struct sim_transcripts *ret,
                               struct as_error *err) AS_NODISCARD;

enum sim_audio_format { SIM_AUDIO_JSON, SIM_AUDIO_VERBOSE_JSON, SIM_AUDIO_TEXT, SIM_AUDIO_SRT, SIM_AUDIO_VTT };

/* What a transcription request asks for. */
struct sim_audio_ask {
    enum sim_audio_format format;
    int64_t duration_ns;                     /* of the audio, ≥ 0 */
    const struct sim_transcript *transcript; /* NULL = generated */
    int64_t words;
    bool wants_words; /* word time stamps */
    char language[16];
};

/* Fills *ret (is_audio, model in the body). AS_E_INVALID with a sentence for the 400 answer, AS_E_UNSUPPORTED for a
 * 415. */
as_status sim_audio_read(struct http_text content_type, struct http_text body,
                         const struct sim_transcripts *transcripts, struct sim_ask *ret,
                         struct as_error *err) AS_NODISCARD;

/* For sim/render.c: words [from, from + count) as an event, the last event before [DONE], a whole response's type and
 * body. */
void sim_audio_event(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out);
void sim_audio_last_event(const struct sim_answer *answer, struct strbuf *out);
const char *sim_audio_media(const struct sim_answer *answer);
void sim_audio_body(const struct sim_answer *answer, struct strbuf *out);

#endif
