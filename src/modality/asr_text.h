/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_TEXT_H
#define ASSAY_MODALITY_ASR_TEXT_H

/*
 * Reads what a transcription server answers, in any of its formats: the transcript and what is told beside it. Text of
 * other formats than JSON is read as UTF-8 whatever its charset; what is not valid becomes U+FFFD. Pure functions on
 * the caller's bytes; any thread.
 *
 * The transcript is kept as it came, but for: line ends behind it (text), and subtitles (srt, vtt), of which it is the
 * text of the cues, lines and cues joined with single spaces, tags removed.
 */

#include "base/json.h"
#include "base/strbuf.h"
#include "modality/asr_times.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* format, its name */
#define ASR_FORMAT_MAP(X) X(VERBOSE_JSON, "verbose_json") X(JSON, "json") X(TEXT, "text") X(SRT, "srt") X(VTT, "vtt")
enum asr_format {
#define ASR_FORMAT_ENUM(format, name) ASR_FORMAT_##format,
    ASR_FORMAT_MAP(ASR_FORMAT_ENUM)
#undef ASR_FORMAT_ENUM
        ASR_FORMAT_COUNT
};
const char *asr_format_name(enum asr_format format);
static inline bool asr_format_is_json(enum asr_format format)
{
    return format == ASR_FORMAT_VERBOSE_JSON || format == ASR_FORMAT_JSON;
}

/* Why there is no transcript. */
enum asr_problem {
    ASR_FINE,
    ASR_NOT_JSON,     /* JSON was asked for, something else came */
    ASR_NO_TEXT,      /* JSON without a string `text` */
    ASR_SERVER_ERROR, /* a non-null `error` */
    ASR_PAGE          /* an HTML page where text was asked for */
};

/* What is told beside the transcript; -1 = not told, or not as a sensible number. */
struct asr_told {
    int64_t inference_ns;                              /* inference_time, in seconds, a number or the text of one */
    int64_t duration_ns;                               /* duration, likewise */
    char language[32];                                 /* "" = not told */
    int64_t input_tokens, output_tokens, total_tokens; /* of usage; its names or those of chat */
};

struct asr_reading {
    enum asr_problem problem;
    bool is_other_format; /* the transcript came in another format than was asked for */
    bool is_unsound;      /* invalid UTF-8 was replaced */
    int64_t cues;         /* of subtitles, -1 = the answer is none */
    struct asr_told told;
    struct asr_spans times; /* of a JSON answer, places in its body */
};

struct asr_body {
    enum asr_format format; /* asked for */
    bool is_json;           /* the server calls the answer JSON */
    const char *data;
    size_t len;
};
/* Appends the transcript to `text`; its failures stick there. */
void asr_read_body(const struct asr_body *body, struct strbuf *text, struct asr_reading *ret);

/* One event of an answer that is a stream. */
enum asr_event_kind {
    ASR_EVENT_NONE,  /* JSON, but nothing of the transcript */
    ASR_EVENT_DELTA, /* a piece of it */
    ASR_EVENT_DONE,  /* the whole of it: the end */
    ASR_EVENT_ERROR, /* a non-null `error` */
    ASR_EVENT_BROKEN /* no JSON object */
};
struct asr_event {
    enum asr_event_kind kind;
    bool is_finished;     /* a chat chunk with a finish reason */
    struct json_raw text; /* still escaped; at NULL = none */
    struct asr_told told;
};
/*
 * {"type":"transcript.text.delta","delta":…}, {"type":"transcript.text.done","text":…,"usage":…}, or a chat chunk whose
 * choices[0].delta.content is the piece.
 */
void asr_read_event(const char *data, size_t len, struct asr_event *ret);

/* Appends a JSON string's text, decoded. */
void asr_add_raw(struct strbuf *text, const struct json_raw *raw);

/* Code points of a transcript, white space around it aside. */
int64_t asr_count_chars(const char *text, size_t len);

#endif
