/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WIRE_ENGINE_BUSY_SERVER_H
#define TESTS_WIRE_ENGINE_BUSY_SERVER_H

/*
 * A server on loopback for tests of the engine with real sockets: a thread a connection. The answer depends on the
 * request's number (x-assay-id) and the test's `answer` function; what arrived is counted by number. And a modality
 * that takes any answer.
 */

#include "engine/engine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define BUSY_CONNECTIONS_MAX 4096
#define BUSY_REQUESTS_MAX    20000

enum busy_answer {
    BUSY_JSON,   /* a small body */
    BUSY_STREAM, /* three events and [DONE], the last chunk apart */
    BUSY_503,
    BUSY_CLOSE, /* without an answer */
    BUSY_CUT,   /* inside a chunk */
    BUSY_RESET,
    BUSY_SILENT /* until the client gives up */
};

struct busy_server {
    int listen_fd;
    char url[64];
    enum busy_answer (*answer)(int64_t seq, int try);
    int64_t think_us; /* before each answer */
    pthread_t acceptor;
    pthread_t threads[BUSY_CONNECTIONS_MAX];
    _Atomic int accepted;
    _Atomic int now, peak;                  /* requests being answered */
    _Atomic int arrived[BUSY_REQUESTS_MAX]; /* by number */
    _Atomic bool is_stopped;
};

static struct busy_server busy;

struct busy_connection {
    int fd;
    char buffer[8192];
    size_t len;
};

static inline bool busy_fill(struct busy_connection *c)
{
    ssize_t got = recv(c->fd, c->buffer + c->len, sizeof c->buffer - 1 - c->len, 0);
    if (got <= 0)
        return false;
    c->len += (size_t)got;
    c->buffer[c->len] = '\0';
    return true;
}

/* Reads one request; its number, or -1 when the client closed. */
static inline int64_t busy_request(struct busy_connection *c)
{
    const char *end, *field;
    c->buffer[c->len] = '\0';
    while (!(end = strstr(c->buffer, "\r\n\r\n"))) {
        if (!busy_fill(c))
            return -1;
    }
    size_t head = (size_t)(end + 4 - c->buffer);
    field = strstr(c->buffer, "Content-Length: ");
    size_t body = field ? strtoul(field + 16, NULL, 10) : 0;
    field = strstr(c->buffer, "x-assay-id: ");
    /* x-assay-id: <run>-<seq>, the run without a hyphen */
    const char *hyphen = field ? strchr(field + 12, '-') : NULL;
    int64_t seq = hyphen ? strtoll(hyphen + 1, NULL, 10) : -1;
    while (c->len < head + body) {
        if (!busy_fill(c))
            return -1;
    }
    memmove(c->buffer, c->buffer + head + body, c->len - head - body);
    c->len -= head + body;
    return seq;
}

static inline void busy_send(int fd, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        text += sent;
        len -= (size_t)sent;
    }
}

#define BUSY_STREAM_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define BUSY_EVENT       "9\r\ndata: a\n\n\r\n"

/* False: the connection is over. */
static inline bool busy_reply(int fd, enum busy_answer answer)
{
    char byte;
    switch (answer) {
    case BUSY_JSON:
        busy_send(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
        return true;
    case BUSY_STREAM:
        busy_send(fd, BUSY_STREAM_HEAD);
        for (int i = 0; i < 3; i++)
            busy_send(fd, BUSY_EVENT);
        busy_send(fd, "e\r\ndata: [DONE]\n\n\r\n");
        busy_send(fd, "0\r\n\r\n");
        return true;
    case BUSY_503:
        busy_send(fd, "HTTP/1.1 503 Busy\r\nContent-Type: application/json\r\nRetry-After: 0\r\nContent-Length: "
                      "16\r\n\r\n{\"error\":\"busy\"}");
        return true;
    case BUSY_CUT:
        busy_send(fd, BUSY_STREAM_HEAD BUSY_EVENT "40\r\ndata: never whole");
        return false;
    case BUSY_RESET: {
        struct linger linger = {1, 0};
        busy_send(fd, BUSY_STREAM_HEAD BUSY_EVENT);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        return false;
    }
    case BUSY_SILENT:
        while (recv(fd, &byte, 1, 0) > 0) {
        }
        return false;
    case BUSY_CLOSE:
        return false;
    }
    return false;
}

static inline void *busy_connection_main(void *argument)
{
    struct busy_connection *c = argument;
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    int64_t seq;
    while ((seq = busy_request(c)) >= 0 && seq < BUSY_REQUESTS_MAX) {
        int try = atomic_fetch_add(&busy.arrived[seq], 1);
        int now = atomic_fetch_add(&busy.now, 1) + 1, peak = atomic_load(&busy.peak);
        while (now > peak && !atomic_compare_exchange_weak(&busy.peak, &peak, now)) {
        }
        if (busy.think_us)
            usleep((useconds_t)busy.think_us);
        enum busy_answer answer = busy.answer(seq, try);
        atomic_fetch_sub(&busy.now, 1);
        if (!busy_reply(c->fd, answer))
            break;
    }
    close(c->fd);
    free(c);
    return NULL;
}

static inline void *busy_accept_main(void *argument)
{
    (void)argument;
    for (;;) {
        int fd = accept(busy.listen_fd, NULL, NULL);
        if (fd < 0 || atomic_load(&busy.is_stopped))
            return NULL;
        struct busy_connection *c = calloc(1, sizeof *c);
        int index = atomic_load(&busy.accepted);
        if (!c || index == BUSY_CONNECTIONS_MAX)
            abort();
        c->fd = fd;
        if (pthread_create(&busy.threads[index], NULL, busy_connection_main, c) != 0)
            abort();
        atomic_store(&busy.accepted, index + 1);
    }
}

static inline void busy_start(enum busy_answer (*answer)(int64_t seq, int try), int64_t think_us)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    memset(&busy, 0, sizeof busy);
    busy.answer = answer;
    busy.think_us = think_us;
    busy.listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(busy.listen_fd >= 0);
    assert_int_equal(bind(busy.listen_fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(busy.listen_fd, 4096), 0);
    assert_int_equal(getsockname(busy.listen_fd, (struct sockaddr *)&at, &len), 0);
    snprintf(busy.url, sizeof busy.url, "http://127.0.0.1:%u", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&busy.acceptor, NULL, busy_accept_main, NULL), 0);
}

/* All clients have closed their connections. */
static inline void busy_stop(void)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    atomic_store(&busy.is_stopped, true);
    assert_int_equal(getsockname(busy.listen_fd, (struct sockaddr *)&at, &len), 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    pthread_join(busy.acceptor, NULL);
    close(fd);
    close(busy.listen_fd);
    for (int i = 0; i < busy.accepted; i++)
        pthread_join(busy.threads[i], NULL);
}

/* ---- a modality and a sink ---- */

struct any_answer {
    int64_t events, chunks_in_read;
    bool is_done;
};

static inline as_status any_build(void *context, void *answer, int64_t seq, struct payload *ret, struct as_error *err)
{
    static char body[] = "{\"prompt\":\"x\"}";
    (void)answer, (void)seq, (void)err;
    ret->path = "/chat/completions";
    ret->content_type = "application/json";
    ret->accept = "text/event-stream";
    ret->parts[0] = (struct iovec){body, sizeof body - 1};
    ret->part_count = 1;
    ret->expects_stream = *(const bool *)context;
    return AS_OK;
}

static inline void any_begin(void *context, void *answer, const struct http_response_head *head, bool is_stream)
{
    (void)context, (void)head, (void)is_stream;
    memset(answer, 0, sizeof(struct any_answer));
}

static inline bool any_event(void *context, void *answer, const struct sse_event *event, const struct arrival *arrival)
{
    struct any_answer *a = answer;
    (void)context, (void)arrival;
    a->is_done = event->len == 6 && memcmp(event->data, "[DONE]", 6) == 0;
    a->events += !a->is_done;
    return a->is_done;
}

static inline void any_body(void *context, void *answer, const char *data, size_t len, const struct arrival *arrival)
{
    (void)context, (void)answer, (void)data, (void)len, (void)arrival;
}

static inline void any_end(void *context, void *answer, const struct answer_close *close, const struct sse_reader *sse,
                           struct request_record *record)
{
    const struct any_answer *a = answer;
    (void)context, (void)close, (void)sse;
    record->events = a->events;
    record->done_seen = a->is_done;
}

static const struct modality any_modality = {
    "any", sizeof(struct any_answer), 1 << 20, any_build, any_begin, any_event, any_body, NULL, any_end, NULL};

#define KEPT_THREADS_MAX 8

/* Records by number; each slot is written by one thread once. */
static struct request_record kept[BUSY_REQUESTS_MAX];
static _Atomic int kept_times[BUSY_REQUESTS_MAX];
static _Atomic int kept_threads[KEPT_THREADS_MAX];

static inline void keep(void *context, uint32_t thread, const struct request_record *record)
{
    (void)context;
    kept[record->seq] = *record;
    atomic_fetch_add(&kept_times[record->seq], 1);
    atomic_fetch_add(&kept_threads[thread], 1);
}

#endif
