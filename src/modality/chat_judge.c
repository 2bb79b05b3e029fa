/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer was in the end: outcome, flags, and the record's fields. */
#include "modality/chat_answer.h"

#include <stdio.h>
#include <string.h>

/* An error line in the stream, outside of any event: an `error:` field (no field of the standard) or a bare error
 * object. */
static bool is_stray_error(const struct sse_reader *sse)
{
    struct json_raw error;
    return sse && (strncmp(sse->stray, "error:", 6) == 0 || chat_find_error(sse->stray, strlen(sse->stray), &error));
}

static const char *stray_text(const struct sse_reader *sse)
{
    return strncmp(sse->stray, "error:", 6) == 0 ? sse->stray + 6 : sse->stray;
}

static bool has_stray(const struct sse_reader *sse)
{
    return sse && sse->stray_lines > 0;
}

static bool is_finished(const struct chat_progress *now)
{
    return (now->seen[0] | now->seen[1]) != 0 && (now->seen[0] & ~now->finished[0]) == 0 &&
           (now->seen[1] & ~now->finished[1]) == 0;
}

static bool has_output(const struct chat_progress *now)
{
    return now->content_chunks > 0 || now->has_reasoning || now->has_tools || now->has_refusal;
}

/* A verdict: the error, and a sentence when the server gave none. */
struct verdict {
    enum error_type error;
    const char *sentence;
};

static const char *incomplete_reason(const struct answer_close *close)
{
    return close->reason && close->reason[0] ? close->reason : "the answer ended before it was complete";
}

static struct verdict judge_stream(struct chat_answer *answer, const struct answer_close *close,
                                   const struct sse_reader *sse)
{
    const struct chat_progress *now = &answer->now;
    bool is_ended = now->is_done || is_finished(now);
    if (now->is_coded)
        return (struct verdict){ERROR_TYPE_DECODE, "the stream is compressed although identity was asked for"};
    if (now->has_server_error)
        return (struct verdict){ERROR_TYPE_SERVER_REPORTED, "the server reported an error in the stream"};
    if (is_stray_error(sse) || (has_stray(sse) && !is_ended))
        return (struct verdict){ERROR_TYPE_SERVER_REPORTED, stray_text(sse)};
    if (!close->body_complete && !now->is_done)
        return (struct verdict){ERROR_TYPE_BODY, incomplete_reason(close)};
    if (now->broken_events > 0)
        return (struct verdict){ERROR_TYPE_DECODE, "a data event is not JSON"};
    if (!is_ended)
        return (struct verdict){ERROR_TYPE_BODY, "the stream ended without a finish reason and without [DONE]"};
    return (struct verdict){ERROR_TYPE_NONE, NULL};
}

static struct verdict judge_body(const struct chat_progress *now, const struct answer_close *close)
{
    if (!close->body_complete)
        return (struct verdict){ERROR_TYPE_BODY, incomplete_reason(close)};
    if (!now->has_body)
        return (struct verdict){ERROR_TYPE_SCHEMA, "the answer has no body"};
    if (now->is_coded)
        return (struct verdict){ERROR_TYPE_DECODE, "the answer is compressed although identity was asked for"};
    if (now->has_server_error)
        return (struct verdict){ERROR_TYPE_SERVER_REPORTED, "the server reported an error"};
    if (now->is_not_json)
        return (struct verdict){ERROR_TYPE_DECODE, "the answer is not JSON"};
    if (now->is_without_choices)
        return (struct verdict){ERROR_TYPE_SCHEMA, "the answer has no choices"};
    return (struct verdict){ERROR_TYPE_NONE, NULL};
}

static uint32_t count_bits(const uint64_t bits[2])
{
    return (uint32_t)(__builtin_popcountll(bits[0]) + __builtin_popcountll(bits[1]));
}

/* Flags of any answer that was begun. */
static uint32_t common_flags(const struct chat_answer *answer, const struct sse_reader *sse)
{
    const struct chat_progress *now = &answer->now;
    uint32_t flags = 0;
    if (now->ignored_events + now->broken_events > 0)
        flags |= RECORD_FLAG_DAMAGED_EVENT;
    if (has_stray(sse))
        flags |= RECORD_FLAG_STRAY_LINE;
    if (now->is_unsound)
        flags |= RECORD_FLAG_INVALID_UTF8;
    if (now->usage_shrank)
        flags |= RECORD_FLAG_USAGE_SHRANK;
    if (now->is_cut)
        flags |= RECORD_FLAG_CONTENT_CUT;
    if (now->is_stream && now->stamp == RECORD_STAMP_CENSORED)
        flags |= RECORD_FLAG_SHARED_READ;
    return flags;
}

static uint32_t success_flags(const struct chat_wish *wish, const struct chat_answer *answer,
                              const struct answer_close *close)
{
    const struct chat_progress *now = &answer->now;
    int64_t completion = now->usage.completion_tokens;
    uint32_t flags = 0;
    if (!has_output(now))
        flags |= RECORD_FLAG_NO_OUTPUT;
    if (completion == 0)
        flags |= RECORD_FLAG_ZERO_TOKENS;
    if (answer->max_tokens > 0 && completion > answer->max_tokens * (int64_t)wish->choices)
        flags |= RECORD_FLAG_LENGTH_IGNORED;
    if (close->drained_early || !close->body_complete)
        flags |= RECORD_FLAG_UNCLEAN_CLOSE;
    if (now->is_stream && !now->is_done)
        flags |= RECORD_FLAG_NO_DONE;
    if (now->is_stream != answer->expects_stream)
        flags |= now->is_stream ? RECORD_FLAG_STREAM_FOR_JSON : RECORD_FLAG_JSON_FOR_STREAM;
    if (count_bits(now->seen) != 0 && count_bits(now->seen) != wish->choices)
        flags |= RECORD_FLAG_COUNT_MISMATCH;
    return flags;
}

/* The channel as JSON: a string, with several choices a list of them; at NULL when there is no such text (content: when
 * nothing came). */
static struct record_text join_texts(struct chat_saved *saved, enum chat_channel channel)
{
    struct strbuf *out = &saved->joined[channel];
    size_t total = 0;
    strbuf_reset(out);
    for (uint32_t i = 0; i < saved->choices; i++)
        total += saved->texts[(size_t)i * CHAT_CHANNEL_COUNT + channel].len;
    if (total == 0 && channel != CHAT_CONTENT)
        return (struct record_text){0};
    if (saved->choices > 1)
        strbuf_addc(out, '[');
    for (uint32_t i = 0; i < saved->choices; i++) {
        const struct strbuf *text = &saved->texts[(size_t)i * CHAT_CHANNEL_COUNT + channel];
        strbuf_adds(out, i > 0 ? ",\"" : "\"");
        strbuf_add(out, strbuf_text(text), text->len);
        strbuf_addc(out, '"');
    }
    if (saved->choices > 1)
        strbuf_addc(out, ']');
    return strbuf_status(out) == AS_OK ? (struct record_text){out->data, out->len} : (struct record_text){0};
}

static void fill_texts(struct chat_answer *answer, struct request_record *record)
{
    if (!answer->saved || answer->now.status < 200 || answer->now.status > 299)
        return;
    record->content = join_texts(answer->saved, CHAT_CONTENT);
    record->reasoning = join_texts(answer->saved, CHAT_REASONING);
    record->tool_arguments = join_texts(answer->saved, CHAT_TOOLS);
    if (!record->content.at)
        record->flags |= RECORD_FLAG_CONTENT_CUT;
}

static void fill_tokens(const struct chat_usage *usage, struct request_record *record)
{
    record->prompt_tokens = usage->prompt_tokens;
    record->completion_tokens = usage->completion_tokens;
    record->total_tokens = usage->total_tokens;
    if (usage->total_tokens < 0 && usage->prompt_tokens >= 0 && usage->completion_tokens >= 0)
        record->total_tokens = usage->prompt_tokens + usage->completion_tokens;
    record->cached_tokens = usage->cached_tokens;
    bool is_possible = usage->completion_tokens < 0 || usage->reasoning_tokens <= usage->completion_tokens;
    record->reasoning_tokens = is_possible ? usage->reasoning_tokens : -1;
    record->usage_missing = usage->completion_tokens < 0;
}

static void fill_instants(const struct chat_progress *now, struct request_record *record)
{
    record->first_event_ns = now->first_event_ns;
    record->role_ns = now->role_ns;
    record->first_reasoning_ns = now->first_reasoning_ns;
    record->first_content_ns = now->first_content_ns;
    record->first_tool_ns = now->first_tool_ns;
    record->last_content_ns = now->last_content_ns;
    record->usage_ns = now->usage_ns;
    record->done_mark_ns = now->done_mark_ns;
    if (!now->is_stream)
        return; /* the engine's stamp of the answer's end stands */
    record->client_lag_ns = now->client_lag_ns;
    record->stamp = now->stamp;
}

static struct record_text numbers_text(const struct chat_numbers *numbers)
{
    bool is_whole = numbers->len > 0 && !numbers->is_lost;
    return (struct record_text){is_whole ? (const char *)numbers->bytes : NULL, is_whole ? numbers->len : 0};
}

static void fill_facts(struct chat_answer *answer, struct request_record *record)
{
    const struct chat_progress *now = &answer->now;
    fill_instants(now, record);
    fill_tokens(&now->usage, record);
    fill_texts(answer, record);
    record->events = now->is_stream ? now->events : -1;
    record->content_chunks = now->is_stream ? now->content_chunks : -1;
    record->censored_chunks = now->is_stream ? now->censored_chunks : -1;
    record->damaged_events = now->ignored_events + now->broken_events;
    record->completion_words = now->is_stream || now->has_body ? now->words : -1;
    record->done_seen = now->is_done;
    memcpy(record->finish_reason, now->finish_reason, sizeof record->finish_reason);
    /* Between the chunks of several choices that take turns there is no gap of a reader's. */
    if (count_bits(now->seen) <= 1)
        record->gaps = numbers_text(&answer->gaps);
    record->shared_chunks = numbers_text(&answer->shared);
}

/* The message: what the server said, behind our sentence when it was not meant as an error; else our sentence. */
static void compose_message(struct chat_answer *answer, const struct chat_wish *wish, const struct verdict *verdict)
{
    struct error_text *error = &answer->error;
    char composed[ERROR_TEXT_MAX + 128];
    if (verdict->error == ERROR_TYPE_SERVER_REPORTED && error->len > 0)
        return;
    bool has_excerpt = (verdict->error == ERROR_TYPE_DECODE || verdict->error == ERROR_TYPE_SCHEMA) && error->len > 0;
    int len = snprintf(composed, sizeof composed, "%s%s%s", verdict->sentence, has_excerpt ? ": " : "",
                       has_excerpt ? error->text : "");
    if (verdict->error == ERROR_TYPE_SERVER_REPORTED) {
        error_text_from_body(verdict->sentence, strlen(verdict->sentence), wish->secrets, error);
        return;
    }
    error_text_from_plain(composed, (size_t)len < sizeof composed ? (size_t)len : sizeof composed - 1, wish->secrets,
                          error);
    error->is_oom = false;
}

static void fail(struct chat_answer *answer, const struct chat_wish *wish, const struct verdict *verdict,
                 struct request_record *record)
{
    compose_message(answer, wish, verdict);
    record->outcome = OUTCOME_FAILED;
    record->error_type = (uint8_t)verdict->error;
    record->error_message = (struct record_text){answer->error.text, answer->error.len};
    record->oom |= answer->error.is_oom;
}

void chat_answer_end(const struct chat_wish *wish, struct chat_answer *answer, const struct answer_close *close,
                     const struct sse_reader *sse, struct request_record *record)
{
    const struct chat_progress *now = &answer->now;
    bool is_decided = record->outcome != OUTCOME_OK || record->error_type != ERROR_TYPE_NONE;
    chat_answer_read_end(answer, false);
    record->prompt_words = answer->prompt_words;
    record->max_tokens = answer->max_tokens;
    record->usage_missing = true;
    if (now->is_begun) {
        fill_facts(answer, record);
        record->flags |= common_flags(answer, now->is_stream ? sse : NULL);
    }
    struct verdict verdict = now->is_stream ? judge_stream(answer, close, sse) : judge_body(now, close);
    /* Cut off after the server had said why: what it said is the better error. */
    bool is_explained =
        record->error_type == ERROR_TYPE_BODY && now->is_stream && verdict.error == ERROR_TYPE_SERVER_REPORTED;
    if (!is_decided && verdict.error == ERROR_TYPE_NONE)
        record->flags |= success_flags(wish, answer, close);
    else if (!is_decided || is_explained)
        fail(answer, wish, &verdict, record);
    answer->now.is_begun = false;
}
