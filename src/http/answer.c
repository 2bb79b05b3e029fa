/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Heads up to this size are made on the stack, and bodies that fit behind them go out in the same send. */
#define STACK_BYTES    ((size_t)4096)
#define HEAD_MAX_BYTES ((size_t)256 * 1024)

static const char *phrase_of(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } PHRASES[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {426, "Upgrade Required"},
        {428, "Precondition Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof PHRASES / sizeof PHRASES[0]; i++) {
        if (PHRASES[i].status == status)
            return PHRASES[i].phrase;
    }
    return "";
}

/* ---- heads ---- */

/* A fixed piece of memory being filled; too small is remembered. */
struct writer {
    char *at, *end;
    bool is_full;
};

static void put(struct writer *w, const char *text, size_t len)
{
    if ((size_t)(w->end - w->at) < len) {
        w->is_full = true;
        return;
    }
    memcpy(w->at, text, len);
    w->at += len;
}

static void puts_text(struct writer *w, const char *text)
{
    put(w, text, strlen(text));
}

/* `value` ≥ 0. */
static void put_number(struct writer *w, int64_t value)
{
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put(w, digits + first, sizeof digits - first);
}

static bool is_value(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!http_is_value_char((unsigned char)text[i]))
            return false;
    }
    return true;
}

static bool put_fields(struct writer *w, const struct http_answer *answer)
{
    for (uint32_t i = 0; i < answer->field_count; i++) {
        const struct http_field *field = &answer->fields[i];
        if (!http_is_token(field->name) || !is_value(field->value.at, field->value.len))
            return false;
        put(w, field->name.at, field->name.len);
        put(w, ": ", 2);
        put(w, field->value.at, field->value.len);
        put(w, "\r\n", 2);
    }
    return true;
}

static bool has_no_body(int status)
{
    return status == 204 || status == 304;
}

/* The answer to a request whose body will not be read to its end closes the connection, like one that ends a stop. */
static bool must_close(const struct http_connection *c, const struct http_answer *answer)
{
    return answer->close || !c->keep_alive || c->x.loop->is_stopping || (c->closes_input && !c->in.len) ||
           (c->input == INPUT_BODY && !c->body_is_here);
}

/* content_length -1: in pieces. AS_E_LIMIT: the writer's memory is too small. */
static as_status format_head(struct http_connection *c, const struct http_answer *answer, int64_t content_length,
                             struct writer *w)
{
    const char *server = c->x.loop->server->options.server_name;
    bool in_pieces = content_length < 0 && !has_no_body(answer->status);
    bool closes = must_close(c, answer) || (in_pieces && c->is_http10);
    if (answer->status < 200 || answer->status > 599 ||
        (answer->content_type && !is_value(answer->content_type, strlen(answer->content_type))))
        return AS_E_INVALID;
    put(w, "HTTP/1.1 ", 9);
    put_number(w, answer->status);
    put(w, " ", 1);
    puts_text(w, phrase_of(answer->status));
    put(w, "\r\n", 2);
    puts_text(w, http_loop_date_line(c->x.loop));
    if (server) {
        put(w, "Server: ", 8);
        puts_text(w, server);
        put(w, "\r\n", 2);
    }
    if (answer->content_type) {
        put(w, "Content-Type: ", 14);
        puts_text(w, answer->content_type);
        put(w, "\r\n", 2);
    }
    if (in_pieces && !c->is_http10) {
        puts_text(w, "Transfer-Encoding: chunked\r\n");
    } else if (content_length >= 0 && !has_no_body(answer->status)) {
        put(w, "Content-Length: ", 16);
        put_number(w, content_length);
        put(w, "\r\n", 2);
    }
    if (!put_fields(w, answer))
        return AS_E_INVALID;
    if (closes)
        puts_text(w, "Connection: close\r\n");
    else if (c->is_http10)
        puts_text(w, "Connection: keep-alive\r\n");
    put(w, "\r\n", 2);
    return w->is_full ? AS_E_LIMIT : AS_OK;
}

/* Makes the head and sends it with `body` behind it. */
static as_status send_head(struct http_connection *c, const struct http_answer *answer, int64_t content_length,
                           struct iovec body)
{
    char stack[STACK_BYTES];
    char *head = stack, *heap = NULL;
    struct writer w = {stack, stack + sizeof stack, false};
    as_status status = format_head(c, answer, content_length, &w);
    for (size_t size = STACK_BYTES * 4; status == AS_E_LIMIT && size <= HEAD_MAX_BYTES; size *= 4) {
        free(heap);
        head = heap = malloc(size);
        if (!heap)
            return AS_E_NOMEM;
        w = (struct writer){head, head + size, false};
        status = format_head(c, answer, content_length, &w);
    }
    if (status != AS_OK) {
        free(heap);
        return status == AS_E_LIMIT ? AS_E_INVALID : status;
    }
    size_t len = (size_t)(w.at - head);
    struct iovec parts[2] = {{head, len}, body};
    int count = body.iov_len ? 2 : 1;
    if (!heap && body.iov_len && body.iov_len <= sizeof stack - len) {
        memcpy(stack + len, body.iov_base, body.iov_len);
        parts[0].iov_len += body.iov_len;
        count = 1;
    }
    status = http_output_send(c, parts, count);
    free(heap);
    return status;
}

static as_status check_state(const struct http_connection *c, enum answer_state wanted)
{
    if (c->x.is_aborted || c->is_broken || c->wants_drop || c->fd < 0)
        return AS_E_NETWORK;
    return c->answer == wanted ? AS_OK : AS_E_STATE;
}

static void complete(struct http_connection *c)
{
    c->answer = ANSWER_COMPLETE;
    http_connection_ready(c);
}

as_status http_answer(struct http_exchange *x, const struct http_answer *answer, const void *body, size_t len)
{
    struct http_connection *c = x->connection;
    as_status status = check_state(c, ANSWER_NONE);
    if (status != AS_OK)
        return status;
    bool closes = must_close(c, answer);
    struct iovec part = {(void *)(uintptr_t)body, c->is_head_method || has_no_body(answer->status) ? 0 : len};
    status = send_head(c, answer, (int64_t)len, part);
    if (status == AS_OK) {
        c->keep_alive = !closes;
        complete(c);
    }
    return status;
}

as_status http_answer_text(struct http_exchange *x, int status, const char *text)
{
    struct http_answer answer = {.status = status, .content_type = "text/plain; charset=utf-8"};
    return http_answer(x, &answer, text, strlen(text));
}

as_status http_answer_begin(struct http_exchange *x, const struct http_answer *answer)
{
    struct http_connection *c = x->connection;
    as_status status = check_state(c, ANSWER_NONE);
    if (status != AS_OK)
        return status;
    bool has_body = !c->is_head_method && !has_no_body(answer->status);
    bool closes = must_close(c, answer) || (c->is_http10 && !has_no_body(answer->status));
    status = send_head(c, answer, -1, (struct iovec){NULL, 0});
    if (status == AS_OK) {
        c->keep_alive = !closes;
        c->is_chunked_answer = has_body && !c->is_http10;
        c->drops_pieces = !has_body;
        c->answer = ANSWER_BEGUN;
    }
    return status;
}

/* The size line of a chunk: at most 18 bytes. */
static size_t put_chunk_size(char *ret, size_t size)
{
    static const char DIGITS[] = "0123456789abcdef";
    char reversed[16];
    size_t count = 0, len = 0;
    for (; size || !count; size >>= 4)
        reversed[count++] = DIGITS[size & 15];
    while (count)
        ret[len++] = reversed[--count];
    ret[len++] = '\r';
    ret[len++] = '\n';
    return len;
}

/* Sends parts[1] … parts[count - 2] as one chunk; the first and last part are filled here. */
static as_status send_piece(struct http_connection *c, struct iovec *parts, int count)
{
    char line[20];
    size_t len = 0;
    for (int i = 1; i < count - 1; i++)
        len += parts[i].iov_len;
    if (c->drops_pieces || !len)
        return AS_OK;
    if (!c->is_chunked_answer)
        return http_output_send(c, parts + 1, count - 2);
    parts[0] = (struct iovec){line, put_chunk_size(line, len)};
    parts[count - 1] = (struct iovec){(void *)(uintptr_t) "\r\n", 2};
    as_status status = http_output_send(c, parts, count);
    parts[0] = (struct iovec){NULL, 0};
    return status;
}

as_status http_answer_piece(struct http_exchange *x, const void *data, size_t len)
{
    as_status status = check_state(x->connection, ANSWER_BEGUN);
    struct iovec parts[3] = {{NULL, 0}, {(void *)(uintptr_t)data, len}, {NULL, 0}};
    return status == AS_OK ? send_piece(x->connection, parts, 3) : status;
}

/* Data of several lines: each one becomes a data line. */
static as_status send_lines(struct http_connection *c, const char *name, const char *data, size_t len)
{
    struct buffer text = {0};
    const char *end = data + len;
    bool fits = !name || (buffer_append(&text, "event: ", 7) && buffer_append(&text, name, strlen(name)) &&
                          buffer_append(&text, "\n", 1));
    for (const char *at = data; fits && at <= end;) {
        size_t line = 0;
        while (at + line < end && at[line] != '\n' && at[line] != '\r')
            line++;
        fits = buffer_append(&text, "data: ", 6) && buffer_append(&text, at, line) && buffer_append(&text, "\n", 1);
        at += line;
        at += at + 1 < end && at[0] == '\r' && at[1] == '\n' ? 2 : 1;
    }
    fits = fits && buffer_append(&text, "\n", 1);
    struct iovec parts[3] = {{NULL, 0}, {text.data, text.len}, {NULL, 0}};
    as_status status = fits ? send_piece(c, parts, 3) : AS_E_NOMEM;
    buffer_free(&text);
    return status;
}

as_status http_answer_event(struct http_exchange *x, const char *name, const char *data, size_t len)
{
    struct http_connection *c = x->connection;
    as_status status = check_state(c, ANSWER_BEGUN);
    if (status != AS_OK)
        return status;
    if (name && strpbrk(name, "\r\n"))
        return AS_E_INVALID;
    if (len && (memchr(data, '\n', len) || memchr(data, '\r', len)))
        return send_lines(c, name, data, len);
    size_t name_len = name ? strlen(name) : 0;
    struct iovec parts[8] = {{NULL, 0},
                             {(void *)(uintptr_t) "event: ", name ? 7u : 0u},
                             {(void *)(uintptr_t)name, name_len},
                             {(void *)(uintptr_t)(name ? "\ndata: " : "data: "), name ? 7u : 6u},
                             {(void *)(uintptr_t)data, len},
                             {(void *)(uintptr_t) "\n\n", 2},
                             {NULL, 0}};
    return send_piece(c, parts, 7);
}

as_status http_answer_end(struct http_exchange *x)
{
    struct http_connection *c = x->connection;
    as_status status = check_state(c, ANSWER_BEGUN);
    if (status != AS_OK)
        return status;
    struct iovec last = {(void *)(uintptr_t) "0\r\n\r\n", 5};
    if (c->is_chunked_answer)
        status = http_output_send(c, &last, 1);
    if (status == AS_OK)
        complete(c);
    return status;
}

void http_answer_refusal(struct http_connection *c, int status, const char *sentence)
{
    char text[256];
    int len = snprintf(text, sizeof text, "%s\n", sentence);
    struct http_answer answer = {.status = status, .content_type = "text/plain; charset=utf-8", .close = true};
    struct iovec body = {text, (size_t)len};
    c->keep_alive = false;
    if (send_head(c, &answer, len, body) != AS_OK)
        http_connection_break(c);
    c->answer = ANSWER_COMPLETE;
}
