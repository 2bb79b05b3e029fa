/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WIRE_SIM_FIXTURE_H
#define TESTS_WIRE_SIM_FIXTURE_H

/* A simulator in a thread of this process, on a free port of the loopback, and a plain blocking client for it. */

#include "base/arena.h"
#include "base/clock.h"
#include "http/response.h"
#include "http/sse.h"
#include "sim/sim.h"
#include "support/check.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SIM_WORDS_MAX 40

struct sim_fixture {
    struct arena arena;
    struct sim_settings settings;
    struct sim *sim;
    pthread_t thread;
    uint16_t port; /* 0 = unix socket */
    as_status run_status;
};

static inline void *sim_fixture_main(void *argument)
{
    struct sim_fixture *fixture = argument;
    struct as_error err;
    fixture->run_status = sim_run(fixture->sim, &err);
    return NULL;
}

/* `words` are separated by single blanks: "--ttft 1ms --itl 0ms". --port 0 unless --unix is among them. */
static inline void sim_fixture_start(struct sim_fixture *fixture, const char *words)
{
    static const struct opt_table *const tables[] = {&sim_option_table};
    static const struct opt_command line = {.name = "sim", .summary = "Simulate", .tables = tables, .table_count = 1};
    char *argv[SIM_WORDS_MAX] = {(char *)(uintptr_t) "sim"};
    int argc = 1;
    struct opt_parsed parsed;
    struct as_error err = {0};
    *fixture = (struct sim_fixture){0};
    arena_init(&fixture->arena, 0, 0);
    char *text = arena_printf(&fixture->arena, "%s%s", strstr(words, "--unix") ? "" : "--port 0 ", words);
    for (char *at = text; at && *at; argc++) {
        assert_true(argc < SIM_WORDS_MAX - 1);
        argv[argc] = strsep(&at, " ");
    }
    const struct opt_input input = {argc, argv, NULL, &fixture->settings, &fixture->arena};
    if (options_read(&line, &input, &parsed, &err) != AS_OK ||
        sim_new(&fixture->settings, &fixture->sim, &err) != AS_OK)
        fail_msg("%s", err.message);
    const char *colon = strrchr(sim_url(fixture->sim), ':');
    fixture->port = fixture->settings.unix_path ? 0 : (uint16_t)strtoul(colon + 1, NULL, 10);
    assert_int_equal(pthread_create(&fixture->thread, NULL, sim_fixture_main, fixture), 0);
}

static inline void sim_fixture_stop(struct sim_fixture *fixture)
{
    struct as_error err = {0};
    sim_stop(fixture->sim);
    assert_int_equal(pthread_join(fixture->thread, NULL), 0);
    assert_int_equal(fixture->run_status, AS_OK);
    if (sim_close(fixture->sim, &err) != AS_OK)
        fail_msg("%s", err.message);
    arena_done(&fixture->arena);
}

static inline int sim_connect(const struct sim_fixture *fixture)
{
    const struct timeval limit = {.tv_sec = 20};
    int fd;
    if (fixture->port) {
        struct sockaddr_in to = {
            .sin_family = AF_INET, .sin_port = htons(fixture->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    } else {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", fixture->settings.unix_path);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    }
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    return fd;
}

/* `fields` are whole lines, each ending in CR LF; `body` NULL makes it a GET. */
static inline void sim_send(int fd, const char *path, const char *fields, const char *body)
{
    char request[4096];
    int len =
        body ? snprintf(request, sizeof(request), "POST %s HTTP/1.1\r\nHost: sim\r\n%sContent-Length: %zu\r\n\r\n%s",
                        path, fields, strlen(body), body)
             : snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: sim\r\n%s\r\n", path, fields);
    assert_true(len > 0 && (size_t)len < sizeof(request));
    assert_int_equal(send(fd, request, (size_t)len, MSG_NOSIGNAL), len);
}

#define SIM_EVENTS_MAX 512

/* How a response went. */
struct sim_seen {
    struct http_response_head head; /* status 0 = none came */
    bool is_complete, is_reset, is_closed;
    char body[65536]; /* decoded, NUL-terminated, cut to fit */
    size_t body_len;
    struct {
        int64_t at_ns; /* when the read that completed it returned */
        bool has_content;
        char text[64];
    } events[SIM_EVENTS_MAX];
    int event_count, content_count;
    bool done_mark;
    int64_t end_ns;
};

static inline void sim_note_event(struct sim_seen *seen, const struct sse_event *event, int64_t now_ns)
{
    const char *key = memmem(event->data, event->len, "\"content\":\"", 11);
    if (event->len == 6 && memcmp(event->data, "[DONE]", 6) == 0) {
        seen->done_mark = true;
        return;
    }
    assert_true(seen->event_count < SIM_EVENTS_MAX);
    bool has_content = key && key[11] != '"';
    seen->events[seen->event_count].at_ns = now_ns;
    seen->events[seen->event_count].has_content = has_content;
    if (has_content) {
        const char *text = key + 11, *quote = memchr(text, '"', (size_t)(event->data + event->len - text));
        assert_non_null(quote);
        (void)snprintf(seen->events[seen->event_count].text, 64, "%.*s", (int)(quote - text), text);
    }
    seen->event_count++;
    seen->content_count += has_content;
}

static inline void sim_note_span(struct sim_seen *seen, struct sse_reader *reader, const char *data, size_t len,
                                 int64_t now_ns)
{
    const char *at = data;
    struct sse_event event;
    size_t room = sizeof(seen->body) - 1 - seen->body_len;
    size_t take = len < room ? len : room;
    memcpy(seen->body + seen->body_len, data, take);
    seen->body_len += take;
    seen->body[seen->body_len] = '\0';
    while (seen->head.media == HTTP_MEDIA_EVENT_STREAM && sse_next(reader, &at, data + len, &event) == SSE_EVENT)
        sim_note_event(seen, &event, now_ns);
}

/* Takes in what one read gave; true when the response is complete. */
static inline bool sim_note_read(struct sim_seen *seen, struct http_response *parser, struct sse_reader *reader,
                                 const char *at, size_t len)
{
    const char *end = at + len, *span;
    size_t span_len;
    int64_t now_ns = mono_now().ns;
    for (;;) {
        switch (http_response_next(parser, &at, end, &span, &span_len)) {
        case HTTP_HEAD:
            seen->head = parser->head;
            break;
        case HTTP_SPAN:
            sim_note_span(seen, reader, span, span_len, now_ns);
            break;
        case HTTP_END:
            assert_ptr_equal(at, end);
            return true;
        case HTTP_MORE:
            return false;
        case HTTP_BAD:
            fail_msg("%s", parser->error);
        }
    }
}

/* Reads one response. */
static inline struct sim_seen *sim_read(int fd)
{
    static struct sim_seen seen;
    struct http_response parser;
    struct sse_reader reader;
    char buffer[16384];
    memset(&seen, 0, sizeof(seen));
    http_response_init(&parser);
    sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
    while (!seen.is_complete && !seen.is_closed && !seen.is_reset) {
        ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
        if (got > 0)
            seen.is_complete = sim_note_read(&seen, &parser, &reader, buffer, (size_t)got);
        else if (got == 0)
            seen.is_closed = true;
        else if (errno == ECONNRESET)
            seen.is_reset = true;
        else
            fail_msg("nothing came within the time limit: %s", strerror(errno));
    }
    seen.end_ns = mono_now().ns;
    http_response_done(&parser);
    sse_reader_done(&reader);
    return &seen;
}

/* One request on a connection of its own. */
static inline struct sim_seen *sim_ask_once(const struct sim_fixture *fixture, const char *path, const char *fields,
                                            const char *body)
{
    int fd = sim_connect(fixture);
    sim_send(fd, path, fields, body);
    struct sim_seen *seen = sim_read(fd);
    (void)close(fd);
    return seen;
}

#define CHAT       "/v1/chat/completions"
#define PLAIN_BODY "{\"model\":\"sim-model\",\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}]}"
#define STREAM_BODY                                                                                                    \
    "{\"model\":\"sim-model\",\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}],\"stream\":true,"       \
    "\"stream_options\":{\"include_usage\":true}}"

#endif
