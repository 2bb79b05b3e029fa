/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SIM_ANSWERS_H
#define TESTS_UNIT_SIM_ANSWERS_H

/* Runs a simulated answer without a clock and reads its bytes back with the client's readers. */

#include "base/arena.h"
#include "base/json.h"
#include "http/response.h"
#include "http/sse.h"
#include "sim/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct played {
    enum sim_answer_action action; /* the last one */
    struct strbuf wire;            /* all bytes */
    int64_t delays_ns[256];        /* before each step */
    size_t steps;
    struct http_response_head head;
    bool is_complete;   /* by HTTP framing */
    struct strbuf body; /* decoded */
    char content[4096], reasoning[4096], arguments[4096];
    int content_events, reasoning_events, tool_events, events, bad_events, error_events, finishes;
    char finish[32];
    bool done_mark;
    int64_t prompt_tokens, completion_tokens, reasoning_tokens, usages; /* of the last usage */
};

static const struct sim_moment a_moment = {1700000000, "Tue, 14 Nov 2023 22:13:20 GMT"};

static inline struct sim_profile plain_profile(void)
{
    struct sim_profile profile = {.reasoning_field = "reasoning_content",
                                  .model = "sim-model",
                                  .tokens_per_word = 1,
                                  .queue_limit = -1,
                                  .seed = 1};
    profile.ttft = (struct sim_dist){SIM_DIST_CONSTANT, 50e6, 0};
    profile.itl = (struct sim_dist){SIM_DIST_CONSTANT, 10e6, 0};
    profile.tokens = (struct sim_dist){SIM_DIST_CONSTANT, 5, 0};
    profile.tokens_per_chunk = (struct sim_dist){SIM_DIST_CONSTANT, 1, 0};
    return profile;
}

static inline struct sim_ask chat_ask(bool stream)
{
    return (struct sim_ask){.is_chat = true,
                            .stream = stream,
                            .include_usage = stream,
                            .max_tokens = -1,
                            .min_tokens = -1,
                            .choices = 1,
                            .prompt_words = 8};
}

static inline void add_text(char *text, const struct json_value *value)
{
    const char *piece;
    if (json_string(value, &piece) && *piece)
        strncat(text, piece, 4095 - strlen(text));
}

static inline int has_text(const struct json_value *value)
{
    const char *piece;
    return json_string(value, &piece) && *piece;
}

static inline void read_usage(struct played *played, const struct json_value *usage)
{
    if (!usage)
        return;
    played->usages++;
    assert_true(json_int64(json_get(usage, "prompt_tokens"), &played->prompt_tokens));
    assert_true(json_int64(json_get(usage, "completion_tokens"), &played->completion_tokens));
    (void)json_int64(json_path(usage, "completion_tokens_details.reasoning_tokens"), &played->reasoning_tokens);
}

/* Takes in one choice of an event (`delta`) or of a body (`message`). */
static inline void read_choice(struct played *played, const struct json_value *choice)
{
    const struct json_value *part = json_get(choice, "delta") ? json_get(choice, "delta") : json_get(choice, "message");
    const struct json_value *text = part ? json_get(part, "content") : json_get(choice, "text");
    int64_t index = -1;
    assert_true(json_int64(json_get(choice, "index"), &index));
    played->content_events += has_text(text);
    if (index == 0)
        add_text(played->content, text);
    const struct json_value *reasoning =
        json_get(part, "reasoning_content") ? json_get(part, "reasoning_content") : json_get(part, "reasoning");
    played->reasoning_events += has_text(reasoning);
    add_text(played->reasoning, reasoning);
    const struct json_value *calls = json_get(part, "tool_calls");
    for (const struct json_value *call = calls ? calls->first : NULL; call; call = call->next) {
        played->tool_events++;
        add_text(played->arguments, json_path(call, "function.arguments"));
    }
    const char *finish;
    if (json_string(json_get(choice, "finish_reason"), &finish)) {
        played->finishes++;
        (void)snprintf(played->finish, sizeof(played->finish), "%s", finish);
    }
}

static inline void read_json(struct played *played, const char *text, size_t len)
{
    struct arena arena;
    const struct json_value *root;
    arena_init(&arena, 0, 0);
    if (json_parse(text, len, NULL, &arena, &root, NULL) != AS_OK) {
        played->bad_events++;
    } else if (json_get(root, "error")) {
        played->error_events++;
    } else {
        const struct json_value *choices = json_get(root, "choices");
        assert_non_null(choices);
        for (const struct json_value *choice = choices->first; choice; choice = choice->next)
            read_choice(played, choice);
        read_usage(played, json_get(root, "usage"));
    }
    arena_done(&arena);
}

static inline void read_events(struct played *played)
{
    struct sse_reader reader;
    struct sse_event event;
    const char *at = played->body.data, *end = at + played->body.len;
    sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
    while (sse_next(&reader, &at, end, &event) == SSE_EVENT) {
        if (event.len == 6 && memcmp(event.data, "[DONE]", 6) == 0) {
            played->done_mark = true;
            continue;
        }
        assert_false(played->done_mark);
        played->events++;
        read_json(played, event.data, event.len);
    }
    sse_reader_done(&reader);
}

static inline void read_wire(struct played *played)
{
    struct http_response parser;
    const char *at = played->wire.data, *end = at + played->wire.len, *span;
    size_t len;
    if (played->wire.len == 0)
        return;
    http_response_init(&parser);
    for (;;) {
        enum http_result result = http_response_next(&parser, &at, end, &span, &len);
        if (result == HTTP_SPAN)
            strbuf_add(&played->body, span, len);
        else if (result == HTTP_HEAD)
            played->head = parser.head;
        else {
            assert_int_not_equal(result, HTTP_BAD);
            played->is_complete = result == HTTP_END;
            break;
        }
    }
    assert_ptr_equal(at, end);
    http_response_done(&parser);
    if (played->body.len && played->head.media == HTTP_MEDIA_EVENT_STREAM)
        read_events(played);
    else if (played->body.len && played->head.media == HTTP_MEDIA_JSON && played->is_complete)
        read_json(played, played->body.data, played->body.len);
}

/* The caller frees with played_free. */
static inline struct played *play(const struct sim_profile *profile, const struct sim_vocab *vocab,
                                  const struct sim_ask *ask, int64_t number, uint64_t key)
{
    struct played *played = calloc(1, sizeof(*played));
    struct sim_answer answer = {.profile = profile, .vocab = vocab, .moment = &a_moment};
    assert_non_null(played);
    strbuf_init(&played->wire, 0);
    strbuf_init(&played->body, 0);
    played->completion_tokens = played->prompt_tokens = played->reasoning_tokens = -1;
    sim_answer_init(&answer, ask, number, key);
    played->action = sim_answer_start(&answer, &played->wire);
    while (played->action == SIM_ANSWER_GO_ON) {
        assert_true(played->steps < 256);
        played->delays_ns[played->steps++] = sim_answer_delay_ns(&answer, 1);
        played->action = sim_answer_step(&answer, &played->wire);
    }
    assert_int_equal(strbuf_status(&played->wire), AS_OK);
    if (played->action == SIM_ANSWER_END && !sim_answer_is_error(&answer) && !answer.fault)
        assert_int_equal(answer.tokens_done, answer.tokens + answer.reasoning_tokens);
    read_wire(played);
    return played;
}

static inline void played_free(struct played *played)
{
    strbuf_done(&played->wire);
    strbuf_done(&played->body);
    free(played);
}

static inline int64_t total_delay(const struct played *played)
{
    int64_t sum = 0;
    for (size_t i = 0; i < played->steps; i++)
        sum += played->delays_ns[i];
    return sum;
}

#endif
