/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_CHAT_ANSWER_H
#define ASSAY_MODALITY_CHAT_ANSWER_H

/*
 * The answer to one request of a chat or completions API, streamed or not: takes head, events or body, and the end, as
 * the engine gives them (engine/modality.h); judges them and fills the record. Shared by the modalities that speak this
 * API. One answer per slot, one thread at a time; memory that grew (gaps, saved texts) is kept for the next request and
 * freed by chat_answer_done.
 *
 * What counts as what:
 * - content: delta.content or choices[].text, not empty; of a list of parts the texts of its text parts, in order. The
 * first is TTFT's mark; role, null and empty texts are not content.
 * - reasoning: reasoning_content or reasoning; the same text under both is one.
 * - tool calls: a delta that names a call or adds arguments. Refusals are output too, but no content.
 * - usage: the last object wins, member by member; a 0 never replaces a positive count, an object of zeros only is a
 * placeholder. Absent, null: unknown (-1), never 0.
 * - finish: every choice that appeared has a non-empty finish_reason.
 * - the end mark is the data value [DONE], alone (white space around it is ignored). Events after it are not looked at.
 * - failure: a non-null top-level `error`, or an event named error. Words like these anywhere else mean nothing.
 *
 * Outcomes: docs/decisions/0002-wire-outcomes.md. A record that the engine has already judged (by status, a timeout, a
 * broken connection) keeps that: facts and the server's message are added. Only a stream that was cut off after the
 * server had reported an error becomes that error.
 */

#include "base/strbuf.h"
#include "engine/error_text.h"
#include "engine/modality.h"
#include "modality/chat.h"
#include "modality/text.h"

/* Longest event, its text aside, that the shape cache keeps. */
#define CHAT_SHAPE_BYTES        512
#define CHAT_SAVE_LIMIT_DEFAULT ((size_t)16 * 1024 * 1024)

enum chat_channel { CHAT_CONTENT, CHAT_REASONING, CHAT_TOOLS, CHAT_CHANNEL_COUNT };

/* What the run wants of all answers; read-only while it runs. */
struct chat_wish {
    uint32_t choices; /* asked for (n), 1 … CHAT_CHOICES_MAX */
    bool save_texts;
    size_t save_limit_bytes;    /* for each text, escaped; more is cut and flagged. 0 = CHAT_SAVE_LIMIT_DEFAULT */
    const char *const *secrets; /* ends with NULL, or NULL: texts that no message may hold */
};

/*
 * The last event of this answer that was one choice's piece of text and nothing else: its bytes up to and including the
 * opening quote of that text, then its bytes from the closing quote on.
 *
 * A following event that has the same bytes before, a well-formed non-empty JSON string body, and the same bytes after
 * it means the same with another text, exactly. JSON is read from left to right with no look-ahead beyond a token:
 * equal bytes before put the reader into the same state at the opening quote; a string body ends at its first unescaped
 * quote, which text_scan finds and which is where the equal bytes after it begin; and from there the reader, in the
 * same state again, sees the same bytes. So the new event is JSON where the old one was, has the same members at the
 * same places, the same of them duplicated, and the same values but for this one string. chat_read's result depends on
 * that string through its place and length only: everything else it gives (role, index, no finish, no usage, no error,
 * no other text) is as before. The one thing that could change is the choice between alternatives when the text is
 * empty (content or text, reasoning_content or reasoning), so an empty text is not taken from here. Kept for one try
 * only: what else the shape means (role, index) has by then been noted when the shape was learned.
 */
struct chat_shape {
    uint16_t before_bytes; /* 0 = nothing learned */
    uint16_t after_bytes;
    uint8_t channel; /* CHAT_CONTENT or CHAT_REASONING */
    uint8_t choice;
    char bytes[CHAT_SHAPE_BYTES];
};

/* What one try has brought so far; instants in ns since the run's epoch, -1 = not yet. */
struct chat_progress {
    bool is_begun, is_stream, is_coded, is_done;
    bool has_body, is_not_json, is_without_choices; /* of an answer that is no stream */
    bool has_server_error, usage_shrank, is_unsound, is_cut;
    bool has_reasoning, has_tools, has_refusal;
    int status;
    int64_t first_event_ns, role_ns, first_reasoning_ns, first_content_ns, first_tool_ns, last_content_ns, usage_ns,
        done_mark_ns;
    int64_t client_lag_ns;
    uint8_t stamp; /* enum record_stamp */
    bool first_is_kernel;
    bool first_in_read, tail_is_content; /* of the read that is being taken in */
    uint32_t read_chunks;
    int64_t events, content_chunks, censored_chunks;
    int64_t shared_until;   /* the chunk after the last one that shared its read */
    int64_t ignored_events; /* no JSON object, but harmless: empty, a comment */
    int64_t broken_events;  /* no JSON */
    struct chat_usage usage;
    int64_t words;
    uint64_t in_word[2], seen[2], finished[2]; /* a bit a choice */
    char finish_reason[32];
};

/* Texts kept on request: one of each channel per choice, then what the record points to. */
struct chat_saved {
    struct strbuf joined[CHAT_CHANNEL_COUNT];
    uint32_t choices;
    struct strbuf texts[]; /* choices × CHAT_CHANNEL_COUNT, escaped, without quotes */
};

/* A list of LEB128 numbers; the memory is kept from request to request. */
struct chat_numbers {
    uint8_t *bytes;
    uint32_t len, capacity;
    bool is_lost; /* no memory for all of them */
};

/* Starts zeroed. */
struct chat_answer {
    int64_t prompt_words, max_tokens; /* of the request; -1 = unknown / not asked */
    bool expects_stream;
    struct chat_progress now;
    struct chat_numbers gaps;   /* see request_record.gaps */
    struct chat_numbers shared; /* see request_record.shared_chunks */
    struct chat_saved *saved;
    struct error_text error; /* what the server said about its failure, or our sentence; len 0 = nothing yet */
    struct chat_shape shape;
};

/* A new request; forgets everything of the one before. */
void chat_answer_prepare(struct chat_answer *answer, bool expects_stream, int64_t prompt_words, int64_t max_tokens);
/* The following are struct modality's, `wish` in place of the context. */
void chat_answer_begin(const struct chat_wish *wish, struct chat_answer *answer, const struct http_response_head *head,
                       bool is_stream);
bool chat_answer_event(const struct chat_wish *wish, struct chat_answer *answer, const struct sse_event *event,
                       const struct arrival *arrival);
void chat_answer_body(const struct chat_wish *wish, struct chat_answer *answer, const char *data, size_t len,
                      const struct arrival *arrival);
void chat_answer_read_end(struct chat_answer *answer, bool last_is_exact);
void chat_answer_end(const struct chat_wish *wish, struct chat_answer *answer, const struct answer_close *close,
                     const struct sse_reader *sse, struct request_record *record);
void chat_answer_done(struct chat_answer *answer);

#endif
