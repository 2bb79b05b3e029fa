/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/file.h"
#include "support/temp_dir.h"

#include <sys/ioctl.h>

#define FAST "--ttft 1ms --itl 0ms --tokens 5"

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

static void test_paths(void **state)
{
    (void)state;
    struct sim_fixture sim;
    sim_fixture_start(&sim, FAST " --model my-model");
    assert_int_equal(sim_ask_once(&sim, "/health", "", NULL)->head.status, 200);
    struct sim_seen *seen = sim_ask_once(&sim, "/v1/models", "", NULL);
    assert_int_equal(seen->head.status, 200);
    contains(seen->body, "\"id\":\"my-model\"");
    seen = sim_ask_once(&sim, CHAT, "", PLAIN_BODY);
    assert_int_equal(seen->head.status, 200);
    contains(seen->body, "\"usage\":{\"prompt_tokens\":3,\"total_tokens\":8,\"completion_tokens\":5}");
    seen = sim_ask_once(&sim, "/v1/completions", "", "{\"prompt\":\"one two\"}");
    contains(seen->body, "\"object\":\"text_completion\"");
    contains(sim_ask_once(&sim, "/metrics", "", NULL)->body,
             "vllm:request_success_total{finished_reason=\"stop\",model_name=\"my-model\"} 2\n");
    assert_int_equal(sim_ask_once(&sim, "/v1/embeddings", "", PLAIN_BODY)->head.status, 404);
    assert_int_equal(sim_ask_once(&sim, CHAT, "", NULL)->head.status, 405);
    seen = sim_ask_once(&sim, CHAT, "", "{\"messages\":7}");
    assert_int_equal(seen->head.status, 400);
    contains(seen->body, "\"error\":{\"message\":\"messages is no array\"");
    sim_fixture_stop(&sim);
}

static void test_stream_on_one_connection(void **state)
{
    (void)state;
    struct sim_fixture sim;
    sim_fixture_start(&sim, FAST);
    int fd = sim_connect(&sim);
    for (int i = 0; i < 3; i++) {
        sim_send(fd, CHAT, "", i == 1 ? PLAIN_BODY : STREAM_BODY);
        struct sim_seen *seen = sim_read(fd);
        assert_true(seen->is_complete && seen->head.keep_alive);
        assert_int_equal(seen->done_mark, i != 1);
        assert_int_equal(seen->content_count, i == 1 ? 0 : 5);
    }
    sim_send(fd, CHAT, "Connection: close\r\n", STREAM_BODY);
    struct sim_seen *seen = sim_read(fd);
    assert_true(seen->is_complete && seen->done_mark);
    assert_false(seen->head.keep_alive);
    char byte;
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    (void)close(fd);
    sim_fixture_stop(&sim);
}

static void test_key_and_model(void **state)
{
    (void)state;
    struct sim_fixture sim;
    sim_fixture_start(&sim, FAST " --api-key secret --strict-model");
    assert_int_equal(sim_ask_once(&sim, CHAT, "", PLAIN_BODY)->head.status, 401);
    assert_int_equal(sim_ask_once(&sim, CHAT, "Authorization: Bearer wrong\r\n", PLAIN_BODY)->head.status, 401);
    assert_int_equal(sim_ask_once(&sim, CHAT, "Authorization: Bearer secret\r\n", PLAIN_BODY)->head.status, 200);
    assert_int_equal(sim_ask_once(&sim, "/v1/models", "", NULL)->head.status, 401);
    assert_int_equal(sim_ask_once(&sim, "/health", "", NULL)->head.status, 200);
    assert_int_equal(sim_ask_once(&sim, CHAT, "Authorization: Bearer secret\r\n",
                                  "{\"model\":\"other\",\"messages\":[{\"content\":\"x\"}]}")
                         ->head.status,
                     404);
    sim_fixture_stop(&sim);
}

static void test_faults_on_the_wire(void **state)
{
    (void)state;
    struct sim_fixture sim;
    sim_fixture_start(&sim, FAST " --fault 429:7@at=1 --fault reset@at=2 --fault reset:2@at=3 --fault close@at=4 "
                                 "--fault truncate:2@at=5 --fault "
                                 "no-last-chunk@at=6 --fault error-in-stream:1@at=7 --fault unfinished:3@at=8");
    struct sim_seen *seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_int_equal(seen->head.status, 429);
    assert_true(seen->head.retry_after_s == 7);
    seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_true(seen->is_reset && seen->head.status == 0);
    seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_true(seen->is_reset);
    seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_true(seen->is_closed && seen->head.status == 0);
    seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_true(seen->is_closed && seen->content_count == 2);
    seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_true(seen->is_closed && seen->done_mark);
    seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_true(seen->is_complete && seen->content_count == 1);
    contains(seen->body, "data: {\"error\":{");
    seen = sim_ask_once(&sim, CHAT, "", STREAM_BODY);
    assert_true(seen->is_complete && !seen->done_mark && seen->content_count == 3);
    assert_true(sim_ask_once(&sim, CHAT, "", STREAM_BODY)->done_mark);
    sim_fixture_stop(&sim);
}

/* A stalled request keeps its slot until its client leaves; then the next one in the queue is served. */
static void test_stall_and_queue(void **state)
{
    (void)state;
    struct sim_fixture sim;
    sim_fixture_start(&sim, FAST " --slots 1 --queue 1 --fault stall:1@at=1");
    int stalled = sim_connect(&sim), waiting = sim_connect(&sim);
    char head[16384];
    sim_send(stalled, CHAT, "", STREAM_BODY);
    ssize_t got = recv(stalled, head, sizeof(head), 0);
    assert_true(got > 0);
    sim_send(waiting, CHAT, "", STREAM_BODY);
    /* The head of a waiting stream tells that it is in the queue. */
    assert_true(recv(waiting, head, 15, 0) == 15 && memcmp(head, "HTTP/1.1 200 OK", 15) == 0);
    struct sim_seen *seen = sim_ask_once(&sim, CHAT, "", PLAIN_BODY);
    assert_int_equal(seen->head.status, 503);
    contains(seen->body, "queue is full");
    contains(sim_ask_once(&sim, "/metrics", "", NULL)->body, "vllm:num_requests_waiting{model_name=\"sim-model\"} 1\n");
    (void)close(stalled);
    size_t total = 0;
    while (!memmem(head, total, "data: [DONE]", 12)) {
        got = recv(waiting, head + total, sizeof(head) - total, 0);
        assert_true(got > 0);
        total += (size_t)got;
    }
    (void)close(waiting);
    sim_fixture_stop(&sim);
}

static void test_unix_socket(void **state)
{
    (void)state;
    struct temp_dir TEMP_DIR_AUTO dir;
    char path[PATH_MAX], words[PATH_MAX + 64], url[PATH_MAX + 16];
    struct sim_fixture sim;
    temp_dir_make(&dir);
    temp_dir_join(&dir, "sim.sock", path);
    (void)snprintf(words, sizeof(words), FAST " --unix %s", path);
    (void)snprintf(url, sizeof(url), "unix:%s", path);
    sim_fixture_start(&sim, words);
    assert_string_equal(sim_url(sim.sim), url);
    assert_int_equal(sim_ask_once(&sim, CHAT, "", STREAM_BODY)->content_count, 5);
    sim_fixture_stop(&sim);
}

/* Equal seeds give equal answers, whatever the order; the number in x-assay-id decides. */
static void test_same_seed_same_answers(void **state)
{
    (void)state;
    char texts[2][8][1024] = {{{0}}};
    for (int round = 0; round < 2; round++) {
        struct sim_fixture sim;
        sim_fixture_start(&sim, "--ttft 0ms --itl 0ms --tokens uniform:1,50 --seed 5");
        for (int i = 0; i < 8; i++) {
            int seq = round ? 7 - i : i;
            char field[64];
            (void)snprintf(field, sizeof(field), "X-Assay-Id: %s-%d\r\n", round ? "first" : "second", seq);
            struct sim_seen *seen = sim_ask_once(&sim, CHAT, field, STREAM_BODY);
            for (int k = 0; k < seen->event_count; k++)
                strncat(texts[round][seq], seen->events[k].text, sizeof(texts[0][0]) - 1 - strlen(texts[round][seq]));
        }
        sim_fixture_stop(&sim);
    }
    for (int i = 0; i < 8; i++)
        assert_string_equal(texts[0][i], texts[1][i]);
    assert_string_not_equal(texts[0][0], texts[0][1]);
}

/* Bytes that wait in the socket to be read. */
static int unread(int fd)
{
    int bytes = 0;
    assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
    return bytes;
}

/* Others are served meanwhile; returns when nothing more has come for the one who does not read. */
static void wait_until_full(const struct sim_fixture *sim, int fd)
{
    int same = 0;
    for (int before = -1; same < 20;) {
        assert_int_equal(sim_ask_once(sim, "/health", "", NULL)->head.status, 200);
        int now = unread(fd);
        same = now > 0 && now == before ? same + 1 : 0;
        before = now;
    }
}

/*
 * A client that stops reading, and then reads on: what was rendered waits, nothing is lost, and the stream goes on at
 * once: no read waits as long as TCP may do before it asks again. Far more than socket buffers and the server's queue
 * hold.
 */
static void read_after_a_stop(const char *words, int64_t tokens, bool is_stopped_twice)
{
    struct sim_fixture sim;
    struct http_response parser;
    struct sse_reader reader;
    static struct sim_seen seen;
    const struct timeval limit = {.tv_sec = 6};
    char buffer[65536];
    sim_fixture_start(&sim, words);
    int fd = sim_connect(&sim);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    sim_send(fd, CHAT, "", STREAM_BODY);
    wait_until_full(&sim, fd);
    memset(&seen, 0, sizeof(seen));
    http_response_init(&parser);
    sse_reader_init(&reader, SSE_EVENT_MAX_DEFAULT);
    while (!seen.is_complete) {
        ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
        assert_true(got > 0);
        seen.event_count = 0;
        seen.is_complete = sim_note_read(&seen, &parser, &reader, buffer, (size_t)got);
        if (is_stopped_twice && seen.content_count > tokens / 8) {
            is_stopped_twice = false;
            wait_until_full(&sim, fd);
        }
    }
    assert_int_equal(seen.content_count, tokens);
    assert_true(seen.done_mark);
    http_response_done(&parser);
    sse_reader_done(&reader);
    (void)close(fd);
    sim_fixture_stop(&sim);
}

static void test_slow_reader(void **state)
{
    (void)state;
    read_after_a_stop("--ttft 0ms --itl 0ms --tokens 60000", 60000, true);
}

/* The same with a timer for each chunk. */
static void test_slow_reader_of_a_paced_stream(void **state)
{
    (void)state;
    read_after_a_stop("--ttft 0ms --itl 5us --tokens 60000", 60000, false);
}

/* A thread counts a request just after its last byte went out: asks until it has. */
static void test_threads(void **state)
{
    (void)state;
    struct sim_fixture sim;
    int asked = 0;
    sim_fixture_start(&sim, FAST " --threads 3");
    for (int i = 0; i < 30; i++)
        assert_int_equal(sim_ask_once(&sim, CHAT, "", STREAM_BODY)->content_count, 5);
    while (!strstr(sim_ask_once(&sim, "/metrics", "", NULL)->body,
                   "vllm:request_success_total{finished_reason=\"stop\",model_name=\"sim-model\"} 30\n"))
        assert_true(++asked < 2000);
    sim_fixture_stop(&sim);
}

static void test_stop_aborts(void **state)
{
    (void)state;
    struct sim_fixture sim;
    sim_fixture_start(&sim, "--ttft 60s");
    int fd = sim_connect(&sim);
    char head[4096];
    sim_send(fd, CHAT, "", STREAM_BODY);
    assert_true(recv(fd, head, sizeof(head), 0) > 0);
    sim_fixture_stop(&sim);
    assert_true(recv(fd, head, sizeof(head), 0) <= 0);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_stream_on_one_connection),
        cmocka_unit_test(test_key_and_model),
        cmocka_unit_test(test_faults_on_the_wire),
        cmocka_unit_test(test_stall_and_queue),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_same_seed_same_answers),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_slow_reader_of_a_paced_stream),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stop_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
