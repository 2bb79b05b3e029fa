/* SPDX-License-Identifier: Apache-2.0 */
#include "run/ntp.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER_BYTES 256
#define REASON_BYTES 120

/* One server's question; owned by the round. */
struct ask {
    char host[SERVER_BYTES], port[8];
    bool is_over, is_usable;
    char reason[REASON_BYTES];
    struct ntp_answer answer;
};

/* Shared by the caller and the workers; the last one to leave frees it, so that a worker may hang in a look-up. */
struct round {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    int users;
    struct mono deadline;
    size_t count;
    struct ask asks[NTP_SERVERS_MAX];
};

struct worker {
    struct round *round;
    size_t index;
};

static void round_leave(struct round *round)
{
    pthread_mutex_lock(&round->mutex);
    bool is_last = --round->users == 0;
    pthread_mutex_unlock(&round->mutex);
    if (is_last) {
        pthread_cond_destroy(&round->moved);
        pthread_mutex_destroy(&round->mutex);
        free(round);
    }
}

static int milliseconds_left(struct mono deadline)
{
    int64_t left_ns = mono_diff_ns(deadline, mono_now());
    return left_ns <= 0 ? 0 : (int)(left_ns / NS_PER_MS) + 1;
}

/* Sends the question and waits for the answer; strays are read over. */
static as_status exchange_on(int fd, struct mono deadline, struct ntp_answer *ret, struct as_error *err)
{
    struct ntp_exchange exchange = {0};
    unsigned char request[NTP_PACKET_BYTES];
    if (getrandom(&exchange.cookie, sizeof exchange.cookie, 0) != sizeof exchange.cookie)
        exchange.cookie = (uint64_t)mono_now().ns;
    ntp_make_request(exchange.cookie, request);
    exchange.sent = wall_now();
    struct mono sent = mono_now();
    if (send(fd, request, sizeof request, MSG_NOSIGNAL) != sizeof request)
        return error_set_errno(err, errno, "cannot be asked");
    as_status status = AS_E_TIMEOUT;
    while (status != AS_OK) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        int wait_ms = milliseconds_left(deadline);
        if (wait_ms == 0 || poll(&poll_fd, 1, wait_ms) <= 0)
            return status == AS_E_INVALID ? status : error_set(err, AS_E_TIMEOUT, "gave no answer in time");
        ssize_t got = recv(fd, exchange.packet, sizeof exchange.packet, 0);
        /* a step of the clock between the two stamps must not look like a long way */
        exchange.received = (struct wall){exchange.sent.ns + mono_diff_ns(mono_now(), sent)};
        if (got < 0)
            return error_set_errno(err, errno, "cannot be reached");
        exchange.len = (size_t)got;
        status = ntp_read_answer(&exchange, ret, err);
    }
    return AS_OK;
}

static as_status ask_server(const char *host, const char *port, struct mono deadline, struct ntp_answer *ret, struct as_error *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *list = NULL;
    int failure = getaddrinfo(host, port, &hints, &list);
    if (failure)
        return error_set(err, AS_E_NETWORK, "has no address (%s)", gai_strerror(failure));
    as_status status = AS_E_NETWORK;
    for (struct addrinfo *address = list; address && status != AS_OK; address = address->ai_next) {
        int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, address->ai_addr, address->ai_addrlen) != 0)
            status = error_set_errno(err, errno, "cannot be reached");
        else
            status = exchange_on(fd, deadline, ret, err);
        if (fd >= 0)
            close(fd);
        if (status == AS_E_TIMEOUT)
            break;
    }
    freeaddrinfo(list);
    return status;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct round *round = worker->round;
    size_t index = worker->index;
    char host[SERVER_BYTES], port[8];
    struct ntp_answer answer = {.server = index};
    struct as_error err = {0};
    free(worker);
    pthread_mutex_lock(&round->mutex);
    memcpy(host, round->asks[index].host, sizeof host);
    memcpy(port, round->asks[index].port, sizeof port);
    struct mono deadline = round->deadline;
    pthread_mutex_unlock(&round->mutex);
    as_status status = ask_server(host, port, deadline, &answer, &err);
    pthread_mutex_lock(&round->mutex);
    round->asks[index].is_over = true;
    round->asks[index].is_usable = status == AS_OK;
    round->asks[index].answer = answer;
    snprintf(round->asks[index].reason, REASON_BYTES, "%.119s", err.message);
    pthread_cond_signal(&round->moved);
    pthread_mutex_unlock(&round->mutex);
    round_leave(round);
    return NULL;
}

/* "host", "host:port", "[v6]", "[v6]:port" */
static bool split_server(const char *server, struct ask *ask)
{
    const char *host = server, *end, *port = "123";
    if (*server == '[') {
        host = server + 1;
        end = strchr(host, ']');
        if (!end || (end[1] && end[1] != ':'))
            return false;
        port = end[1] ? end + 2 : port;
    } else {
        end = strrchr(server, ':');
        if (end && strchr(server, ':') == end)
            port = end + 1;
        else
            end = server + strlen(server);
    }
    size_t len = (size_t)(end - host), digits = strspn(port, "0123456789");
    if (len == 0 || len >= SERVER_BYTES || digits == 0 || digits > 5 || port[digits])
        return false;
    memcpy(ask->host, host, len);
    snprintf(ask->port, sizeof ask->port, "%.5s", port);
    return true;
}

static void start_worker(struct round *round, size_t index)
{
    struct worker *worker = malloc(sizeof *worker);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (worker)
        *worker = (struct worker){round, index};
    round->users++;
    if (!worker || pthread_create(&thread, &attributes, work, worker) != 0) {
        round->users--;
        round->asks[index].is_over = true;
        snprintf(round->asks[index].reason, REASON_BYTES, "could not be asked: no thread");
        free(worker);
    }
    pthread_attr_destroy(&attributes);
}

/* Waits until all are over, the grace after the first usable answer has passed, or the deadline. Mutex held. */
static void wait_for_answers(struct round *round)
{
    struct mono until = round->deadline;
    bool has_answer = false;
    for (;;) {
        size_t over = 0, usable = 0;
        for (size_t i = 0; i < round->count; i++) {
            over += round->asks[i].is_over;
            usable += round->asks[i].is_usable;
        }
        if (usable && !has_answer) {
            struct mono grace = mono_add_ns(mono_now(), NTP_GRACE_NS);
            until = mono_diff_ns(grace, until) < 0 ? grace : until;
            has_answer = true;
        }
        if (over == round->count || mono_diff_ns(until, mono_now()) <= 0)
            return;
        struct timespec at = {.tv_sec = until.ns / NS_PER_S, .tv_nsec = until.ns % NS_PER_S};
        pthread_cond_timedwait(&round->moved, &round->mutex, &at);
    }
}

static as_status choose_answer(const struct round *round, struct ntp_answer *ret, struct as_error *err)
{
    const struct ntp_answer *best = NULL;
    size_t answers = 0;
    for (size_t i = 0; i < round->count; i++) {
        const struct ask *ask = &round->asks[i];
        answers += ask->is_usable;
        if (ask->is_usable && (!best || ask->answer.round_trip_ns < best->round_trip_ns))
            best = &ask->answer;
    }
    if (best) {
        *ret = *best;
        ret->answers = answers;
        return AS_OK;
    }
    char message[400];
    size_t used = 0;
    for (size_t i = 0; i < round->count && used < sizeof message - 1; i++) {
        const struct ask *ask = &round->asks[i];
        int len = snprintf(message + used, sizeof message - used, "%s%.60s %s", i ? "; " : "", ask->host,
                           ask->is_over ? ask->reason : "gave no answer in time");
        used += len > 0 ? (size_t)len : 0;
    }
    return error_set(err, AS_E_TIMEOUT, "%s", message);
}

static struct round *round_new(size_t count, int64_t limit_ns)
{
    struct round *round = calloc(1, sizeof *round);
    pthread_condattr_t attributes;
    if (!round)
        return NULL;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&round->mutex, NULL);
    pthread_cond_init(&round->moved, &attributes);
    pthread_condattr_destroy(&attributes);
    round->users = 1;
    round->count = count;
    round->deadline = mono_add_ns(mono_now(), limit_ns);
    return round;
}

as_status ntp_ask(const char *const *servers, size_t count, int64_t limit_ns, struct ntp_answer *ret, struct as_error *err)
{
    count = count > NTP_SERVERS_MAX ? NTP_SERVERS_MAX : count;
    struct round *round = round_new(count, limit_ns);
    if (!round)
        return error_set(err, AS_E_NOMEM, "out of memory");
    pthread_mutex_lock(&round->mutex);
    for (size_t i = 0; i < count; i++) {
        if (split_server(servers[i], &round->asks[i]))
            start_worker(round, i);
        else {
            round->asks[i].is_over = true;
            snprintf(round->asks[i].host, SERVER_BYTES, "%.200s", servers[i]);
            snprintf(round->asks[i].reason, REASON_BYTES, "is no HOST or HOST:PORT");
        }
    }
    wait_for_answers(round);
    as_status status = choose_answer(round, ret, err);
    pthread_mutex_unlock(&round->mutex);
    round_leave(round);
    return status;
}
