/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long until a program sends its first request: the time from posix_spawn to the first byte read on a listening
 * socket. An argument "{url}" becomes the socket's URL, "{dir}" a folder name of its own for each round under $STARTUP_DIR.
 * Beside it an empty program's start to exit.
 *
 *   startup ROUNDS PROGRAM [ARG…]
 *
 * Prints one JSON line: {"rounds":…,"first_send_ns":[…],"empty_ns":[…]}. The peer gets a 503 and is waited for.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 1000

extern char **environ;

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static pid_t start(char **argv)
{
    pid_t pid;
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) {
        perror(argv[0]);
        exit(1);
    }
    return pid;
}

static int64_t time_empty(const char *self)
{
    char *argv[] = {(char *)(uintptr_t)self, NULL};
    int64_t begun = now_ns();
    waitpid(start(argv), NULL, 0);
    return now_ns() - begun;
}

static int64_t time_first_send(int listener, char **argv)
{
    static const char answer[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    char byte[4096];
    int64_t begun = now_ns();
    pid_t pid = start(argv);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    ssize_t got = recv(fd, byte, sizeof byte, 0);
    int64_t took = now_ns() - begun;
    if (got <= 0 || send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0)
        fputs("startup: the program sent nothing\n", stderr);
    close(fd);
    waitpid(pid, NULL, 0);
    return took;
}

static void print_list(const char *name, const int64_t *values, int count)
{
    printf("\"%s\":[", name);
    for (int i = 0; i < count; i++)
        printf("%s%lld", i ? "," : "", (long long)values[i]);
    printf("]");
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return 0; /* the empty program */
    int rounds = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fputs("usage: startup ROUNDS PROGRAM [ARG…]\n", stderr);
        return 2;
    }
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 64) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("listen");
        return 1;
    }
    static char url[64], dir[512];
    const char *base = getenv("STARTUP_DIR");
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "{url}") == 0)
            argv[i] = url;
        else if (strcmp(argv[i], "{dir}") == 0)
            argv[i] = dir;
    }
    static int64_t first[ROUNDS_MAX], empty[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) {
        snprintf(dir, sizeof dir, "%s/%d", base ? base : "/tmp", i);
        empty[i] = time_empty("/proc/self/exe");
        first[i] = time_first_send(listener, argv + 2);
    }
    printf("{\"rounds\":%d,", rounds);
    print_list("first_send_ns", first, rounds);
    printf(",");
    print_list("empty_ns", empty, rounds);
    printf("}\n");
    return 0;
}
