/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ASR_ANSWER_H
#define ASSAY_MODALITY_ASR_ANSWER_H

/*
 * The answer to one transcription request, in one body or as a stream of events: takes it as the engine gives it,
 * judges it and fills the record and its block (for asr.c). One answer a slot, one thread at a time; its memory is kept
 * for the next request and freed by asr_answer_done.
 *
 * Outcomes of 2xx answers:
 * - a transcript, an empty one too, is a success (no_output flags an empty one); one in another format than was asked
 * for is flagged format_mismatch, a stream instead of a body and the reverse as everywhere;
 * - a non-null `error` is server_reported; JSON without `text`, an empty answer to a JSON format and a page of HTML are
 * schema; what is not JSON where JSON was asked for is decode;
 * - a stream is complete with [DONE], transcript.text.done or a finish reason; without any it is a body error.
 */

#include "base/strbuf.h"
#include "engine/error_text.h"
#include "engine/modality.h"
#include "modality/asr_text.h"
#include "workload/audio.h"

#define ASR_BLOCK_MAX_BYTES ((size_t)4096)

/* What the run wants of all answers. */
struct asr_wish {
    enum asr_format format;
    bool streaming, keeps_transcripts, keeps_times;
    const char *const *secrets;
};

/* What one try has brought so far; instants ns since the run's epoch, -1 = not yet. */
struct asr_progress {
    bool is_begun, is_stream, is_json, is_coded, has_body, is_done, is_finished;
    int status;
    bool is_unsound, has_server_error;
    int64_t broken_events, events, content_chunks, censored_chunks, read_chunks;
    bool first_in_read, tail_is_content, first_is_kernel;
    uint8_t stamp; /* enum record_stamp, of the first content */
    int64_t client_lag_ns, first_event_ns, first_content_ns, last_content_ns, done_mark_ns;
    int64_t body_bytes;
    struct asr_reading reading;
};

/* Starts zeroed. */
struct asr_answer {
    const struct audio_sample *sample; /* of the request */
    int64_t read_ns;                   /* that reading the file took */
    struct asr_progress now;
    struct strbuf file;    /* when it was read for this request */
    struct strbuf text;    /* the transcript */
    struct strbuf content; /* the same as JSON */
    struct strbuf times;   /* members of the block */
    struct strbuf block;
    struct error_text error; /* what the server said about its failure, or our sentence; len 0 = nothing yet */
};

/* These are struct modality's, `wish` in place of the context. */
void asr_answer_begin(const struct asr_wish *wish, struct asr_answer *answer, const struct http_response_head *head,
                      bool is_stream);
bool asr_answer_event(const struct asr_wish *wish, struct asr_answer *answer, const struct sse_event *event,
                      const struct arrival *arrival);
void asr_answer_body(const struct asr_wish *wish, struct asr_answer *answer, const char *data, size_t len);
void asr_answer_read_end(struct asr_answer *answer, bool last_is_exact);
void asr_answer_end(const struct asr_wish *wish, struct asr_answer *answer, const struct answer_close *close,
                    const struct sse_reader *sse, struct request_record *record);
void asr_answer_done(struct asr_answer *answer);

#endif
