/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/render.h"

#include "base/json_write.h"

#include <string.h>

/* Room before an event for its HTTP chunk size: eight hexadecimal digits and CR LF. */
#define CHUNK_LINE_BYTES 10
/* More than all fixed texts of an event or a choice together. */
#define FIXED_BYTES 512

static char *put(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}
#define PUT(at, literal) put((at), (literal), sizeof(literal) - 1)

static char *puts_at(char *at, const char *text)
{
    return put(at, text, strlen(text));
}

static char *put_hex(char *at, uint64_t value, int digits)
{
    for (int i = digits - 1; i >= 0; i--)
        *at++ = "0123456789abcdef"[(value >> (4 * i)) & 15];
    return at;
}

/* Room for an HTTP chunk of up to `bytes`; returns where its data goes, NULL on failure. */
static char *chunk_open(struct strbuf *out, size_t bytes)
{
    return strbuf_reserve(out, bytes + CHUNK_LINE_BYTES + 2) ? out->data + out->len + CHUNK_LINE_BYTES : NULL;
}

static void chunk_close(struct strbuf *out, char *data, char *end)
{
    size_t len = (size_t)(end - data);
    int digits = 1;
    while (digits < 8 && len >> (4 * digits))
        digits++;
    char *at = put_hex(out->data + out->len, len, digits);
    at = PUT(at, "\r\n");
    memmove(at, data, len);
    at = PUT(at + len, "\r\n");
    out->len = (size_t)(at - out->data);
}

static void whole_chunk(struct strbuf *out, const char *text, size_t len)
{
    char *data = chunk_open(out, len);
    if (data)
        chunk_close(out, data, put(data, text, len));
}
#define WHOLE_CHUNK(out, literal) whole_chunk((out), (literal), sizeof(literal) - 1)

static int64_t completion_tokens(const struct sim_answer *answer, int64_t tokens)
{
    return tokens * answer->ask.choices;
}

static char *put_usage(char *at, const struct sim_answer *answer, int64_t done)
{
    int64_t completion = completion_tokens(answer, done);
    at = PUT(at, "{\"prompt_tokens\":");
    at = int64_put(at, answer->prompt_tokens);
    at = PUT(at, ",\"total_tokens\":");
    at = int64_put(at, answer->prompt_tokens + completion);
    at = PUT(at, ",\"completion_tokens\":");
    at = int64_put(at, completion);
    if (answer->reasoning_tokens > 0) {
        int64_t reasoning = done < answer->reasoning_tokens ? done : answer->reasoning_tokens;
        at = PUT(at, ",\"completion_tokens_details\":{\"reasoning_tokens\":");
        at = int64_put(at, completion_tokens(answer, reasoning));
        at = PUT(at, "}");
    }
    return PUT(at, "}");
}

void sim_render_prefix(struct sim_answer *answer)
{
    char *at = answer->prefix;
    if (answer->ask.is_audio)
        at = PUT(at, "data: {\"id\":\"trsc-");
    else
        at = answer->ask.is_chat ? PUT(at, "data: {\"id\":\"chatcmpl-") : PUT(at, "data: {\"id\":\"cmpl-");
    at = put_hex(at, rng_mix(answer->key, answer->profile->seed), 16);
    if (answer->ask.is_audio)
        at = PUT(at, "\",\"object\":\"transcription.chunk\",\"created\":");
    else if (answer->ask.is_chat)
        at = answer->ask.stream ? PUT(at, "\",\"object\":\"chat.completion.chunk\",\"created\":")
                                : PUT(at, "\",\"object\":\"chat.completion\",\"created\":");
    else
        at = PUT(at, "\",\"object\":\"text_completion\",\"created\":");
    at = int64_put(at, answer->moment->unix_s);
    at = PUT(at, ",\"model\":\"");
    at = puts_at(at, answer->profile->model);
    at = PUT(at, "\",\"choices\":[");
    answer->prefix_len = (uint32_t)(at - answer->prefix);
}

static char *event_open(const struct sim_answer *answer, int64_t index, size_t bytes, struct strbuf *out,
                        char **ret_data)
{
    char *at = *ret_data = chunk_open(out, answer->prefix_len + FIXED_BYTES + bytes);
    if (!at)
        return NULL;
    at = put(at, answer->prefix, answer->prefix_len);
    at = PUT(at, "{\"index\":");
    return int64_put(at, index);
}

static void event_close(const struct sim_answer *answer, int64_t done, struct strbuf *out, char *data, char *at)
{
    at = PUT(at, "]");
    if (answer->profile->usage == SIM_USAGE_EVERY) {
        at = PUT(at, ",\"usage\":");
        at = put_usage(at, answer, done);
    }
    at = PUT(at, "}\n\n");
    chunk_close(out, data, at);
}

/* Date and, when the connection ends with this answer, Connection; the blank line. */
static char *put_head_end(char *at, const struct sim_answer *answer)
{
    at = PUT(at, "\r\nDate: ");
    at = put(at, answer->moment->date, HTTP_DATE_BYTES - 1);
    return answer->close ? PUT(at, "\r\nConnection: close\r\n\r\n") : PUT(at, "\r\n\r\n");
}
#define HEAD_END_BYTES 80

void sim_render_stream_head(const struct sim_answer *answer, struct strbuf *out)
{
    if (!strbuf_reserve(out, FIXED_BYTES))
        return;
    char *at = PUT(out->data + out->len, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                                         "Cache-Control: no-cache\r\nTransfer-Encoding: chunked");
    out->len = (size_t)(put_head_end(at, answer) - out->data);
}

void sim_render_roles(const struct sim_answer *answer, struct strbuf *out)
{
    char *data;
    for (int64_t i = 0; i < answer->ask.choices; i++) {
        char *at = event_open(answer, i, 0, out, &data);
        if (!at)
            return;
        at = PUT(at, ",\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}");
        event_close(answer, 0, out, data, at);
    }
}

/* The text of each choice is another part of the sequence. */
static uint64_t choice_start(const struct sim_answer *answer, int64_t index)
{
    return answer->vocab_start + (uint64_t)index * 97;
}

void sim_render_reasoning(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out)
{
    char *data;
    for (int64_t i = 0; i < answer->ask.choices; i++) {
        char *at = event_open(answer, i, (size_t)count * SIM_TOKEN_BYTES, out, &data);
        if (!at)
            return;
        at = PUT(at, ",\"delta\":{\"");
        at = puts_at(at, answer->profile->reasoning_field);
        at = PUT(at, "\":\"");
        at = sim_vocab_put(answer->vocab, choice_start(answer, i), from, count, at);
        at = PUT(at, "\"},\"logprobs\":null,\"finish_reason\":null}");
        event_close(answer, from + count, out, data, at);
    }
}

/* Tokens a tool call has; the last call may have fewer. */
static int64_t tokens_per_call(const struct sim_answer *answer)
{
    return (answer->tokens + answer->profile->tool_calls - 1) / answer->profile->tool_calls;
}

static char *put_call_open(char *at, const struct sim_answer *answer, int64_t call)
{
    at = PUT(at, "\"id\":\"call_");
    at = put_hex(at, rng_mix(answer->key, (uint64_t)call + 1), 16);
    return PUT(at, "\",\"type\":\"function\",\"function\":{\"name\":\"look_up\",\"arguments\":\"");
}

/* A delta with a piece of the arguments of one call: a JSON object with one string member, escaped. */
static char *put_tool_delta(char *at, const struct sim_answer *answer, uint64_t start, int64_t from, int64_t count)
{
    int64_t per_call = tokens_per_call(answer);
    int64_t call = from / per_call;
    int64_t call_end = (call + 1) * per_call < answer->tokens ? (call + 1) * per_call : answer->tokens;
    at = PUT(at, ",\"delta\":{\"tool_calls\":[{\"index\":");
    at = int64_put(at, call);
    at = PUT(at, ",");
    if (from % per_call == 0) {
        at = put_call_open(at, answer, call);
        at = PUT(at, "{\\\"words\\\":\\\"");
    } else {
        at = PUT(at, "\"function\":{\"arguments\":\"");
    }
    at = sim_vocab_put(answer->vocab, start, from, count, at);
    if (from + count == call_end)
        at = PUT(at, "\\\"}");
    return PUT(at, "\"}}]},\"logprobs\":null,\"finish_reason\":null}");
}

void sim_render_content(const struct sim_answer *answer, int64_t from, int64_t count, struct strbuf *out)
{
    char *data;
    if (answer->ask.is_audio) {
        sim_audio_event(answer, from, count, out);
        return;
    }
    for (int64_t i = 0; i < answer->ask.choices; i++) {
        char *at = event_open(answer, i, (size_t)count * SIM_TOKEN_BYTES, out, &data);
        if (!at)
            return;
        uint64_t start = choice_start(answer, i) + 1;
        if (answer->profile->tool_calls > 0) {
            at = put_tool_delta(at, answer, start, from, count);
        } else {
            at = answer->ask.is_chat ? PUT(at, ",\"delta\":{\"content\":\"") : PUT(at, ",\"text\":\"");
            at = sim_vocab_put(answer->vocab, start, from, count, at);
            at = answer->ask.is_chat ? PUT(at, "\"},\"logprobs\":null,\"finish_reason\":null}")
                                     : PUT(at, "\",\"logprobs\":null,\"finish_reason\":null}");
        }
        event_close(answer, answer->reasoning_tokens + from + count, out, data, at);
    }
}

static char *put_finish(char *at, const struct sim_answer *answer)
{
    if (answer->is_cut)
        return PUT(at, "\"finish_reason\":\"length\"");
    return answer->profile->tool_calls > 0 ? PUT(at, "\"finish_reason\":\"tool_calls\"")
                                           : PUT(at, "\"finish_reason\":\"stop\"");
}

static bool has_final_usage(const struct sim_answer *answer)
{
    switch (answer->profile->usage) {
    case SIM_USAGE_ON:
        return !answer->ask.stream || answer->ask.include_usage;
    case SIM_USAGE_EVERY:
    case SIM_USAGE_ALWAYS:
        return true;
    case SIM_USAGE_OFF:
        break;
    }
    return false;
}

void sim_render_last_chunk(struct strbuf *out)
{
    strbuf_add(out, "0\r\n\r\n", 5);
}

void sim_render_stream_end(const struct sim_answer *answer, struct strbuf *out)
{
    int64_t done = answer->reasoning_tokens + answer->tokens;
    char *data;
    if (answer->ask.is_audio)
        sim_audio_last_event(answer, out);
    for (int64_t i = 0; i < answer->ask.choices && !answer->ask.is_audio; i++) {
        char *at = event_open(answer, i, 0, out, &data);
        if (!at)
            return;
        at = answer->ask.is_chat ? PUT(at, ",\"delta\":{},\"logprobs\":null,")
                                 : PUT(at, ",\"text\":\"\",\"logprobs\":null,");
        at = put_finish(at, answer);
        at = PUT(at, "}");
        event_close(answer, done, out, data, at);
    }
    if (has_final_usage(answer) && !answer->ask.is_audio) {
        data = chunk_open(out, answer->prefix_len + FIXED_BYTES);
        if (!data)
            return;
        char *at = put(data, answer->prefix, answer->prefix_len);
        at = PUT(at, "],\"usage\":");
        at = put_usage(at, answer, done);
        at = PUT(at, "}\n\n");
        chunk_close(out, data, at);
    }
    if (!answer->fault || answer->fault->kind != SIM_FAULT_NO_DONE)
        WHOLE_CHUNK(out, "data: [DONE]\n\n");
    if (!answer->fault || answer->fault->kind != SIM_FAULT_NO_LAST_CHUNK)
        sim_render_last_chunk(out);
}

void sim_render_stream_error(struct strbuf *out)
{
    WHOLE_CHUNK(out,
                "data: {\"error\":{\"message\":\"the engine died while it generated\",\"type\":\"InternalServerError\","
                "\"param\":null,\"code\":500}}\n\n");
    WHOLE_CHUNK(out, "data: [DONE]\n\n");
    sim_render_last_chunk(out);
}

void sim_render_bad_event(struct strbuf *out)
{
    WHOLE_CHUNK(
        out, "data: {\"id\":\"chatcmpl-0\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"del\n\n");
}

static char *put_calls(char *at, const struct sim_answer *answer, uint64_t start)
{
    int64_t per_call = tokens_per_call(answer);
    at = PUT(at, ",\"tool_calls\":[");
    for (int64_t from = 0; from < answer->tokens; from += per_call) {
        int64_t count = answer->tokens - from < per_call ? answer->tokens - from : per_call;
        at = from ? PUT(at, ",{") : PUT(at, "{");
        at = put_call_open(at, answer, from / per_call);
        at = PUT(at, "{\\\"words\\\":\\\"");
        at = sim_vocab_put(answer->vocab, start, from, count, at);
        at = PUT(at, "\\\"}\"}}");
    }
    return PUT(at, "]");
}

static char *put_message(char *at, const struct sim_answer *answer, int64_t index)
{
    bool has_calls = answer->profile->tool_calls > 0;
    at = PUT(at, ",\"message\":{\"role\":\"assistant\",");
    if (answer->reasoning_tokens > 0) {
        at = PUT(at, "\"");
        at = puts_at(at, answer->profile->reasoning_field);
        at = PUT(at, "\":\"");
        at = sim_vocab_put(answer->vocab, choice_start(answer, index), 0, answer->reasoning_tokens, at);
        at = PUT(at, "\",");
    }
    if (has_calls) {
        at = PUT(at, "\"content\":null");
        at = put_calls(at, answer, choice_start(answer, index) + 1);
    } else {
        at = PUT(at, "\"content\":\"");
        at = sim_vocab_put(answer->vocab, choice_start(answer, index) + 1, 0, answer->tokens, at);
        at = PUT(at, "\"");
    }
    return PUT(at, "},\"logprobs\":null,");
}

static char *put_choices(char *at, const struct sim_answer *answer)
{
    at = put(at, answer->prefix + 6, answer->prefix_len - 6); /* without "data: " */
    for (int64_t i = 0; i < answer->ask.choices; i++) {
        at = i ? PUT(at, ",{\"index\":") : PUT(at, "{\"index\":");
        at = int64_put(at, i);
        if (answer->ask.is_chat) {
            at = put_message(at, answer, i);
        } else {
            at = PUT(at, ",\"text\":\"");
            at = sim_vocab_put(answer->vocab, choice_start(answer, i) + 1, 0, answer->tokens, at);
            at = PUT(at, "\",\"logprobs\":null,");
        }
        at = put_finish(at, answer);
        at = PUT(at, "}");
    }
    return PUT(at, "]");
}

/* "HTTP/1.1 200 OK … Content-Length: nnnnnnnn", whose number is put in when the body is known. */
#define BODY_HEAD       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
#define BODY_HEAD_BYTES (sizeof(BODY_HEAD) - 1 + 20 + HEAD_END_BYTES)

/* A response of any media type. */
static void render_whole(const struct sim_answer *answer, const char *media, const struct strbuf *body, struct strbuf *out)
{
    strbuf_addf(out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu", media, body->len);
    if (!strbuf_reserve(out, HEAD_END_BYTES))
        return;
    out->len = (size_t)(put_head_end(out->data + out->len, answer) - out->data);
    strbuf_add(out, strbuf_text(body), body->len);
    if (strbuf_status(body) != AS_OK)
        out->status = strbuf_status(body);
}

static void render_transcription(const struct sim_answer *answer, struct strbuf *out)
{
    struct strbuf body AS_AUTO_STRBUF;
    strbuf_init(&body, 0);
    sim_audio_body(answer, &body);
    render_whole(answer, sim_audio_media(answer), &body, out);
}

static void render_images(const struct sim_answer *answer, struct strbuf *out)
{
    struct strbuf body AS_AUTO_STRBUF;
    strbuf_init(&body, 0);
    sim_images_body(answer, &body);
    render_whole(answer, "application/json", &body, out);
}

void sim_render_body(const struct sim_answer *answer, struct strbuf *out)
{
    if (answer->ask.is_images) {
        render_images(answer, out);
        return;
    }
    if (answer->ask.is_audio) {
        render_transcription(answer, out);
        return;
    }
    int64_t tokens = answer->tokens + answer->reasoning_tokens;
    int64_t calls = answer->profile->tool_calls;
    size_t choice = FIXED_BYTES + (size_t)tokens * SIM_TOKEN_BYTES + (size_t)calls * FIXED_BYTES;
    if (!strbuf_reserve(out, BODY_HEAD_BYTES + answer->prefix_len + FIXED_BYTES + choice * (size_t)answer->ask.choices))
        return;
    char *start = out->data + out->len;
    char *body = start + BODY_HEAD_BYTES;
    char *at = put_choices(body, answer);
    if (has_final_usage(answer)) {
        at = PUT(at, ",\"usage\":");
        at = put_usage(at, answer, tokens);
    }
    at = PUT(at, "}");
    size_t len = (size_t)(at - body);
    at = PUT(start, BODY_HEAD);
    at = put_head_end(int64_put(at, (int64_t)len), answer);
    memmove(at, body, len);
    out->len = (size_t)(at + len - out->data);
}

static const char *reason_phrase(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {{400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {408, "Request Timeout"},
                   {413, "Content Too Large"},
                   {422, "Unprocessable Content"},
                   {429, "Too Many Requests"},
                   {500, "Internal Server Error"},
                   {502, "Bad Gateway"},
                   {503, "Service Unavailable"},
                   {504, "Gateway Timeout"}};
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Error";
}

static const char *error_class(int status)
{
    if (status == 401 || status == 403)
        return "AuthenticationError";
    if (status == 404)
        return "NotFoundError";
    if (status == 429)
        return "RateLimitError";
    return status < 500 ? "BadRequestError" : "InternalServerError";
}

void sim_render_error(struct strbuf *out, int status, const char *message)
{
    strbuf_addf(out, "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,\"code\":%d}}", message,
                error_class(status), status);
}

void sim_render_status_fault(const struct sim_answer *answer, struct strbuf *out)
{
    static const char page[] =
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>"
        "</center>\r\n</body>\r\n</html>\r\n";
    const struct sim_fault *fault = answer->fault;
    int status = fault->status;
    struct strbuf body AS_AUTO_STRBUF;
    strbuf_init(&body, 0);
    if (fault->kind == SIM_FAULT_HTML)
        strbuf_adds(&body, page);
    else if (fault->kind == SIM_FAULT_OOM)
        sim_render_error(&body, status, "CUDA out of memory. Tried to allocate 2.00 GiB");
    else
        sim_render_error(&body, status, "a fault of the simulator's schedule");
    strbuf_addf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nDate: %s\r\n", status,
                reason_phrase(status), fault->kind == SIM_FAULT_HTML ? "text/html" : "application/json", body.len,
                answer->moment->date);
    if (fault->kind == SIM_FAULT_STATUS && fault->argument >= 0)
        strbuf_addf(out, "Retry-After: %lld\r\n", (long long)fault->argument);
    strbuf_adds(out, answer->close ? "Connection: close\r\n\r\n" : "\r\n");
    strbuf_add(out, strbuf_text(&body), body.len);
}
