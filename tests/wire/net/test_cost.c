/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/net/peer.h"

#include <sys/wait.h>

/* What the transport may cost: memory a connection, allocations a request. The servers are processes of their own, made
 * before this one uses OpenSSL. */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#define COUNTS_ALLOCATIONS
#endif

static _Thread_local uint64_t allocations;

#ifdef COUNTS_ALLOCATIONS
/* glibc's own, behind ours. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allocations++;
    return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    allocations++;
    return __libc_realloc(memory, bytes);
}
#endif

#define STREAM_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define EVENT       "d\r\ndata: hello\n\n\r\n"

static const struct step serve_streams[] = {{STEP_REQUEST, 0, 0},        {STEP_SEND, STREAM_HEAD EVENT, 0},
                                            {STEP_SEND, EVENT EVENT, 0}, {STEP_SEND, EVENT, 0},
                                            {STEP_SEND, "0\r\n\r\n", 0}, {STEP_REPEAT, 0, 0}};

/* A server process; it ends when `life` is closed. */
struct process {
    pid_t pid;
    int life;
    char url[160];
};

static struct process plain_server, tls_server;

static void process_start(struct process *process, bool is_tls)
{
    int life[2], told[2];
    char end;
    assert_int_equal(pipe(life) | pipe(told), 0);
    process->pid = fork();
    assert_true(process->pid >= 0);
    if (process->pid == 0) {
        struct identity id;
        struct peer *peer = peer_new(NULL, NULL);
        close(life[1]);
        signal(SIGPIPE, SIG_IGN);
        if (is_tls) {
            identity_make(&id, "IP:127.0.0.1", 86400);
            unlink(id.pem_path);
            peer_use_tls(peer, &id, "127.0.0.1");
        }
        peer_script(peer, serve_streams);
        peer_serve(peer);
        if (write(told[1], peer->url, sizeof peer->url) > 0)
            while (read(life[0], &end, 1) > 0)
                continue;
        _exit(0);
    }
    close(life[0]);
    process->life = life[1];
    assert_int_equal(read(told[0], process->url, sizeof process->url), sizeof process->url);
    close(told[0]);
    close(told[1]);
}

static int start_servers(void **state)
{
    (void)state;
    process_start(&plain_server, false);
    process_start(&tls_server, true);
    return 0;
}

static int stop_servers(void **state)
{
    (void)state;
    close(plain_server.life);
    close(tls_server.life);
    waitpid(plain_server.pid, NULL, 0);
    waitpid(tls_server.pid, NULL, 0);
    return 0;
}

static size_t resident_bytes(void)
{
    size_t size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu %zu", &size, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Resident memory a connection, all streaming at once, `count` of them opened at once. */
static size_t bytes_per_connection(const char *url, int count)
{
    struct net_options options = default_options();
    struct client client;
    struct call *calls = calloc((size_t)count, sizeof *calls);
    options.insecure = true;
    options.max_idle = (uint32_t)count;
    client_init(&client, url, &options);
    for (int i = 0; i < count; i++)
        call_init(&calls[i], client.loop, PEER_GET);
    call_init(&calls[0], client.loop, PEER_GET);
    net_exchange_start(client.loop, &calls[0].x);
    call_wait(&calls[0], 1);
    size_t before = resident_bytes();
    for (int i = 1; i < count; i++)
        net_exchange_start(client.loop, &calls[i].x);
    for (int i = 1; i < count; i++)
        call_wait(&calls[i], 1);
    for (int round = 2; round < 5; round++) {
        for (int i = 1; i < count; i++)
            net_exchange_start(client.loop, &calls[i].x);
        for (int i = 1; i < count; i++)
            call_wait(&calls[i], round);
    }
    assert_int_equal(calls[count - 1].end, NET_END_COMPLETE);
    size_t after = resident_bytes();
    assert_true(client_counters(&client).open_peak > (uint32_t)count / 2);
    client_done(&client);
    free(calls);
    return after > before ? (after - before) / (size_t)count : 0;
}

static void test_plain_memory(void **state)
{
    (void)state;
    if (IS_SANITIZED)
        skip();
    size_t each = bytes_per_connection(plain_server.url, 500);
    print_message("%zu bytes a plain connection\n", each);
    assert_true(each <= 2048);
}

static void test_tls_memory(void **state)
{
    (void)state;
    if (IS_SANITIZED)
        skip();
    size_t each = bytes_per_connection(tls_server.url, 300);
    print_message("%zu bytes a TLS connection\n", each);
    assert_true(each <= 40 * 1024);
}

/* Streams on kept-alive connections: nothing is allocated. */
static void test_no_allocations(void **state)
{
    (void)state;
    struct net_options options = default_options();
    struct client client;
    struct call calls[16];
    client_init(&client, plain_server.url, &options);
    for (int i = 0; i < 16; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        calls[i].restarts_left = 200;
        net_exchange_start(client.loop, &calls[i].x);
    }
    for (int i = 0; i < 16; i++)
        call_wait(&calls[i], 20);
    uint64_t before = allocations;
    struct net_counters first = client_counters(&client);
    for (int i = 0; i < 16; i++)
        call_wait(&calls[i], 201);
    struct net_counters last = client_counters(&client);
    assert_int_equal(allocations - before, 0);
    assert_int_equal(last.connects, 16);
    assert_in_range(last.requests - first.requests, 2000, 3000);
    assert_int_equal(calls[0].body_len, 4 * strlen("data: hello\n\n"));
    client_done(&client);
}

int main(void)
{
    net_tls_memory_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_allocations),
        cmocka_unit_test(test_plain_memory),
        cmocka_unit_test(test_tls_memory),
    };
    return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
