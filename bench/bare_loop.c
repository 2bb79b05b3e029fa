/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference of the client benchmarks: the least that any HTTP client on epoll must do. It sends one fixed request,
 * reads with recv into one buffer and looks at nothing but how many bytes came. The length of an answer is learned
 * from the first one (all answers of a run have the same length). No parsing, stamps, records, timeouts. A request that
 * the socket does not take at once goes on when it is writable again.
 *
 *   bare_loop PORT CONNECTIONS REQUESTS BODY-FILE [PATH]
 *
 * Prints one JSON line: {"requests":…,"bytes":…,"reads":…,"writes":…,"wall_ns":…,"cpu_ns":…}.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 * 1024)
#define EVENTS_PER_WAIT 512

struct conn {
    int fd;
    int64_t got_bytes; /* of the current answer */
    size_t sent_bytes; /* of the current request */
    bool wants_out;
};

struct bare {
    struct sockaddr_in address;
    char *request;
    size_t request_bytes;
    int64_t answer_bytes; /* -1 = not learned yet */
    int64_t to_start, to_finish;
    int64_t bytes, reads, writes;
    int epoll;
    char buffer[READ_BYTES];
};

static int64_t now_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int connect_to(const struct bare *bare)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd < 0 || connect(fd, (const struct sockaddr *)&bare->address, sizeof bare->address) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* Waits for a socket that is full. */
static void send_whole(const struct bare *bare, int fd)
{
    for (size_t sent = 0; sent < bare->request_bytes;) {
        ssize_t n = send(fd, bare->request + sent, bare->request_bytes - sent, MSG_NOSIGNAL);
        if (n < 0)
            die("send");
        sent += (size_t)n;
    }
}

static void send_more(struct bare *bare, struct conn *conn)
{
    size_t left = bare->request_bytes - conn->sent_bytes;
    ssize_t n = send(conn->fd, bare->request + conn->sent_bytes, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN)
        die("send");
    conn->sent_bytes += n > 0 ? (size_t)n : 0;
    bare->writes++;
    bool wants_out = conn->sent_bytes < bare->request_bytes;
    if (wants_out == conn->wants_out)
        return;
    conn->wants_out = wants_out;
    struct epoll_event want = {.events = wants_out ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = conn};
    epoll_ctl(bare->epoll, EPOLL_CTL_MOD, conn->fd, &want);
}

/* One exchange up to a quiet half second: how long is an answer? */
static int64_t learn_answer_bytes(struct bare *bare)
{
    int fd = connect_to(bare);
    struct timeval quiet = {.tv_usec = 500000}; /* after the first byte */
    int64_t total = 0;
    send_whole(bare, fd);
    for (;;) {
        ssize_t got = recv(fd, bare->buffer, READ_BYTES, 0);
        if (got <= 0)
            break;
        total += got;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet);
    }
    close(fd);
    if (total == 0)
        die("no answer");
    return total;
}

static void start_next(struct bare *bare, struct conn *conn)
{
    if (bare->to_start == 0)
        return;
    bare->to_start--;
    conn->got_bytes = 0;
    conn->sent_bytes = 0;
    send_more(bare, conn);
}

static void readable(struct bare *bare, struct conn *conn)
{
    ssize_t got = recv(conn->fd, bare->buffer, READ_BYTES, 0);
    if (got <= 0) {
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        die("recv");
    }
    bare->reads++;
    bare->bytes += got;
    conn->got_bytes += got;
    if (conn->got_bytes >= bare->answer_bytes) {
        bare->to_finish--;
        start_next(bare, conn);
    }
}

static void run(struct bare *bare, struct conn *conns, int count)
{
    bare->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < count; i++) {
        conns[i].fd = connect_to(bare);
        struct epoll_event want = {.events = EPOLLIN, .data.ptr = &conns[i]};
        epoll_ctl(bare->epoll, EPOLL_CTL_ADD, conns[i].fd, &want);
    }
    for (int i = 0; i < count; i++)
        start_next(bare, &conns[i]);
    struct epoll_event events[EVENTS_PER_WAIT];
    while (bare->to_finish > 0) {
        int n = epoll_wait(bare->epoll, events, EVENTS_PER_WAIT, -1);
        for (int i = 0; i < n; i++) {
            struct conn *conn = events[i].data.ptr;
            if (events[i].events & EPOLLOUT)
                send_more(bare, conn);
            if (events[i].events & ~(uint32_t)EPOLLOUT)
                readable(bare, conn);
        }
    }
}

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path);
    if (fseek(file, 0, SEEK_END) != 0)
        die(path);
    long size = ftell(file);
    rewind(file);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    *ret_len = text ? fread(text, 1, (size_t)size, file) : 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: bare_loop PORT CONNECTIONS REQUESTS BODY-FILE [PATH]\n", stderr);
        return 2;
    }
    static struct bare bare;
    bare.address = (struct sockaddr_in){.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)strtol(argv[1], NULL, 10)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int count = (int)strtol(argv[2], NULL, 10);
    bare.to_start = bare.to_finish = strtoll(argv[3], NULL, 10);
    size_t body_bytes;
    char *body = read_file(argv[4], &body_bytes);
    bare.request = malloc(body_bytes + 512);
    struct conn *conns = calloc((size_t)count, sizeof *conns);
    if (!body || !bare.request || !conns)
        die("malloc");
    int head = snprintf(bare.request, 512,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        argc > 5 ? argv[5] : "/v1/chat/completions", body_bytes);
    memcpy(bare.request + head, body, body_bytes);
    bare.request_bytes = (size_t)head + body_bytes;
    bare.answer_bytes = learn_answer_bytes(&bare);
    int64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall = now_ns(CLOCK_MONOTONIC);
    run(&bare, conns, count);
    printf("{\"requests\":%s,\"bytes\":%lld,\"reads\":%lld,\"writes\":%lld,\"wall_ns\":%lld,\"cpu_ns\":%lld}\n", argv[3],
           (long long)bare.bytes, (long long)bare.reads, (long long)bare.writes, (long long)(now_ns(CLOCK_MONOTONIC) - wall),
           (long long)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu));
    return 0;
}
