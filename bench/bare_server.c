/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fastest server that the client benchmarks can have on one core: it sends the bytes of a file for every request head
 * it sees and looks at nothing else. A request must come in one read, as small ones do on loopback.
 *
 *   bare_server ANSWER-FILE
 *
 * Prints http://127.0.0.1:PORT as its first line and serves until it is killed.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)64 * 1024)
#define EVENTS_PER_WAIT 512

static char received[BUFFER_BYTES], answer[BUFFER_BYTES];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static size_t read_answer(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path);
    size_t len = fread(answer, 1, sizeof answer, file);
    fclose(file);
    return len;
}

static int listen_anywhere(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        die("listen");
    printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void watch(int epoll, int fd)
{
    struct epoll_event want = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &want) != 0)
        die("epoll_ctl");
}

static void take_connection(int epoll, int listener)
{
    int one = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(epoll, fd);
}

static void serve(int fd, size_t answer_bytes)
{
    ssize_t got = recv(fd, received, sizeof received, 0);
    if (got <= 0)
        close(fd);
    else if (memmem(received, (size_t)got, "\r\n\r\n", 4) && send(fd, answer, answer_bytes, MSG_NOSIGNAL) < 0)
        close(fd);
}

int main(int argc, char **argv)
{
    static struct epoll_event events[EVENTS_PER_WAIT];
    if (argc != 2) {
        fputs("usage: bare_server ANSWER-FILE\n", stderr);
        return 2;
    }
    size_t answer_bytes = read_answer(argv[1]);
    int listener = listen_anywhere(), epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(epoll, listener);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                take_connection(epoll, listener);
            else
                serve(events[i].data.fd, answer_bytes);
        }
    }
}
