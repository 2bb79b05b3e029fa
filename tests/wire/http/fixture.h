/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TEST_WIRE_HTTP_FIXTURE_H
#define ASSAY_TEST_WIRE_HTTP_FIXTURE_H

/*
 * A server of http/server.h in a thread of the test, and raw client sockets. Every wait has a deadline of WAIT_MS,
 * after which the test fails; nothing sleeps.
 */

#include "base/strbuf.h"
#include "http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#define WAIT_MS 10000

/* An assertion for the server's thread, where cmocka cannot jump back. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct fixture {
    struct http_server *server;
    pthread_t thread;
    as_status result;
};

static inline void *fixture_thread(void *arg)
{
    struct fixture *fixture = arg;
    fixture->result = http_server_run(fixture->server, NULL);
    return NULL;
}

static inline void fixture_start(struct fixture *fixture, const struct http_server_options *options,
                                 const struct http_listener *listener)
{
    struct as_error err;
    struct http_listener any = {0};
    if (http_server_new(options, &fixture->server, &err) != AS_OK ||
        http_server_listen(fixture->server, listener ? listener : &any, &err) != AS_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pthread_create(&fixture->thread, NULL, fixture_thread, fixture), 0);
}

static inline void fixture_stop(struct fixture *fixture)
{
    http_server_stop(fixture->server, 0);
    assert_int_equal(pthread_join(fixture->thread, NULL), 0);
    assert_int_equal(fixture->result, AS_OK);
    struct http_server_counters counters;
    http_server_counters(fixture->server, &counters);
    assert_int_equal(counters.connections, 0);
    http_server_free(fixture->server);
}

static inline int client_connect_port(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static inline int client_connect(const struct fixture *fixture)
{
    return client_connect_port(http_server_port(fixture->server, 0));
}

static inline void client_send_bytes(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
        assert_true(sent > 0);
        text += sent;
        len -= (size_t)sent;
    }
}

static inline void client_send(int fd, const char *text)
{
    client_send_bytes(fd, text, strlen(text));
}

static inline void wait_readable(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    int ready;
    do {
        ready = poll(&poller, 1, WAIT_MS);
    } while (ready < 0 && errno == EINTR);
    if (ready != 1)
        fail_msg("nothing came within %d ms", WAIT_MS);
}

/* Appends what one read gives; 0 at the end, -1 after a reset. */
static inline ssize_t client_read(int fd, struct strbuf *text)
{
    char bytes[4096];
    wait_readable(fd);
    ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got > 0)
        strbuf_add(text, bytes, (size_t)got);
    return got;
}

/* Reads until `end` is in the text; fails when the peer closes before. Removes the text up to and with it. */
static inline void client_expect(int fd, struct strbuf *text, const char *end)
{
    for (;;) {
        char *found = text->len ? memmem(text->data, text->len, end, strlen(end)) : NULL;
        if (found) {
            size_t used = (size_t)(found - text->data) + strlen(end);
            memmove(text->data, text->data + used, text->len - used + 1);
            text->len -= used;
            return;
        }
        if (client_read(fd, text) <= 0)
            fail_msg("closed before \"%s\", after \"%s\"", end, strbuf_text(text));
    }
}

/* Reads to the end of the stream, which must be a FIN. */
static inline void client_read_all(int fd, struct strbuf *text)
{
    ssize_t got;
    while ((got = client_read(fd, text)) > 0)
        ;
    if (got < 0)
        fail_msg("reset after \"%s\"", strbuf_text(text));
}

static inline void wait_for(sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_MS / 1000;
    int result;
    do {
        result = sem_timedwait(semaphore, &until);
    } while (result != 0 && errno == EINTR);
    assert_int_equal(result, 0);
}

#endif
