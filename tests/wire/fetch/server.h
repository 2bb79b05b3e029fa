/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_WIRE_FETCH_SERVER_H
#define ASSAY_TESTS_WIRE_FETCH_SERVER_H

/* A server on loopback that answers with fixed bytes and keeps what it was sent. */

#include "support/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWERS_MAX 8
#define SEEN_BYTES  65536

/* Answers one connection after the other with the next of its answers; an answer of NULL holds the connection open. */
struct server {
    int listener;
    uint16_t port;
    pthread_t thread;
    const char *answers[ANSWERS_MAX];
    size_t answer_count;
    char seen[ANSWERS_MAX][SEEN_BYTES]; /* the requests */
    size_t connections;
};

/* Reads a request: its head, and as many bytes more as Content-Length says. */
static inline void read_request(int fd, char *seen)
{
    size_t len = 0, want = SIZE_MAX;
    while (len < want && len < SEEN_BYTES - 1) {
        ssize_t got = recv(fd, seen + len, SEEN_BYTES - 1 - len, 0);
        if (got <= 0)
            break;
        len += (size_t)got;
        seen[len] = '\0';
        const char *head_end = strstr(seen, "\r\n\r\n");
        const char *length = strcasestr(seen, "content-length:");
        if (head_end && want == SIZE_MAX)
            want = (size_t)(head_end + 4 - seen) + (length && length < head_end ? strtoul(length + 15, NULL, 10) : 0);
    }
}

static inline void *serve(void *context)
{
    struct server *server = context;
    char byte;
    for (size_t i = 0; i < server->answer_count; i++) {
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0)
            break;
        server->connections++;
        read_request(fd, server->seen[i]);
        if (server->answers[i])
            (void)!send(fd, server->answers[i], strlen(server->answers[i]), MSG_NOSIGNAL);
        else
            (void)!recv(fd, &byte, 1, 0);
        close(fd);
    }
    return NULL;
}

static inline void server_listen(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    *server = (struct server){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_true(server->listener >= 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(server->listener, 8), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &len), 0);
    server->port = ntohs(address.sin_port);
}

static inline void server_start(struct server *server)
{
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static inline void server_stop(struct server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
}

static inline const char *url_of(const struct server *server, const char *path, char ret[256])
{
    snprintf(ret, 256, "http://127.0.0.1:%u%s", server->port, path);
    return ret;
}

static inline void add_answer(struct server *server, const char *answer)
{
    server->answers[server->answer_count++] = answer;
}

#define ANSWER_OK "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"

#endif
