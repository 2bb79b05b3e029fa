/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/asr_answer.h"

#include "base/json_write.h"
#include "modality/asr_block.h"
#include "workload/words.h"

#include <stdio.h>
#include <string.h>

void asr_answer_begin(const struct asr_wish *wish, struct asr_answer *answer, const struct http_response_head *head,
                      bool is_stream)
{
    (void)wish;
    answer->now = (struct asr_progress){
        .is_begun = true,
        .is_stream = is_stream,
        .is_json = head->media == HTTP_MEDIA_JSON,
        .is_coded = head->coding != HTTP_CODING_IDENTITY,
        .status = head->status,
        .client_lag_ns = -1,
        .first_event_ns = -1,
        .first_content_ns = -1,
        .last_content_ns = -1,
        .done_mark_ns = -1,
        .reading = {.cues = -1,
                    .told = {.inference_ns = -1,
                             .duration_ns = -1,
                             .input_tokens = -1,
                             .output_tokens = -1,
                             .total_tokens = -1}},
    };
    answer->error.len = 0;
    answer->error.is_oom = false;
    strbuf_reset(&answer->text);
    strbuf_reset(&answer->times);
}

/* ---- streams ---- */

static void note_content(struct asr_progress *now, const struct arrival *arrival)
{
    now->content_chunks++;
    now->read_chunks++;
    now->tail_is_content = true;
    now->last_content_ns = arrival->ns;
    if (now->first_content_ns >= 0)
        return;
    now->first_content_ns = arrival->ns;
    now->first_in_read = true;
    now->first_is_kernel = arrival->is_kernel;
    int64_t lag_ns = arrival->user_ns - arrival->ns;
    now->client_lag_ns = !arrival->is_kernel ? -1 : lag_ns > 0 ? lag_ns : 0;
}

/* What a later event tells replaces what an earlier one told. */
static void merge(struct asr_told *told, const struct asr_told *from)
{
    told->inference_ns = from->inference_ns >= 0 ? from->inference_ns : told->inference_ns;
    told->duration_ns = from->duration_ns >= 0 ? from->duration_ns : told->duration_ns;
    told->input_tokens = from->input_tokens >= 0 ? from->input_tokens : told->input_tokens;
    told->output_tokens = from->output_tokens >= 0 ? from->output_tokens : told->output_tokens;
    told->total_tokens = from->total_tokens >= 0 ? from->total_tokens : told->total_tokens;
    if (from->language[0])
        memcpy(told->language, from->language, sizeof told->language);
}

static void take_event(const struct asr_wish *wish, struct asr_answer *answer, const struct sse_event *event,
                       const struct arrival *arrival)
{
    struct asr_progress *now = &answer->now;
    struct asr_event read;
    asr_read_event(event->data, event->len, &read);
    merge(&now->reading.told, &read.told);
    now->is_finished |= read.is_finished || read.kind == ASR_EVENT_DONE;
    switch (read.kind) {
    case ASR_EVENT_DELTA:
        asr_add_raw(&answer->text, &read.text);
        note_content(now, arrival);
        break;
    case ASR_EVENT_DONE:
        if (!read.text.at)
            break;
        if (now->content_chunks == 0 && read.text.len > 0)
            note_content(now, arrival);
        strbuf_reset(&answer->text);
        asr_add_raw(&answer->text, &read.text);
        break;
    case ASR_EVENT_ERROR:
        now->has_server_error = true;
        error_text_from_body(event->data, event->len, wish->secrets, &answer->error);
        break;
    case ASR_EVENT_BROKEN:
        now->broken_events++;
        break;
    case ASR_EVENT_NONE:
        break;
    }
}

static bool is_end_mark(const struct sse_event *event)
{
    return event->len == 6 && memcmp(event->data, "[DONE]", 6) == 0;
}

bool asr_answer_event(const struct asr_wish *wish, struct asr_answer *answer, const struct sse_event *event,
                      const struct arrival *arrival)
{
    struct asr_progress *now = &answer->now;
    now->tail_is_content = false;
    if (now->first_event_ns < 0)
        now->first_event_ns = arrival->ns;
    if (is_end_mark(event)) {
        now->is_done = true;
        now->done_mark_ns = arrival->ns;
        return true;
    }
    now->events++;
    now->body_bytes += (int64_t)event->len;
    take_event(wish, answer, event, arrival);
    return false;
}

void asr_answer_read_end(struct asr_answer *answer, bool last_is_exact)
{
    struct asr_progress *now = &answer->now;
    if (now->read_chunks == 0)
        return;
    bool tail_is_exact = last_is_exact && now->tail_is_content;
    now->censored_chunks += now->read_chunks - tail_is_exact;
    if (now->first_in_read) {
        bool is_exact = tail_is_exact && now->read_chunks == 1;
        uint8_t exact = now->first_is_kernel ? RECORD_STAMP_KERNEL : RECORD_STAMP_USER;
        now->stamp = is_exact ? exact : RECORD_STAMP_CENSORED;
        now->first_in_read = false;
    }
    now->read_chunks = 0;
}

/* ---- bodies ---- */

void asr_answer_body(const struct asr_wish *wish, struct asr_answer *answer, const char *data, size_t len)
{
    struct asr_progress *now = &answer->now;
    now->body_bytes = (int64_t)len;
    if (now->status < 200 || now->status > 299)
        return; /* judged and told by the engine */
    now->has_body = len > 0;
    if (now->is_coded)
        return;
    struct asr_body body = {wish->format, now->is_json && len > 0, data, len};
    asr_read_body(&body, &answer->text, &now->reading);
    if (wish->keeps_times && asr_format_is_json(wish->format) && now->reading.problem == ASR_FINE)
        asr_times_add(&now->reading.times, ASR_TIMES_MAX_BYTES, &answer->times);
    now->reading.times = (struct asr_spans){0}; /* the body goes */
    now->is_unsound = now->reading.is_unsound;
    if (now->reading.problem != ASR_FINE && len > 0)
        error_text_from_body(data, len, wish->secrets, &answer->error);
}

/* ---- the end ---- */

/* A verdict: the error, and a sentence. */
struct verdict {
    enum error_type error;
    const char *sentence;
};

static const char *incomplete_reason(const struct answer_close *close)
{
    return close->reason && close->reason[0] ? close->reason : "the answer ended before it was complete";
}

static struct verdict judge_stream(const struct asr_answer *answer, const struct answer_close *close,
                                   const struct sse_reader *sse)
{
    const struct asr_progress *now = &answer->now;
    bool is_ended = now->is_done || now->is_finished;
    if (now->is_coded)
        return (struct verdict){ERROR_TYPE_DECODE, "the stream is compressed although identity was asked for"};
    if (now->has_server_error)
        return (struct verdict){ERROR_TYPE_SERVER_REPORTED, "the server reported an error in the stream"};
    if (sse && sse->stray_lines > 0 && !is_ended)
        return (struct verdict){ERROR_TYPE_SERVER_REPORTED, sse->stray};
    if (!close->body_complete && !is_ended)
        return (struct verdict){ERROR_TYPE_BODY, incomplete_reason(close)};
    if (now->broken_events > 0)
        return (struct verdict){ERROR_TYPE_DECODE, "an event of the stream is no JSON object"};
    if (!is_ended)
        return (struct verdict){ERROR_TYPE_BODY, "the stream ended without an end mark"};
    return (struct verdict){ERROR_TYPE_NONE, NULL};
}

static struct verdict judge_body(const struct asr_wish *wish, const struct asr_progress *now,
                                 const struct answer_close *close)
{
    static const struct verdict of_problem[] = {
        [ASR_FINE] = {ERROR_TYPE_NONE, NULL},
        [ASR_NOT_JSON] = {ERROR_TYPE_DECODE, "the answer is not JSON"},
        [ASR_NO_TEXT] = {ERROR_TYPE_SCHEMA, "the answer has no text"},
        [ASR_SERVER_ERROR] = {ERROR_TYPE_SERVER_REPORTED, "the server reported an error"},
        [ASR_PAGE] = {ERROR_TYPE_SCHEMA, "the answer is an HTML page"},
    };
    if (!close->body_complete)
        return (struct verdict){ERROR_TYPE_BODY, incomplete_reason(close)};
    if (now->is_coded)
        return (struct verdict){ERROR_TYPE_DECODE, "the answer is compressed although identity was asked for"};
    if (!now->has_body && (asr_format_is_json(wish->format) || now->status != 200))
        return (struct verdict){ERROR_TYPE_SCHEMA, "the answer has no body"};
    return of_problem[now->reading.problem];
}

static void fail(struct asr_answer *answer, const struct asr_wish *wish, const struct verdict *verdict,
                 struct request_record *record)
{
    char composed[ERROR_TEXT_MAX + 128];
    struct error_text *error = &answer->error;
    bool is_the_servers = verdict->error == ERROR_TYPE_SERVER_REPORTED;
    if (!is_the_servers || error->len == 0) {
        bool has_excerpt = error->len > 0 && !is_the_servers;
        snprintf(composed, sizeof composed, "%s%s%s", verdict->sentence, has_excerpt ? ": " : "",
                 has_excerpt ? error->text : "");
        error_text_from_plain(composed, strlen(composed), wish->secrets, error);
        error->is_oom = error->is_oom && is_the_servers;
    }
    record->outcome = OUTCOME_FAILED;
    record->error_type = (uint8_t)verdict->error;
    record->error_message = (struct record_text){error->text, error->len};
    record->oom |= error->is_oom;
}

static void fill_stream(const struct asr_progress *now, struct request_record *record)
{
    record->events = now->events;
    record->content_chunks = now->content_chunks;
    record->censored_chunks = now->censored_chunks;
    record->damaged_events = now->broken_events;
    record->first_event_ns = now->first_event_ns;
    record->first_content_ns = now->first_content_ns;
    record->last_content_ns = now->last_content_ns;
    record->done_mark_ns = now->done_mark_ns;
    record->done_seen = now->is_done;
    record->stamp = now->stamp;
    record->client_lag_ns = now->client_lag_ns;
}

static void fill_tokens(const struct asr_told *told, struct request_record *record)
{
    record->prompt_tokens = told->input_tokens;
    record->completion_tokens = told->output_tokens;
    record->total_tokens = told->total_tokens;
    if (told->total_tokens < 0 && told->input_tokens >= 0 && told->output_tokens >= 0)
        record->total_tokens = told->input_tokens + told->output_tokens;
}

static uint32_t success_flags(const struct asr_wish *wish, const struct asr_answer *answer,
                              const struct answer_close *close, int64_t words)
{
    const struct asr_progress *now = &answer->now;
    uint32_t flags = 0;
    if (words == 0)
        flags |= RECORD_FLAG_NO_OUTPUT;
    if (words < 0)
        flags |= RECORD_FLAG_CONTENT_CUT;
    if (close->drained_early || !close->body_complete)
        flags |= RECORD_FLAG_UNCLEAN_CLOSE;
    if (now->is_stream && !now->is_done)
        flags |= RECORD_FLAG_NO_DONE;
    if (now->is_stream != wish->streaming)
        flags |= now->is_stream ? RECORD_FLAG_STREAM_FOR_JSON : RECORD_FLAG_JSON_FOR_STREAM;
    if (now->reading.is_other_format)
        flags |= RECORD_FLAG_FORMAT_MISMATCH;
    return flags;
}

/* The transcript as a JSON text of the record. */
static void keep_transcript(struct asr_answer *answer, struct request_record *record)
{
    struct strbuf *content = &answer->content;
    strbuf_reset(content);
    strbuf_addc(content, '"');
    json_escape(content, strbuf_text(&answer->text), answer->text.len);
    strbuf_addc(content, '"');
    if (strbuf_status(content) == AS_OK && strbuf_status(&answer->text) == AS_OK)
        record->content = (struct record_text){content->data, content->len};
    else
        record->flags |= RECORD_FLAG_CONTENT_CUT;
}

static void put_block(const struct asr_wish *wish, struct asr_answer *answer, const struct asr_result *result,
                      struct request_record *record)
{
    strbuf_reset(&answer->block);
    asr_block_write(answer->sample, wish->format, result, &answer->block);
    if (result->is_ok && answer->times.len > 0 && strbuf_status(&answer->times) == AS_OK &&
        strbuf_status(&answer->block) == AS_OK) {
        answer->block.len--; /* the closing brace */
        strbuf_add(&answer->block, answer->times.data, answer->times.len);
        strbuf_addc(&answer->block, '}');
    }
    if (strbuf_status(&answer->block) == AS_OK)
        record->modality_json = (struct record_text){answer->block.data, answer->block.len};
}

static struct asr_result result_of(const struct asr_answer *answer, const struct request_record *record)
{
    const struct asr_progress *now = &answer->now;
    struct asr_result result = {
        .read_ns = answer->read_ns,
        .response_ns = record->sent_ns >= 0 && record->done_ns >= 0 ? record->done_ns - record->sent_ns : -1,
        .body_bytes = now->is_begun && now->status ? now->body_bytes : -1,
        .is_ok = record->outcome == OUTCOME_OK,
        .words = -1,
        .chars = -1,
        .reading = &now->reading,
    };
    bool is_whole = strbuf_status(&answer->text) == AS_OK; /* else memory ran out */
    if (!result.is_ok || !is_whole)
        return result;
    result.words = words_count(strbuf_text(&answer->text), answer->text.len);
    result.chars = asr_count_chars(strbuf_text(&answer->text), answer->text.len);
    return result;
}

void asr_answer_end(const struct asr_wish *wish, struct asr_answer *answer, const struct answer_close *close,
                    const struct sse_reader *sse, struct request_record *record)
{
    struct asr_progress *now = &answer->now;
    bool is_decided = record->outcome != OUTCOME_OK || record->error_type != ERROR_TYPE_NONE;
    asr_answer_read_end(answer, false);
    record->usage_missing = false; /* none is promised */
    if (now->is_begun && now->is_stream)
        fill_stream(now, record);
    if (now->is_begun)
        fill_tokens(&now->reading.told, record);
    if (now->is_unsound)
        record->flags |= RECORD_FLAG_INVALID_UTF8;
    struct verdict verdict = now->is_stream ? judge_stream(answer, close, sse) : judge_body(wish, now, close);
    /* Cut off after the server had said why: what it said is the better error. */
    bool is_explained =
        record->error_type == ERROR_TYPE_BODY && now->is_stream && verdict.error == ERROR_TYPE_SERVER_REPORTED;
    if ((!is_decided && verdict.error != ERROR_TYPE_NONE) || is_explained)
        fail(answer, wish, &verdict, record);
    struct asr_result result = result_of(answer, record);
    record->completion_words = result.words;
    if (result.is_ok) {
        record->flags |= success_flags(wish, answer, close, result.words);
        if (wish->keeps_transcripts)
            keep_transcript(answer, record);
    }
    put_block(wish, answer, &result, record);
    now->is_begun = false;
}

void asr_answer_done(struct asr_answer *answer)
{
    strbuf_done(&answer->file);
    strbuf_done(&answer->text);
    strbuf_done(&answer->content);
    strbuf_done(&answer->times);
    strbuf_done(&answer->block);
}
