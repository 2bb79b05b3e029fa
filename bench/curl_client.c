/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer for the client benchmarks: libcurl's multi interface with a socket callback, the content member of each event
 * found by a scan. Keeps no records.
 *
 *   curl_client PORT CONNECTIONS REQUESTS BODY-FILE [PATH]
 *
 * Prints one JSON line: {"requests":…,"failed":…,"content_events":…,"wall_ns":…,"cpu_ns":…}.
 */
#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define EVENTS_PER_WAIT 512

struct peer {
    CURLM *multi;
    int epoll;
    long timeout_ms;
    int64_t to_start, to_finish, failed, content_events;
};

static int64_t now_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static size_t on_data(char *data, size_t size, size_t count, void *user)
{
    static const char needle[] = "\"content\":\"";
    struct peer *peer = user;
    size_t len = size * count;
    const char *at = data, *end = data + len;
    while ((at = memmem(at, (size_t)(end - at), needle, sizeof needle - 1)) != NULL) {
        at += sizeof needle - 1;
        if (at < end && *at != '"')
            peer->content_events++;
    }
    return len;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
    struct peer *peer = user;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(peer->epoll, EPOLL_CTL_DEL, fd, NULL);
        curl_multi_assign(peer->multi, fd, NULL);
        return 0;
    }
    struct epoll_event want = {.data.fd = fd};
    want.events = (uint32_t)((what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0));
    epoll_ctl(peer->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &want);
    curl_multi_assign(peer->multi, fd, peer);
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
    (void)multi;
    ((struct peer *)user)->timeout_ms = timeout_ms;
    return 0;
}

static void start_next(struct peer *peer, CURL *easy)
{
    if (peer->to_start == 0)
        return;
    peer->to_start--;
    curl_multi_add_handle(peer->multi, easy);
}

static void reap(struct peer *peer)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(peer->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURL *easy = message->easy_handle;
        if (message->data.result != CURLE_OK)
            peer->failed++;
        peer->to_finish--;
        curl_multi_remove_handle(peer->multi, easy);
        start_next(peer, easy);
    }
}

static CURL *make_easy(struct peer *peer, const char *url, const char *body, long body_bytes, struct curl_slist *headers)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, body_bytes);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, peer);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    return easy;
}

static void run(struct peer *peer)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    int running;
    while (peer->to_finish > 0) {
        int wait_ms = peer->timeout_ms < 0 ? 1000 : peer->timeout_ms > 1000 ? 1000 : (int)peer->timeout_ms;
        int n = epoll_wait(peer->epoll, events, EVENTS_PER_WAIT, wait_ms);
        if (n == 0)
            curl_multi_socket_action(peer->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        for (int i = 0; i < n; i++) {
            int bits = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(peer->multi, events[i].data.fd, bits, &running);
        }
        reap(peer);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: curl_client PORT CONNECTIONS REQUESTS BODY-FILE [PATH]\n", stderr);
        return 2;
    }
    long count = strtol(argv[2], NULL, 10);
    struct peer peer = {.timeout_ms = 0, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    peer.to_start = peer.to_finish = strtoll(argv[3], NULL, 10);
    static char body[65536];
    FILE *file = fopen(argv[4], "rb");
    if (!file)
        return 1;
    long body_bytes = (long)fread(body, 1, sizeof body, file);
    fclose(file);
    char url[256];
    snprintf(url, sizeof url, "http://127.0.0.1:%s%s", argv[1], argc > 5 ? argv[5] : "/v1/chat/completions");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    peer.multi = curl_multi_init();
    curl_multi_setopt(peer.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(peer.multi, CURLMOPT_SOCKETDATA, &peer);
    curl_multi_setopt(peer.multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(peer.multi, CURLMOPT_TIMERDATA, &peer);
    curl_multi_setopt(peer.multi, CURLMOPT_MAXCONNECTS, count * 2);
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    int64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall = now_ns(CLOCK_MONOTONIC);
    for (long i = 0; i < count; i++)
        start_next(&peer, make_easy(&peer, url, body, body_bytes, headers));
    run(&peer);
    printf("{\"requests\":%s,\"failed\":%lld,\"content_events\":%lld,\"wall_ns\":%lld,\"cpu_ns\":%lld}\n", argv[3],
           (long long)peer.failed, (long long)peer.content_events, (long long)(now_ns(CLOCK_MONOTONIC) - wall),
           (long long)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu));
    return 0;
}
