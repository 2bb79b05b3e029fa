/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/sharegpt.h"

#include "workload/prompts.h"
#include "workload/words.h"

#include <string.h>

void sharegpt_init(struct sharegpt *reader, const struct sharegpt_sink *sink)
{
    *reader = (struct sharegpt){.sink = *sink};
    json_stream_init(&reader->stream, &(struct json_limits){.lossy = true}, true);
    strbuf_init(&reader->id, PROMPTS_ID_BYTES);
    strbuf_init(&reader->turn, PROMPTS_LINE_MAX_BYTES);
    strbuf_init(&reader->prompt, PROMPTS_LINE_MAX_BYTES);
}

void sharegpt_done(struct sharegpt *reader)
{
    json_stream_done(&reader->stream);
    strbuf_done(&reader->id);
    strbuf_done(&reader->turn);
    strbuf_done(&reader->prompt);
}

static bool span_is_any(const struct json_span *span, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == span->len && memcmp(*words, span->text, span->len) == 0)
            return true;
    return false;
}

static void start_conversation(struct sharegpt *reader)
{
    reader->place = SHAREGPT_CONVERSATION;
    reader->member = SHAREGPT_OTHER;
    reader->has_turns = reader->has_prompt = reader->has_blank_turn = reader->is_awaiting = false;
    reader->answer_words = -1;
    strbuf_reset(&reader->id);
    strbuf_reset(&reader->prompt);
}

static as_status give(struct sharegpt *reader)
{
    const struct sharegpt_conversation conversation = {
        .id = strbuf_text(&reader->id),
        .id_len = strbuf_status(&reader->id) == AS_OK ? reader->id.len : 0,
        .prompt = reader->has_prompt ? strbuf_text(&reader->prompt) : NULL,
        .prompt_len = reader->has_prompt ? reader->prompt.len : 0,
        .has_turns = reader->has_turns,
        .has_blank_turn = reader->has_blank_turn,
        .answer_words = reader->answer_words,
    };
    reader->place = SHAREGPT_TOP;
    return reader->sink.take(reader->sink.context, &conversation);
}

/* What stands where a conversation should and is none. */
static as_status give_nothing(struct sharegpt *reader)
{
    start_conversation(reader);
    return give(reader);
}

static as_status at_top(struct sharegpt *reader, enum json_token token)
{
    if (token == JSON_TOKEN_ARRAY && !reader->is_in_array) {
        reader->is_in_array = true;
        return AS_OK;
    }
    if (token == JSON_TOKEN_ARRAY_END) {
        reader->is_in_array = false;
        return AS_OK;
    }
    if (token == JSON_TOKEN_OBJECT) {
        start_conversation(reader);
        return AS_OK;
    }
    if (token == JSON_TOKEN_ARRAY)
        json_stream_skip(&reader->stream);
    return give_nothing(reader);
}

static as_status at_conversation(struct sharegpt *reader, enum json_token token, const struct json_span *span)
{
    static const char *const lists[] = {"conversations", "conversation", "items", "messages", NULL};
    static const char *const ids[] = {"id", NULL};
    if (token == JSON_TOKEN_OBJECT_END)
        return give(reader);
    if (token == JSON_TOKEN_KEY) {
        reader->member = span_is_any(span, lists) ? SHAREGPT_LIST : span_is_any(span, ids) ? SHAREGPT_ID : SHAREGPT_OTHER;
        if (reader->member == SHAREGPT_OTHER)
            json_stream_skip(&reader->stream);
        return AS_OK;
    }
    if (token == JSON_TOKEN_ARRAY && reader->member == SHAREGPT_LIST && !reader->has_turns) {
        reader->has_turns = true;
        reader->place = SHAREGPT_TURNS;
    } else if (token == JSON_TOKEN_ARRAY || token == JSON_TOKEN_OBJECT) {
        json_stream_skip(&reader->stream);
    } else if (reader->member == SHAREGPT_ID && (token == JSON_TOKEN_STRING || token == JSON_TOKEN_NUMBER)) {
        strbuf_reset(&reader->id);
        strbuf_add(&reader->id, span->text, span->len);
    }
    return AS_OK;
}

static as_status at_turns(struct sharegpt *reader, enum json_token token)
{
    if (token == JSON_TOKEN_ARRAY_END) {
        reader->place = SHAREGPT_CONVERSATION;
        reader->member = SHAREGPT_OTHER;
    } else if (token == JSON_TOKEN_ARRAY) {
        json_stream_skip(&reader->stream);
    } else if (token == JSON_TOKEN_OBJECT) {
        reader->place = SHAREGPT_TURN;
        reader->role = SHAREGPT_SOMEONE;
        strbuf_reset(&reader->turn);
    }
    return AS_OK;
}

static enum sharegpt_role role_of(const struct json_span *span)
{
    static const char *const humans[] = {"human", "user", NULL};
    static const char *const models[] = {"gpt", "assistant", "chatgpt", "model", "bot", NULL};
    return span_is_any(span, humans) ? SHAREGPT_HUMAN : span_is_any(span, models) ? SHAREGPT_MODEL : SHAREGPT_SOMEONE;
}

/* A turn is complete: prompt, answer, or neither. After the answer no turn matters. */
static as_status take_turn(struct sharegpt *reader)
{
    if (strbuf_status(&reader->turn) != AS_OK)
        return strbuf_status(&reader->turn);
    int64_t words = words_count(strbuf_text(&reader->turn), reader->turn.len);
    reader->place = SHAREGPT_TURNS;
    if (reader->role == SHAREGPT_HUMAN && !reader->has_prompt) {
        reader->has_blank_turn |= words == 0;
        reader->has_prompt = reader->is_awaiting = words > 0;
        if (words > 0)
            strbuf_add(&reader->prompt, reader->turn.data, reader->turn.len);
        return strbuf_status(&reader->prompt);
    }
    if (!reader->is_awaiting || reader->role == SHAREGPT_SOMEONE)
        return AS_OK;
    reader->is_awaiting = false;
    if (reader->role == SHAREGPT_MODEL && words > 0)
        reader->answer_words = words;
    json_stream_skip(&reader->stream);
    reader->place = SHAREGPT_CONVERSATION;
    reader->member = SHAREGPT_OTHER;
    return AS_OK;
}

static as_status at_turn(struct sharegpt *reader, enum json_token token, const struct json_span *span)
{
    static const char *const roles[] = {"from", "role", NULL}, *const texts[] = {"value", "content", NULL};
    if (token == JSON_TOKEN_OBJECT_END)
        return take_turn(reader);
    if (token == JSON_TOKEN_KEY) {
        reader->member = span_is_any(span, roles) ? SHAREGPT_ROLE : span_is_any(span, texts) ? SHAREGPT_TEXT : SHAREGPT_OTHER;
        if (reader->member == SHAREGPT_OTHER)
            json_stream_skip(&reader->stream);
    } else if (token == JSON_TOKEN_ARRAY || token == JSON_TOKEN_OBJECT) {
        json_stream_skip(&reader->stream);
    } else if (token == JSON_TOKEN_STRING && reader->member == SHAREGPT_ROLE) {
        reader->role = role_of(span);
    } else if (token == JSON_TOKEN_STRING && reader->member == SHAREGPT_TEXT) {
        strbuf_reset(&reader->turn);
        strbuf_add(&reader->turn, span->text, span->len);
    }
    return AS_OK;
}

static as_status take_token(struct sharegpt *reader, enum json_token token, const struct json_span *span)
{
    switch (reader->place) {
    case SHAREGPT_CONVERSATION:
        return at_conversation(reader, token, span);
    case SHAREGPT_TURNS:
        return at_turns(reader, token);
    case SHAREGPT_TURN:
        return at_turn(reader, token, span);
    case SHAREGPT_TOP:
        break;
    }
    return at_top(reader, token);
}

as_status sharegpt_feed(struct sharegpt *reader, const char *data, size_t len, struct as_error *err)
{
    const char *at = data, *end = data + len;
    struct json_span span;
    enum json_token token;
    while ((token = json_stream_next(&reader->stream, &at, end, &span)) > JSON_TOKEN_END) {
        as_status status = take_token(reader, token, &span);
        if (status != AS_OK)
            return error_set(err, status, "a conversation cannot be taken: %s", status_sentence(status));
    }
    return token == JSON_TOKEN_BAD ? json_stream_error(&reader->stream, err) : AS_OK;
}

as_status sharegpt_finish(struct sharegpt *reader, struct as_error *err)
{
    struct json_span span;
    enum json_token token;
    while ((token = json_stream_finish(&reader->stream, &span)) > JSON_TOKEN_END) {
        as_status status = take_token(reader, token, &span);
        if (status != AS_OK)
            return error_set(err, status, "a conversation cannot be taken: %s", status_sentence(status));
    }
    return token == JSON_TOKEN_BAD ? json_stream_error(&reader->stream, err) : AS_OK;
}
