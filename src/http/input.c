/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_internal.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Reserved at once for a body that announces its length; more only as it comes. */
#define BODY_RESERVE_BYTES ((int64_t)1024 * 1024)

enum { RECEIVED_NOTHING = 0, RECEIVED_END = -1, RECEIVED_ERROR = -2 };

void http_input_refuse(struct http_connection *c, int status, const char *sentence)
{
    counter_add(&c->x.loop->counters.refused, 1);
    if (c->answer != ANSWER_NONE) {
        http_connection_break(c);
        return;
    }
    http_answer_refusal(c, status, sentence);
    if (c->is_shown)
        c->x.is_aborted = true;
    http_connection_ready(c);
}

/* True when the handler (or the server) has decided the fate of the exchange: its body is not read any more. */
static bool is_decided(const struct http_connection *c)
{
    return c->answer != ANSWER_NONE || c->wants_drop || c->is_broken || c->x.is_aborted;
}

/* ---- requests ---- */

static const struct http_handler *handler_of(const struct http_connection *c)
{
    return c->x.loop->server->options.handler;
}

static void *context_of(const struct http_connection *c)
{
    return c->x.loop->server->options.context;
}

static void forget_request(struct http_connection *c)
{
    if (c->x.loop->request_owner == c)
        c->x.loop->request_owner = NULL;
    free(c->head);
    c->head = NULL;
    c->head_len = 0;
    buffer_free(&c->body);
}

/* Makes x.request valid for a callback; the kept head is read again when another request was read in between. */
static void open_request(struct http_connection *c)
{
    struct http_loop *loop = c->x.loop;
    struct http_refusal refusal;
    if (c->head && loop->request_owner != c) {
        if (http_request_parse(c->head, c->head_len, &loop->request, &refusal))
            loop->request_owner = c;
    }
    c->x.request = &loop->request;
}

static void deliver(struct http_connection *c, const char *body, size_t len)
{
    c->input = INPUT_DONE;
    c->is_shown = true;
    c->x.received = mono_now();
    c->x.loop->now_ns = c->x.received.ns;
    open_request(c);
    if (!c->x.stream_body) {
        c->x.body = len ? body : "";
        c->x.body_len = len;
    }
    handler_of(c)->on_request(context_of(c), &c->x);
    c->x.request = NULL;
    c->x.body = NULL;
    forget_request(c);
}

/* Takes a piece of the body. False: the rest is of no interest. */
static bool take_piece(struct http_connection *c, const char *at, size_t len)
{
    size_t had = c->x.stream_body ? c->x.body_len : c->body.len;
    if (len > c->x.max_body_bytes || had > c->x.max_body_bytes - len) {
        http_input_refuse(c, 413, "the request body is too large");
        return false;
    }
    c->body_step += (int64_t)len;
    if (c->x.stream_body) {
        c->x.body_len += len;
        c->is_shown = true;
        open_request(c);
        handler_of(c)->on_body(context_of(c), &c->x, at, len);
        c->x.request = NULL;
        return !is_decided(c);
    }
    if (!buffer_append(&c->body, at, len)) {
        http_input_refuse(c, 503, "the server is out of memory");
        return false;
    }
    return true;
}

static const char *take_length_body(struct http_connection *c, const char *at, const char *end)
{
    size_t len = end - at < c->left ? (size_t)(end - at) : (size_t)c->left;
    if (!take_piece(c, at, len))
        return end;
    c->left -= (int64_t)len;
    if (c->left == 0)
        deliver(c, c->body.data, c->body.len);
    return at + len;
}

static const char *take_chunked_body(struct http_connection *c, const char *at, const char *end)
{
    const char *span;
    size_t len;
    for (;;) {
        switch (http_chunked_next(&c->chunks, &at, end, &span, &len)) {
        case HTTP_SPAN:
            if (!take_piece(c, span, len))
                return end;
            break;
        case HTTP_END:
            deliver(c, c->body.data, c->body.len);
            return at;
        case HTTP_BAD:
            http_input_refuse(c, 400, c->chunks.error);
            return end;
        default:
            return at;
        }
    }
}

static const char *take_body(struct http_connection *c, const char *at, const char *end)
{
    at = c->has_chunks ? take_chunked_body(c, at, end) : take_length_body(c, at, end);
    if (c->input == INPUT_BODY && c->body_step >= BODY_STEP_BYTES) {
        c->body_step = 0;
        http_connection_watch(c, true);
    }
    return at;
}

/* A body that lies whole behind the head, in the bytes of one read. */
static void take_whole_body(struct http_connection *c, const char *at, size_t len)
{
    if (len > c->x.max_body_bytes)
        http_input_refuse(c, 413, "the request body is too large");
    else if (!c->x.stream_body)
        deliver(c, at, len);
    else if (take_piece(c, at, len))
        deliver(c, NULL, 0);
}

/* The body comes later, or in several reads: what is needed then is kept. */
static bool keep_request(struct http_connection *c, const char *head, size_t len)
{
    c->head = malloc(len);
    if (!c->head)
        return false;
    memcpy(c->head, head, len);
    c->head_len = len;
    c->x.loop->request_owner = NULL; /* the texts in loop->request point into the read buffer */
    open_request(c);
    c->x.request = NULL;
    return true;
}

static void expect_body(struct http_connection *c, bool is_silent)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const struct http_request *request = &c->x.loop->request;
    int64_t length = request->content_length;
    if (length > 0 && (uint64_t)length > c->x.max_body_bytes) {
        http_input_refuse(c, 413, "the request body is too large");
        return;
    }
    int64_t reserve = length < BODY_RESERVE_BYTES ? length : BODY_RESERVE_BYTES;
    if (!c->x.stream_body && reserve > 0 && !buffer_reserve(&c->body, (size_t)reserve)) {
        http_input_refuse(c, 503, "the server is out of memory");
        return;
    }
    if (request->expects_continue && is_silent) {
        struct iovec part = {(void *)(uintptr_t)interim, sizeof interim - 1};
        (void)!http_output_send(c, &part, 1); /* a failure breaks the connection */
    }
}

static void start_exchange(struct http_connection *c, size_t body_fed)
{
    const struct http_request *request = &c->x.loop->request;
    bool is_tls = c->ssl != NULL;
    c->x = (struct http_exchange){.loop = c->x.loop,
                                  .connection = c,
                                  .is_tls = is_tls,
                                  .max_body_bytes = c->x.loop->server->options.max_body_bytes};
    c->keep_alive = request->keep_alive;
    c->is_asked_to_close = !request->keep_alive;
    c->is_head_method = request->method == HTTP_HEAD_METHOD;
    c->is_http10 = request->minor == 0;
    c->has_body = request->chunked || request->content_length > 0;
    c->left = request->content_length;
    c->body_is_here = !c->has_body || (!request->chunked && (uint64_t)request->content_length <= body_fed);
    c->body_step = 0;
    c->has_chunks = request->chunked;
    http_chunked_init(&c->chunks, true);
    c->input = c->has_body ? INPUT_BODY : INPUT_DONE;
    counter_add(&c->x.loop->counters.requests, 1);
}

static void show_head(struct http_connection *c)
{
    if (!handler_of(c)->on_head)
        return;
    c->is_shown = true;
    c->x.request = &c->x.loop->request;
    handler_of(c)->on_head(context_of(c), &c->x);
    c->x.request = NULL;
}

/* A head was read into loop->request; its body, if any, begins at head + len. Returns where reading goes on. */
static const char *take_exchange(struct http_connection *c, const char *head, size_t len, const char *end)
{
    const char *body = head + len;
    start_exchange(c, (size_t)(end - body));
    size_t whole = c->has_body && c->body_is_here ? (size_t)c->left : 0;
    if (!c->body_is_here && !keep_request(c, head, len)) {
        http_input_refuse(c, 503, "the server is out of memory");
        return end;
    }
    show_head(c);
    if (is_decided(c)) {
        if (c->body_is_here)
            c->input = INPUT_DONE;
        return body + whole;
    }
    if (!c->has_body)
        deliver(c, NULL, 0);
    else if (c->body_is_here)
        take_whole_body(c, body, whole);
    else
        expect_body(c, body == end);
    if (c->body_is_here && c->input == INPUT_BODY)
        c->input = INPUT_DONE; /* refused or answered in on_body: the body was here all the same */
    return body + whole;
}

/* ---- bytes ---- */

/* The answer to a head that passes the limit. */
static const char *refuse_long_head(struct http_connection *c, const char *at, size_t limit, const char *end)
{
    size_t seen = (size_t)(end - at) < limit ? (size_t)(end - at) : limit;
    if (memchr(at, '\n', seen))
        http_input_refuse(c, 431, "the request head is too large");
    else
        http_input_refuse(c, 414, "the request line is too long");
    return end;
}

/* Takes a request head; NULL when it is not complete. */
static const char *take_head(struct http_connection *c, const char *at, const char *end)
{
    struct http_loop *loop = c->x.loop;
    size_t limit = loop->server->options.max_head_bytes;
    if (!c->has_blank && *at == '\r') {
        if (end - at < 2)
            return NULL;
        if (at[1] == '\n') {
            c->has_blank = true; /* RFC 9112 2.2: one is ignored */
            return at + 2;
        }
    }
    if (!http_is_token_char((unsigned char)*at)) {
        http_input_refuse(c, 400, "this is no HTTP request");
        return end;
    }
    size_t fed = (size_t)(end - at);
    size_t len = http_request_head_length(at, fed, c->head_seen < fed ? c->head_seen : 0);
    if (len > limit || (!len && fed > limit))
        return refuse_long_head(c, at, limit, end);
    c->head_seen = len ? 0 : fed;
    if (!len)
        return NULL;
    struct http_refusal refusal;
    loop->request_owner = NULL;
    if (!http_request_parse(at, len, &loop->request, &refusal)) {
        http_input_refuse(c, refusal.status, refusal.sentence);
        return end;
    }
    return take_exchange(c, at, len, end);
}

/* Uses bytes up to the end of a request; returns the first one that must wait. */
static const char *consume(struct http_connection *c, const char *at, const char *end)
{
    while (at < end && !c->is_broken) {
        const char *next = at;
        if (c->input == INPUT_DONE)
            return at;
        if (c->input == INPUT_LINGER || c->input == INPUT_CLOSED || is_decided(c)) {
            c->dropped_bytes += (uint64_t)(end - at);
            return end;
        }
        next = c->input == INPUT_HEAD ? take_head(c, at, end) : take_body(c, at, end);
        if (!next)
            return at;
        at = next;
    }
    return c->is_broken ? end : at;
}

static void consume_kept(struct http_connection *c)
{
    const char *at = c->in.data + c->in.start;
    const char *rest = consume(c, at, at + c->in.len);
    buffer_skip(&c->in, (size_t)(rest - at));
    if (!c->in.len)
        buffer_free(&c->in);
}

static void take_bytes(struct http_connection *c, const char *at, size_t len)
{
    const char *end = at + len;
    counter_add(&c->x.loop->counters.bytes_read, len);
    if (!c->in.len)
        at = consume(c, at, end);
    if (at == end)
        return;
    bool had_bytes = c->in.len > 0;
    if (!buffer_append(&c->in, at, (size_t)(end - at)))
        http_connection_break(c);
    else if (had_bytes && c->input != INPUT_DONE)
        consume_kept(c);
}

void http_input_go_on(struct http_connection *c)
{
    if (c->in.len)
        consume_kept(c);
    if (!c->reads && !c->closes_input)
        http_connection_register(c, true, c->writes);
    if (c->ssl && SSL_has_pending(c->ssl))
        http_input_read(c, false);
}

/* ---- sockets ---- */

static int tls_result(struct http_connection *c, int result)
{
    int error = SSL_get_error(c->ssl, result);
    bool wants_write = error == SSL_ERROR_WANT_WRITE;
    ERR_clear_error();
    if (wants_write != c->tls_wants_write) {
        c->tls_wants_write = wants_write;
        http_connection_register(c, c->reads, wants_write || c->out.len);
    }
    if (error == SSL_ERROR_WANT_READ || wants_write)
        return RECEIVED_NOTHING;
    return error == SSL_ERROR_ZERO_RETURN ? RECEIVED_END : RECEIVED_ERROR;
}

static int receive(struct http_connection *c, char *buffer, size_t size)
{
    if (c->ssl) {
        ERR_clear_error();
        int got = SSL_read(c->ssl, buffer, (int)size);
        return got > 0 ? got : tls_result(c, got);
    }
    ssize_t got;
    do {
        got = recv(c->fd, buffer, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got > 0)
        return (int)got;
    if (got == 0)
        return RECEIVED_END;
    return errno == EAGAIN || errno == EWOULDBLOCK ? RECEIVED_NOTHING : RECEIVED_ERROR;
}

/* False: it failed, or goes on later. */
static bool shake_hands(struct http_connection *c)
{
    ERR_clear_error();
    int result = SSL_do_handshake(c->ssl);
    if (result == 1) {
        c->input = INPUT_HEAD;
        if (c->tls_wants_write) {
            c->tls_wants_write = false;
            http_connection_register(c, true, false);
        }
        return true;
    }
    if (tls_result(c, result) != RECEIVED_NOTHING)
        http_connection_break(c);
    return false;
}

/* Too much came ahead of the request in hand: nothing is read until it is answered. */
static bool is_full(const struct http_connection *c)
{
    return c->input == INPUT_DONE && c->in.len >= INPUT_AHEAD_BYTES;
}

void http_input_read(struct http_connection *c, bool until_end)
{
    char *buffer = c->x.loop->buffer;
    if (c->input == INPUT_HANDSHAKE && !shake_hands(c))
        return;
    while (!c->is_broken && c->fd >= 0 && !c->closes_input) {
        if (is_full(c)) {
            http_connection_register(c, false, c->writes);
            if (until_end)
                http_connection_peer_closed(c);
            return;
        }
        int got = receive(c, buffer, LOOP_READ_BYTES);
        if (got == RECEIVED_END)
            http_connection_peer_closed(c);
        else if (got == RECEIVED_ERROR)
            http_connection_break(c);
        if (got <= 0)
            return;
        take_bytes(c, buffer, (size_t)got);
        if (!c->ssl && !until_end)
            return;
    }
}
