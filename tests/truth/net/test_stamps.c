/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/net/peer.h"

#include <netinet/tcp.h>

/*
 * Each response carries the instant just before it was sent; the kernel's stamp must lie between it and the read, over
 * plain TCP and TLS, also when the client reads late.
 */

struct timed {
    struct net_exchange x;
    struct net_loop *loop;
    struct net_stamp stamp;
    char body[32];
    size_t len;
    int ends;
    enum net_end end;
};

static void timed_on_head(struct net_exchange *x, const struct http_response_head *head, const struct net_stamp *stamp)
{
    (void)x;
    (void)stamp;
    assert_int_equal(head->status, 200);
}

static void timed_on_span(struct net_exchange *x, const char *data, size_t len, const struct net_stamp *stamp)
{
    struct timed *timed = (struct timed *)x;
    assert_true(timed->len + len < sizeof timed->body);
    memcpy(timed->body + timed->len, data, len);
    timed->len += len;
    timed->stamp = *stamp;
}

static void timed_on_end(struct net_exchange *x, enum net_end end)
{
    struct timed *timed = (struct timed *)x;
    timed->ends++;
    timed->end = end;
}

static const struct net_exchange_ops timed_ops = {timed_on_head, timed_on_span, NULL, timed_on_end};

/* A server that answers every request with the monotonic time of its answer. */
struct clock_server {
    int listen_fd;
    uint16_t port;
    SSL_CTX *tls;
    pthread_t thread;
    sem_t answered;
};

static void clock_serve(struct clock_server *server, int fd, SSL *tls)
{
    char request[1024], response[256];
    while ((tls ? SSL_read(tls, request, sizeof request) : (int)recv(fd, request, sizeof request, 0)) > 0) {
        int len = snprintf(response, sizeof response, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n%020lld",
                           (long long)mono_now().ns);
        if ((tls ? SSL_write(tls, response, len) : (int)send(fd, response, (size_t)len, MSG_NOSIGNAL)) <= 0)
            break;
        sem_post(&server->answered);
    }
}

static void *clock_server_main(void *argument)
{
    struct clock_server *server = argument;
    int fd = accept(server->listen_fd, NULL, NULL);
    SSL *tls = server->tls ? SSL_new(server->tls) : NULL;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!tls || (SSL_set_fd(tls, fd) == 1 && SSL_accept(tls) == 1))
        clock_serve(server, fd, tls);
    SSL_free(tls);
    close(fd);
    return NULL;
}

static void clock_server_start(struct clock_server *server, SSL_CTX *tls)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    server->tls = tls;
    sem_init(&server->answered, 0, 0);
    server->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->listen_fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server->listen_fd, 8), 0);
    getsockname(server->listen_fd, (struct sockaddr *)&address, &len);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, clock_server_main, server), 0);
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

#define ROUNDS 500

/* `late_ns`: the client reads so long after the answer was sent. */
static void check_stamps(bool is_tls, int64_t late_ns)
{
    struct identity id;
    struct clock_server server;
    struct net_options options = default_options();
    struct client client;
    struct timed timed = {0};
    char url[64];
    int64_t errors_ns[ROUNDS];
    int stamped = 0;
    identity_make(&id, "IP:127.0.0.1", 86400);
    SSL_CTX *tls = is_tls ? SSL_CTX_new(TLS_server_method()) : NULL;
    if (is_tls) {
        SSL_CTX_use_certificate(tls, id.certificate);
        SSL_CTX_use_PrivateKey(tls, id.key);
        options.ca_cert = id.pem_path;
    }
    clock_server_start(&server, tls);
    snprintf(url, sizeof url, "%s://127.0.0.1:%u", is_tls ? "https" : "http", (unsigned)server.port);
    client_init(&client, url, &options);
    timed.x = (struct net_exchange){
        .ops = &timed_ops, .part_count = 1, .parts = {{(void *)(uintptr_t)PEER_GET, strlen(PEER_GET)}}};
    for (int i = 0; i < ROUNDS; i++) {
        timed.len = 0;
        net_exchange_start(client.loop, &timed.x);
        while (timed.x.written_ns < 0)
            net_loop_poll(client.loop, mono_add_ns(mono_now(), NS_PER_S));
        peer_sem_wait(&server.answered);
        mono_sleep_until(mono_add_ns(mono_now(), late_ns));
        while (timed.ends <= i)
            net_loop_poll(client.loop, mono_add_ns(mono_now(), NS_PER_S));
        assert_int_equal(timed.end, NET_END_COMPLETE);
        timed.body[timed.len] = '\0';
        int64_t sent_ns = strtoll(timed.body, NULL, 10);
        assert_true(timed.stamp.user_ns - sent_ns >= late_ns);
        assert_true(timed.stamp.previous_ns <= timed.stamp.user_ns);
        if (timed.stamp.kernel_ns < 0)
            continue;
        int64_t error_ns = timed.stamp.kernel_ns - sent_ns;
        /* The two clocks are matched to a few hundred ns. */
        if (error_ns < -2 * NS_PER_US || timed.stamp.kernel_ns > timed.stamp.user_ns)
            fail_msg("round %d: the kernel's stamp is %lld ns after the send, the read %lld ns", i, (long long)error_ns,
                     (long long)(timed.stamp.user_ns - sent_ns));
        errors_ns[stamped++] = error_ns;
    }
    assert_true(stamped > ROUNDS * 9 / 10);
    qsort(errors_ns, (size_t)stamped, sizeof *errors_ns, compare_int64);
    /* Generous: other programs may hold the server's thread between its clock and its send. */
    assert_true(errors_ns[stamped / 2] < 200 * NS_PER_US);
    print_message("%s, read %lld us late: p50 %.1f us, p99 %.1f us\n", is_tls ? "TLS" : "plain",
                  (long long)(late_ns / NS_PER_US), (double)errors_ns[stamped / 2] / 1000.0,
                  (double)errors_ns[stamped * 99 / 100] / 1000.0);
    client_done(&client);
    pthread_join(server.thread, NULL);
    close(server.listen_fd);
    sem_destroy(&server.answered);
    SSL_CTX_free(tls);
    identity_done(&id);
}

static void test_plain(void **state)
{
    (void)state;
    check_stamps(false, 0);
}

static void test_plain_read_late(void **state)
{
    (void)state;
    check_stamps(false, 2 * NS_PER_MS);
}

static void test_tls(void **state)
{
    (void)state;
    check_stamps(true, 0);
}

static void test_tls_read_late(void **state)
{
    (void)state;
    check_stamps(true, 2 * NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_plain_read_late),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_tls_read_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
