/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/chat_answer.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES_MAX    10 /* LEB128 of 63 bits, rounded up */
#define NUMBERS_FIRST_BYTES 256

static inline bool bit_get(const uint64_t bits[2], uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static inline void bit_put(uint64_t bits[2], uint32_t i, bool value)
{
    uint64_t bit = UINT64_C(1) << i % 64;
    bits[i / 64] = value ? bits[i / 64] | bit : bits[i / 64] & ~bit;
}

static void progress_reset(struct chat_progress *now)
{
    *now = (struct chat_progress){
        .first_event_ns = -1,
        .role_ns = -1,
        .first_reasoning_ns = -1,
        .first_content_ns = -1,
        .first_tool_ns = -1,
        .last_content_ns = -1,
        .usage_ns = -1,
        .done_mark_ns = -1,
        .client_lag_ns = -1,
        .stamp = RECORD_STAMP_NONE,
        .usage = {-1, -1, -1, -1, -1},
    };
}

static void numbers_reset(struct chat_numbers *numbers)
{
    numbers->len = 0;
    numbers->is_lost = false;
}

static void answer_reset(struct chat_answer *answer)
{
    progress_reset(&answer->now);
    numbers_reset(&answer->gaps);
    numbers_reset(&answer->shared);
    answer->error.len = 0;
    answer->shape.before_bytes = 0;
    if (!answer->saved)
        return;
    for (size_t i = 0; i < (size_t)answer->saved->choices * CHAT_CHANNEL_COUNT; i++)
        strbuf_reset(&answer->saved->texts[i]);
}

void chat_answer_prepare(struct chat_answer *answer, bool expects_stream, int64_t prompt_words, int64_t max_tokens)
{
    answer_reset(answer);
    answer->expects_stream = expects_stream;
    answer->prompt_words = prompt_words;
    answer->max_tokens = max_tokens;
}

/* Memory for the texts of the wished number of choices; without it they are flagged as cut. */
static void saved_open(const struct chat_wish *wish, struct chat_answer *answer)
{
    size_t count = (size_t)wish->choices * CHAT_CHANNEL_COUNT;
    struct chat_saved *saved = calloc(1, sizeof *saved + count * sizeof saved->texts[0]);
    answer->saved = saved;
    if (!saved) {
        answer->now.is_cut = true;
        return;
    }
    saved->choices = wish->choices;
    for (size_t i = 0; i < count; i++)
        strbuf_init(&saved->texts[i], 0);
    for (size_t i = 0; i < CHAT_CHANNEL_COUNT; i++)
        strbuf_init(&saved->joined[i], 0);
}

void chat_answer_begin(const struct chat_wish *wish, struct chat_answer *answer, const struct http_response_head *head,
                       bool is_stream)
{
    answer_reset(answer);
    struct chat_progress *now = &answer->now;
    now->is_begun = true;
    now->is_stream = is_stream;
    now->is_coded = head->coding != HTTP_CODING_IDENTITY;
    now->status = head->status;
    if (wish->save_texts && !answer->saved)
        saved_open(wish, answer);
}

/* Keeps what the server sent as the error's text, the first time. */
static void note_error(const struct chat_wish *wish, struct chat_answer *answer, const char *text, size_t len)
{
    if (answer->error.len == 0)
        error_text_from_body(text, len, wish->secrets, &answer->error);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Keeps what came where JSON was due, unless it is damaged JSON: that may hold generated text, which is no error's
 * text. */
static void note_foreign(const struct chat_wish *wish, struct chat_answer *answer, const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    while (at < end && is_blank(*at))
        at++;
    if (at < end && *at != '{' && *at != '[')
        note_error(wish, answer, at, (size_t)(end - at));
}

/* Makes room for one more number; false when there is no memory. */
static bool numbers_grow(struct chat_numbers *numbers)
{
    uint32_t capacity = numbers->capacity ? numbers->capacity * 2 : NUMBERS_FIRST_BYTES;
    uint8_t *bytes = numbers->is_lost || capacity > UINT32_MAX / 2 ? NULL : realloc(numbers->bytes, capacity);
    if (!bytes) {
        numbers->is_lost = true;
        return false;
    }
    numbers->bytes = bytes;
    numbers->capacity = capacity;
    return true;
}

static inline void number_put(struct chat_numbers *numbers, int64_t number)
{
    if (numbers->capacity - numbers->len < NUMBER_BYTES_MAX && !numbers_grow(numbers))
        return;
    uint64_t rest = number > 0 ? (uint64_t)number : 0;
    uint8_t *at = numbers->bytes + numbers->len;
    for (; rest >= 0x80; rest >>= 7)
        *at++ = (uint8_t)(rest | 0x80);
    *at++ = (uint8_t)rest;
    numbers->len = (uint32_t)(at - numbers->bytes);
}

static void numbers_done(struct chat_numbers *numbers)
{
    free(numbers->bytes);
    *numbers = (struct chat_numbers){0};
}

static void first_content(struct chat_progress *now, const struct arrival *arrival)
{
    now->first_content_ns = arrival->ns;
    now->first_in_read = true;
    now->first_is_kernel = arrival->is_kernel;
    now->client_lag_ns = arrival->is_kernel ? arrival->user_ns - arrival->ns : -1;
}

/* An event brought content. */
static inline void content_arrived(struct chat_answer *answer, const struct arrival *arrival)
{
    struct chat_progress *now = &answer->now;
    if (now->first_content_ns < 0)
        first_content(now, arrival);
    else
        number_put(&answer->gaps, arrival->ns - now->last_content_ns);
    now->last_content_ns = arrival->ns;
    now->content_chunks++;
    now->read_chunks++;
    now->tail_is_content = true;
}

static inline void reasoning_arrived(struct chat_progress *now, const struct arrival *arrival)
{
    now->has_reasoning = true;
    if (now->first_reasoning_ns < 0)
        now->first_reasoning_ns = arrival->ns;
}

/* Appends to the saved text of a channel; `body` is a sound or unsound string body. */
static void save_text(const struct chat_wish *wish, struct chat_answer *answer, uint32_t choice,
                      enum chat_channel channel, const struct json_raw *body)
{
    if (!answer->saved || choice >= answer->saved->choices)
        return;
    size_t limit = wish->save_limit_bytes ? wish->save_limit_bytes : CHAT_SAVE_LIMIT_DEFAULT;
    struct strbuf *out = &answer->saved->texts[(size_t)choice * CHAT_CHANNEL_COUNT + channel];
    if (!text_append(body->at, body->len, limit, out) || strbuf_status(out) != AS_OK)
        answer->now.is_cut = true;
}

/* Counts the words of a whole string body, the next piece of a choice's content; looks at other channels only for
 * soundness. */
static void piece_count(struct chat_progress *now, const struct json_raw *body, enum chat_channel channel,
                        uint32_t choice)
{
    struct text_state state = {.in_word = bit_get(now->in_word, choice)};
    if (!text_scan(body->at, body->at + body->len + 1, &state))
        return;
    now->is_unsound |= state.is_unsound;
    if (channel != CHAT_CONTENT)
        return;
    now->words += state.words;
    bit_put(now->in_word, choice, state.in_word);
}

/* Takes the event by the shape of an earlier one (see struct chat_shape); false when it has another shape. */
static inline bool shape_take(const struct chat_wish *wish, struct chat_answer *answer, const struct sse_event *event,
                              const struct arrival *arrival)
{
    const struct chat_shape *shape = &answer->shape;
    struct chat_progress *now = &answer->now;
    size_t before = shape->before_bytes, after = shape->after_bytes;
    if (before == 0 || event->len <= before + after || memcmp(event->data, shape->bytes, before) != 0)
        return false;
    const char *at = event->data + before, *end = event->data + event->len;
    if (memcmp(end - after, shape->bytes + before, after) != 0)
        return false;
    struct text_state state = {.in_word = bit_get(now->in_word, shape->choice)};
    const char *quote = text_scan(at, end, &state);
    if (quote != end - after)
        return false;
    now->is_unsound |= state.is_unsound;
    if (answer->saved) {
        struct json_raw body = {at, (size_t)(quote - at), false};
        save_text(wish, answer, shape->choice, shape->channel, &body);
    }
    if (shape->channel != CHAT_CONTENT) {
        reasoning_arrived(now, arrival);
        return true;
    }
    now->words += state.words;
    bit_put(now->in_word, shape->choice, state.in_word);
    content_arrived(answer, arrival);
    return true;
}

/* Keeps the event's shape when it is one choice's text and has no other meaning that could differ next time. */
static void shape_learn(struct chat_answer *answer, const struct sse_event *event, const struct chat_reading *reading)
{
    const struct chat_choice *choice = &reading->first;
    struct chat_shape *shape = &answer->shape;
    bool is_content = choice->content.len > 0, is_reasoning = choice->reasoning.len > 0;
    shape->before_bytes = 0;
    if (reading->choice_count != 1 || reading->has_usage || reading->error.at || is_content == is_reasoning)
        return;
    if (choice->finish_reason.len > 0 || choice->refusal.len > 0 || choice->tools || choice->more_content)
        return;
    const struct json_raw *text = is_content ? &choice->content : &choice->reasoning;
    size_t before = (size_t)(text->at - event->data), after = event->len - before - text->len;
    if (before + after > CHAT_SHAPE_BYTES)
        return;
    memcpy(shape->bytes, event->data, before);
    memcpy(shape->bytes + before, text->at + text->len, after);
    shape->after_bytes = (uint16_t)after;
    shape->channel = is_content ? CHAT_CONTENT : CHAT_REASONING;
    shape->choice = (uint8_t)choice->index;
    shape->before_bytes = (uint16_t)before;
}

static void count_merge(int64_t *known, int64_t count, bool *shrank)
{
    if (count < 0 || (count == 0 && *known > 0))
        return;
    *shrank |= count < *known;
    *known = count;
}

static void usage_merge(struct chat_progress *now, const struct chat_usage *usage, int64_t ns)
{
    if (usage->prompt_tokens <= 0 && usage->completion_tokens <= 0 && usage->total_tokens <= 0)
        return;
    count_merge(&now->usage.prompt_tokens, usage->prompt_tokens, &now->usage_shrank);
    count_merge(&now->usage.completion_tokens, usage->completion_tokens, &now->usage_shrank);
    count_merge(&now->usage.total_tokens, usage->total_tokens, &now->usage_shrank);
    count_merge(&now->usage.reasoning_tokens, usage->reasoning_tokens, &now->usage_shrank);
    count_merge(&now->usage.cached_tokens, usage->cached_tokens, &now->usage_shrank);
    now->usage_ns = ns;
}

/* What of a choice is no text. */
static void choice_marks(struct chat_progress *now, const struct chat_choice *choice, int64_t ns)
{
    bit_put(now->seen, choice->index, true);
    if (choice->role.len > 0 && now->role_ns < 0)
        now->role_ns = ns;
    now->has_refusal |= choice->refusal.len > 0;
    if (choice->tools) {
        now->has_tools = true;
        if (now->first_tool_ns < 0)
            now->first_tool_ns = ns;
    }
    if (choice->finish_reason.len > 0) {
        bit_put(now->finished, choice->index, true);
        text_to_line(choice->finish_reason.at, choice->finish_reason.len, true, now->finish_reason,
                     sizeof now->finish_reason);
    }
}

/* Takes the content of a choice in, all parts of it. */
static void content_take(const struct chat_wish *wish, struct chat_answer *answer, const struct chat_choice *choice,
                         const char *end)
{
    struct chat_choice rest = *choice;
    struct json_raw text = choice->content;
    do {
        piece_count(&answer->now, &text, CHAT_CONTENT, choice->index);
        save_text(wish, answer, choice->index, CHAT_CONTENT, &text);
    } while (chat_next_part(&rest, end, &text));
}

/* Takes a choice in; true when it holds content. `end` is the end of the JSON text. */
static bool choice_take(const struct chat_wish *wish, struct chat_answer *answer, const struct chat_choice *choice,
                        const char *end, const struct arrival *arrival)
{
    struct chat_progress *now = &answer->now;
    choice_marks(now, choice, arrival->ns);
    if (choice->reasoning.len > 0) {
        piece_count(now, &choice->reasoning, CHAT_REASONING, choice->index);
        reasoning_arrived(now, arrival);
        save_text(wish, answer, choice->index, CHAT_REASONING, &choice->reasoning);
    }
    if (choice->tools && answer->saved && choice->index < answer->saved->choices) {
        size_t limit = wish->save_limit_bytes ? wish->save_limit_bytes : CHAT_SAVE_LIMIT_DEFAULT;
        struct strbuf *out = &answer->saved->texts[(size_t)choice->index * CHAT_CHANNEL_COUNT + CHAT_TOOLS];
        if (!chat_append_arguments(choice, end, limit, out) || strbuf_status(out) != AS_OK)
            now->is_cut = true;
    }
    if (choice->content.len == 0)
        return false;
    content_take(wish, answer, choice, end);
    return true;
}

/* Takes all choices of a reading in; true when any holds content. */
static bool choices_take(const struct chat_wish *wish, struct chat_answer *answer, const struct chat_reading *reading,
                         const struct arrival *arrival)
{
    if (reading->choice_count == 1)
        return choice_take(wish, answer, &reading->first, reading->end, arrival);
    bool found = false;
    struct chat_walk walk;
    struct chat_choice choice;
    chat_walk_init(&walk, reading);
    while (chat_walk_next(&walk, &choice))
        found |= choice_take(wish, answer, &choice, reading->end, arrival);
    return found;
}

/* The data value is [DONE] and nothing else but white space. */
static inline bool is_end_mark(const char *data, size_t len)
{
    while (len > 6 && is_blank(*data)) {
        data++;
        len--;
    }
    while (len > 6 && is_blank(data[len - 1]))
        len--;
    return len == 6 && memcmp(data, "[DONE]", 6) == 0;
}

/* A data value that is no JSON object. */
static void event_damaged(const struct chat_wish *wish, struct chat_answer *answer, const struct sse_event *event)
{
    const char *at = event->data, *end = at + event->len;
    while (at < end && is_blank(*at))
        at++;
    if (at == end || *at == ':' || json_cursor_validate(event->data, event->len, NULL)) {
        answer->now.ignored_events++;
        return;
    }
    answer->now.broken_events++;
    note_foreign(wish, answer, event->data, event->len);
}

static void event_failure(const struct chat_wish *wish, struct chat_answer *answer, const struct sse_event *event)
{
    if (!answer->now.has_server_error)
        answer->error.len = 0;
    answer->now.has_server_error = true;
    note_error(wish, answer, event->data, event->len);
}

static void event_read(const struct chat_wish *wish, struct chat_answer *answer, const struct sse_event *event,
                       const struct arrival *arrival)
{
    struct chat_reading reading;
    if (!chat_read(event->data, event->len, CHAT_EVENT, &reading)) {
        event_damaged(wish, answer, event);
        return;
    }
    if (reading.error.at)
        event_failure(wish, answer, event);
    if (reading.has_usage)
        usage_merge(&answer->now, &reading.usage, arrival->ns);
    if (choices_take(wish, answer, &reading, arrival))
        content_arrived(answer, arrival);
    if (reading.choice_count == 1)
        shape_learn(answer, event, &reading);
}

bool chat_answer_event(const struct chat_wish *wish, struct chat_answer *answer, const struct sse_event *event,
                       const struct arrival *arrival)
{
    struct chat_progress *now = &answer->now;
    if (now->is_done)
        return true;
    now->tail_is_content = false;
    if (event->len >= 6 && event->data[0] != '{' && is_end_mark(event->data, event->len)) {
        now->is_done = true;
        now->done_mark_ns = arrival->ns;
        return true;
    }
    now->events++;
    if (now->first_event_ns < 0)
        now->first_event_ns = arrival->ns;
    if (event->name[0] == 'e' && strcmp(event->name, "error") == 0) {
        event_failure(wish, answer, event);
        return false;
    }
    if (!shape_take(wish, answer, event, arrival))
        event_read(wish, answer, event, arrival);
    return false;
}

static void body_read(const struct chat_wish *wish, struct chat_answer *answer, const char *data, size_t len,
                      const struct arrival *arrival)
{
    struct chat_progress *now = &answer->now;
    struct chat_reading reading;
    if (!chat_read(data, len, CHAT_BODY, &reading)) {
        now->is_not_json = true;
        note_foreign(wish, answer, data, len);
        return;
    }
    if (reading.error.at) {
        now->has_server_error = true;
        note_error(wish, answer, data, len);
        return;
    }
    if (reading.choice_count == 0) {
        now->is_without_choices = true;
        note_error(wish, answer, data, len);
        return;
    }
    if (reading.has_usage)
        usage_merge(now, &reading.usage, arrival->ns);
    if (choices_take(wish, answer, &reading, arrival))
        now->content_chunks = 1;
}

void chat_answer_body(const struct chat_wish *wish, struct chat_answer *answer, const char *data, size_t len,
                      const struct arrival *arrival)
{
    struct chat_progress *now = &answer->now;
    if (now->status < 200 || now->status > 299)
        return; /* judged and told by the engine */
    now->has_body = len > 0;
    if (len == 0 || now->is_coded)
        return;
    body_read(wish, answer, data, len, arrival);
    /* Without a stream nothing of the answer has a time of its own. */
    now->role_ns = now->first_reasoning_ns = now->first_tool_ns = now->usage_ns = -1;
}

void chat_answer_read_end(struct chat_answer *answer, bool last_is_exact)
{
    struct chat_progress *now = &answer->now;
    if (now->read_chunks == 0)
        return;
    bool tail_is_exact = last_is_exact && now->tail_is_content;
    int64_t shared = now->read_chunks - tail_is_exact;
    if (shared > 0) {
        int64_t first = now->content_chunks - now->read_chunks;
        number_put(&answer->shared, first - now->shared_until);
        number_put(&answer->shared, shared);
        now->shared_until = first + shared;
    }
    now->censored_chunks += shared;
    if (now->first_in_read) {
        bool is_exact = tail_is_exact && now->read_chunks == 1;
        uint8_t exact = now->first_is_kernel ? RECORD_STAMP_KERNEL : RECORD_STAMP_USER;
        now->stamp = is_exact ? exact : RECORD_STAMP_CENSORED;
        now->first_in_read = false;
    }
    now->read_chunks = 0;
}

void chat_answer_done(struct chat_answer *answer)
{
    numbers_done(&answer->gaps);
    numbers_done(&answer->shared);
    if (!answer->saved)
        return;
    for (size_t i = 0; i < (size_t)answer->saved->choices * CHAT_CHANNEL_COUNT; i++)
        strbuf_done(&answer->saved->texts[i]);
    for (size_t i = 0; i < CHAT_CHANNEL_COUNT; i++)
        strbuf_done(&answer->saved->joined[i]);
    free(answer->saved);
    answer->saved = NULL;
}
