/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of benchmarks that send much: takes requests with a Content-Length on a port of 127.0.0.1, throws their
 * bodies away without copying them (MSG_TRUNC), answers each with the same short chat completion. One thread.
 *
 *   sink
 *
 * Prints its URL, then serves until it is killed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_BYTES      4096
#define DISCARD_BYTES   ((size_t)1024 * 1024)
#define EVENTS_PER_WAIT 512
#define ANSWER                                                                                                         \
    "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"sim-model\",\"choices\":[{\"index\":0,"    \
    "\"message\":{\"role\":\"assistant\",\"content\":\"A harbour.\"},\"finish_reason\":\"stop\"}],\"usage\":"          \
    "{\"prompt_tokens\":300,\"completion_tokens\":2,\"total_tokens\":302}}"

struct conn {
    int fd;
    size_t head_bytes;
    int64_t left; /* of the body; -1 = inside the head */
    char head[HEAD_BYTES];
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void answer(const struct conn *conn)
{
    char text[1024];
    int len = snprintf(text, sizeof text,
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                       sizeof ANSWER - 1, ANSWER);
    if (send(conn->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        die("send");
}

/* What is left of the body, once the head is whole. */
static void take_head(struct conn *conn)
{
    conn->head[conn->head_bytes] = '\0';
    const char *end = strstr(conn->head, "\r\n\r\n"), *length = strcasestr(conn->head, "\r\ncontent-length:");
    if (!end)
        return;
    conn->left = length ? strtoll(length + 17, NULL, 10) : 0;
    conn->left -= (int64_t)(conn->head_bytes - (size_t)(end + 4 - conn->head));
    conn->head_bytes = 0;
}

/* False when the connection has ended. */
static int readable(struct conn *conn)
{
    for (;;) {
        ssize_t got;
        if (conn->left < 0)
            got = recv(conn->fd, conn->head + conn->head_bytes, HEAD_BYTES - 1 - conn->head_bytes, 0);
        else
            got = recv(conn->fd, NULL, conn->left < (int64_t)DISCARD_BYTES ? (size_t)conn->left : DISCARD_BYTES,
                       MSG_TRUNC);
        if (got <= 0)
            return got < 0 && errno == EAGAIN;
        if (conn->left >= 0) {
            conn->left -= got;
        } else {
            conn->head_bytes += (size_t)got;
            take_head(conn);
        }
        if (conn->left == 0) {
            answer(conn);
            conn->left = -1;
        }
    }
}

static void take_connection(int epoll, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
    struct conn *conn = calloc(1, sizeof *conn);
    if (fd < 0 || !conn)
        die("accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    conn->fd = fd;
    conn->left = -1;
    struct epoll_event want = {.events = EPOLLIN, .data.ptr = conn};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &want);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), epoll = epoll_create1(EPOLL_CLOEXEC);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        die("listen");
    struct epoll_event events[EVENTS_PER_WAIT], want = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &want);
    printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int n = epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
        for (int i = 0; i < n; i++) {
            struct conn *conn = events[i].data.ptr;
            if (!conn) {
                take_connection(epoll, listener);
            } else if (!readable(conn)) {
                close(conn->fd);
                free(conn);
            }
        }
    }
}
