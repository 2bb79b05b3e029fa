/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/net/peer.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define OK_RESPONSE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static const struct step serve_many[] = {{STEP_REQUEST, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_REPEAT, 0, 0}};
static const struct step answer_late[] = {
    {STEP_REQUEST, 0, 0}, {STEP_WAIT, 0, 0}, {STEP_SEND, OK_RESPONSE, 0}, {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};

/* The addresses of several numeric hosts, in this order, as a resolver would give them for one name. */
static void set_addresses(struct net_endpoint *endpoint, const char *const *hosts, int count, const uint16_t *ports)
{
    struct addrinfo **at = &endpoint->addresses;
    if (endpoint->addresses)
        freeaddrinfo(endpoint->addresses);
    endpoint->addresses = NULL;
    for (int i = 0; i < count; i++) {
        char port[6];
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
        snprintf(port, sizeof port, "%u", (unsigned)ports[i]);
        assert_int_equal(getaddrinfo(hosts[i], port, &hints, at), 0);
        at = &(*at)->ai_next;
    }
}

/* A port on 127.0.0.1 that refuses: bound, not listening. */
static int open_refusing(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    getsockname(fd, (struct sockaddr *)&address, &len);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* A port that never answers a connect: its accept queue is full. */
struct black_hole {
    int fd, fillers[4];
    uint16_t port;
};

static void black_hole_open(struct black_hole *hole)
{
    hole->fd = open_refusing(&hole->port);
    assert_int_equal(listen(hole->fd, 0), 0);
    for (int i = 0; i < 4; i++) {
        struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(hole->port)};
        hole->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        int result = connect(hole->fillers[i], (struct sockaddr *)&address, sizeof address);
        struct pollfd wait = {hole->fillers[i], POLLOUT, 0};
        assert_true(result == 0 || errno == EINPROGRESS);
        if (i == 0)
            assert_int_equal(poll(&wait, 1, 5000), 1);
    }
}

static void black_hole_close(struct black_hole *hole)
{
    for (int i = 0; i < 4; i++)
        close(hole->fillers[i]);
    close(hole->fd);
}

static void test_refused(void **state)
{
    (void)state;
    uint16_t port;
    int fd = open_refusing(&port);
    char url[64];
    struct net_options options = default_options();
    struct client client;
    struct call call;
    snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)port);
    client_init(&client, url, &options);
    call_init(&call, client.loop, PEER_GET);
    call.restarts_left = 5;
    net_exchange_start(client.loop, &call.x);
    assert_int_equal(call.ends, 0);
    call_wait(&call, 6);
    assert_int_equal(call.end, NET_END_CONNECT);
    assert_int_equal(call.x.error_number, ECONNREFUSED);
    assert_non_null(strstr(call.x.error, "127.0.0.1 port"));
    assert_false(call.x.local_limit);
    assert_true(call.x.connect_start_ns > 0);
    assert_int_equal(call.x.connected_ns, -1);
    assert_int_equal(client_counters(&client).connect_failures, 6);
    assert_int_equal(client_counters(&client).open_now, 0);
    client_done(&client);
    close(fd);
}

/* A failure waiting to be told can be cancelled. */
static void test_cancel_a_pending_failure(void **state)
{
    (void)state;
    struct net_options options = default_options();
    struct net_endpoint endpoint;
    struct net_endpoint *endpoints[] = {&endpoint};
    struct net_loop *loop;
    struct call calls[3];
    assert_int_equal(net_endpoint_parse("http://nowhere.invalid", &endpoint, NULL), AS_OK);
    assert_int_equal(net_loop_new(&options, endpoints, 1, &loop, NULL), AS_OK);
    for (int i = 0; i < 3; i++) {
        call_init(&calls[i], loop, PEER_GET);
        net_exchange_start(loop, &calls[i].x);
    }
    net_exchange_cancel(loop, &calls[1].x);
    assert_int_equal(calls[1].end, NET_END_CANCELLED);
    call_wait(&calls[2], 1);
    assert_int_equal(calls[0].end, NET_END_CONNECT);
    assert_non_null(strstr(calls[0].x.error, "not looked up"));
    assert_int_equal(calls[0].ends + calls[1].ends + calls[2].ends, 3);
    net_loop_free(loop);
    net_endpoint_done(&endpoint);
}

static void test_second_address(void **state)
{
    (void)state;
    static const char *const hosts[] = {"::1", "127.0.0.1", "127.0.0.1"};
    struct peer *peer = peer_with(serve_many);
    struct net_options options = default_options();
    struct client client;
    struct call call;
    uint16_t refusing;
    int fd = open_refusing(&refusing);
    uint16_t ports[] = {refusing, refusing, peer->port};
    client_init(&client, peer->url, &options);
    set_addresses(&client.endpoint, hosts, 3, ports);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    if (call.end != NET_END_COMPLETE)
        fail_msg("%s", call.x.error);
    assert_int_equal(client.endpoint.good_address, 2);
    assert_true(call.x.connected_ns >= call.x.connect_start_ns);
    client_done(&client);
    peer_free(peer);
    close(fd);
}

/* Why connecting to two addresses fails: one of IPv6 that cannot be reached, and a refusing one of IPv4. */
static void check_reason(const char *const hosts[2])
{
    struct net_options options = default_options();
    struct client client;
    struct call call;
    uint16_t refusing;
    int fd = open_refusing(&refusing);
    uint16_t ports[] = {refusing, refusing};
    client_init(&client, "http://127.0.0.1:1", &options);
    set_addresses(&client.endpoint, hosts, 2, ports);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(call.end, NET_END_CONNECT);
    assert_int_equal(call.x.error_number, ECONNREFUSED);
    client_done(&client);
    close(fd);
}

/* The good address is remembered, and left again when it dies. */
static void test_good_address_dies(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.1"};
    struct peer *peer = peer_with(serve_many);
    struct net_options options = default_options();
    struct client client;
    struct call call;
    uint16_t refusing;
    int fd = open_refusing(&refusing);
    uint16_t ports[] = {peer->port, refusing};
    client_init(&client, peer->url, &options);
    set_addresses(&client.endpoint, hosts, 2, ports);
    client.endpoint.good_address = 1;
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(call.end, NET_END_COMPLETE);
    assert_int_equal(client.endpoint.good_address, 0);
    client_done(&client);
    peer_free(peer);
    close(fd);
}

/* The first address swallows the connect: the second is tried after 250 ms. */
static void test_silent_address(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.1"};
    struct peer *peer = peer_with(serve_many);
    struct net_options options = default_options();
    struct black_hole hole;
    struct client client;
    struct call call;
    black_hole_open(&hole);
    uint16_t ports[] = {hole.port, peer->port};
    client_init(&client, peer->url, &options);
    set_addresses(&client.endpoint, hosts, 2, ports);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(call.end, NET_END_COMPLETE);
    int64_t took_ns = call.x.connected_ns - call.x.connect_start_ns;
    assert_in_range(took_ns, 250 * NS_PER_MS, 5000 * NS_PER_MS);
    assert_int_equal(client.endpoint.good_address, 1);
    client_done(&client);
    peer_free(peer);
    black_hole_close(&hole);
}

static void test_connect_timeout(void **state)
{
    (void)state;
    char url[64];
    struct net_options options = default_options();
    struct black_hole hole;
    struct client client;
    struct call calls[3];
    options.connect_timeout_ns = 30 * NS_PER_MS;
    black_hole_open(&hole);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)hole.port);
    client_init(&client, url, &options);
    for (int i = 0; i < 3; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        net_exchange_start(client.loop, &calls[i].x);
    }
    net_exchange_cancel(client.loop, &calls[1].x);
    int64_t start_ns = calls[2].x.connect_start_ns;
    call_wait(&calls[0], 1);
    call_wait(&calls[2], 1);
    assert_true(mono_now().ns - start_ns >= 30 * NS_PER_MS);
    assert_int_equal(calls[0].end, NET_END_CONNECT_TIMEOUT);
    assert_int_equal(calls[1].end, NET_END_CANCELLED);
    assert_int_equal(calls[2].end, NET_END_CONNECT_TIMEOUT);
    assert_non_null(strstr(calls[2].x.error, "TCP connect"));
    assert_int_equal(client_counters(&client).open_now, 0);
    client_done(&client);
    black_hole_close(&hole);
}

static void make_socket_path(char *path, size_t size)
{
    static int number;
    snprintf(path, size, "/tmp/assay-net-%d-%d.sock", (int)getpid(), number++);
}

static void test_unix_socket(void **state)
{
    (void)state;
    char path[64];
    make_socket_path(path, sizeof path);
    struct peer *peer = peer_new(NULL, path);
    struct net_options options = default_options();
    struct client client;
    struct call call;
    peer_script(peer, serve_many);
    peer_serve(peer);
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    call.restarts_left = 3;
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 4);
    assert_int_equal(call.end, NET_END_COMPLETE);
    assert_string_equal(call.body, "hello");
    assert_true(call.x.reused);
    assert_int_equal(call.stamp.kernel_ns, -1);
    assert_true(call.stamp.user_ns > 0);
    client_done(&client);
    peer_free(peer);
}

static void test_unix_socket_missing(void **state)
{
    (void)state;
    struct net_options options = default_options();
    struct client client;
    struct call call;
    client_init(&client, "unix:/tmp/assay-net-there-is-none.sock", &options);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(call.end, NET_END_CONNECT);
    assert_int_equal(call.x.error_number, ENOENT);
    assert_non_null(strstr(call.x.error, "there-is-none.sock"));
    client_done(&client);
}

/* A full queue of a unix socket is no failure: the connect is repeated until there is room. */
static void test_unix_socket_queue_full(void **state)
{
    (void)state;
    char path[64];
    make_socket_path(path, sizeof path);
    struct peer *peer = peer_new(NULL, path);
    struct net_options options = default_options();
    struct client client;
    struct call calls[20];
    assert_int_equal(listen(peer->listen_fd, 1), 0);
    peer_script(peer, serve_many);
    client_init(&client, peer->url, &options);
    for (int i = 0; i < 20; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        net_exchange_start(client.loop, &calls[i].x);
    }
    net_loop_poll(client.loop, mono_add_ns(mono_now(), 3 * NS_PER_MS));
    assert_in_range(client_counters(&client).connecting_now, 15, 19);
    peer_serve(peer);
    for (int i = 0; i < 20; i++) {
        call_wait(&calls[i], 1);
        assert_int_equal(calls[i].end, NET_END_COMPLETE);
    }
    client_done(&client);
    peer_free(peer);
}

/* ---- limits of this machine ---- */

static int lowest_free_fd(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static void test_descriptor_limit(void **state)
{
    (void)state;
    struct peer *peer = peer_with(answer_late);
    struct net_options options = default_options();
    struct client client;
    struct call calls[8];
    struct rlimit saved;
    int limited = 0;
    client_init(&client, peer->url, &options);
    getrlimit(RLIMIT_NOFILE, &saved);
    /* Room for three connections of the client and three of the server in this process, if it is quick. */
    struct rlimit small = {(rlim_t)lowest_free_fd() + 6, saved.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    for (int i = 0; i < 8; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        net_exchange_start(client.loop, &calls[i].x);
    }
    call_wait(&calls[7], 1);
    setrlimit(RLIMIT_NOFILE, &saved);
    for (int i = 0; i < 8; i++) {
        if (calls[i].ends == 0)
            continue;
        assert_int_equal(calls[i].end, NET_END_CONNECT);
        assert_true(calls[i].x.local_limit);
        assert_int_equal(calls[i].x.error_number, EMFILE);
        assert_non_null(strstr(calls[i].x.error, "ulimit -n"));
        limited++;
    }
    assert_in_range(limited, 2, 6);
    client_done(&client);
    peer_free(peer);
}

/* ---- pool ---- */

static void test_pool_limit(void **state)
{
    (void)state;
    struct peer *peer = peer_with(answer_late);
    struct net_options options = default_options();
    struct client client;
    struct call calls[5];
    options.max_idle = 2;
    client_init(&client, peer->url, &options);
    for (int i = 0; i < 5; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        net_exchange_start(client.loop, &calls[i].x);
        peer_release(peer, 0);
    }
    for (int i = 0; i < 5; i++)
        call_wait(&calls[i], 1);
    assert_int_equal(client_counters(&client).open_peak, 5);
    assert_int_equal(client_counters(&client).open_now, 2);
    assert_int_equal(client_counters(&client).idle_now, 2);
    client_done(&client);
    peer_free(peer);
}

static void test_idle_timeout(void **state)
{
    (void)state;
    struct peer *peer = peer_with(serve_many);
    struct net_options options = default_options();
    struct client client;
    struct call call;
    options.idle_timeout_ns = 20 * NS_PER_MS;
    client_init(&client, peer->url, &options);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(client_counters(&client).idle_now, 1);
    struct mono start = mono_now();
    wait_counter(client.loop, offsetof(struct net_counters, idle_now), 0);
    assert_true(mono_diff_ns(mono_now(), start) >= 15 * NS_PER_MS);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 2);
    assert_false(call.x.reused);
    assert_int_equal(client_counters(&client).connects, 2);
    client_done(&client);
    peer_free(peer);
}

/* Without polling in between: age is looked at when a connection is taken. */
static void test_pool_is_last_in_first_out(void **state)
{
    (void)state;
    static const struct step scripts[2][8] = {{{STEP_REQUEST, 0, 0},
                                               {STEP_WAIT, 0, 0},
                                               {STEP_SEND, OK_RESPONSE, 0},
                                               {STEP_REQUEST, 0, 0},
                                               {STEP_SEND, OK_RESPONSE "0", 0},
                                               {STEP_HOLD, 0, 0}},
                                              {{STEP_REQUEST, 0, 0},
                                               {STEP_WAIT, 0, 1},
                                               {STEP_SEND, OK_RESPONSE, 0},
                                               {STEP_REQUEST, 0, 0},
                                               {STEP_SEND, OK_RESPONSE "11", 0},
                                               {STEP_HOLD, 0, 0}}};
    struct peer *peer = peer_new(NULL, NULL);
    struct net_options options = default_options();
    struct client client;
    struct call calls[2];
    peer_script(peer, scripts[0]);
    peer_script(peer, scripts[1]);
    peer_serve(peer);
    client_init(&client, peer->url, &options);
    for (int i = 0; i < 2; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        net_exchange_start(client.loop, &calls[i].x);
        while (atomic_load(&peer->requests) <= i)
            net_loop_poll(client.loop, mono_add_ns(mono_now(), NS_PER_MS));
    }
    for (int i = 1; i >= 0; i--) {
        peer_release(peer, i);
        call_wait(&calls[i], 1);
    }
    net_exchange_start(client.loop, &calls[1].x); /* takes connection 0, idle since the shorter time */
    call_wait(&calls[1], 2);
    assert_int_equal(calls[1].x.bytes_received, strlen(OK_RESPONSE "0"));
    client_done(&client);
    peer_free(peer);
}

static void test_prewarm(void **state)
{
    (void)state;
    struct peer *peer = peer_with(serve_many);
    struct net_options options = default_options();
    struct client client;
    struct call call;
    client_init(&client, peer->url, &options);
    net_loop_prewarm(client.loop, 0, 10);
    assert_int_equal(client_counters(&client).connecting_now, 10);
    wait_counter(client.loop, offsetof(struct net_counters, connecting_now), 0);
    assert_int_equal(client_counters(&client).idle_now, 10);
    net_loop_prewarm(client.loop, 0, 1000);
    wait_counter(client.loop, offsetof(struct net_counters, connecting_now), 0);
    assert_int_equal(client_counters(&client).idle_now, 64);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    assert_int_equal(call.end, NET_END_COMPLETE);
    assert_true(call.x.reused);
    assert_int_equal(client_counters(&client).connects, 64);
    client_done(&client);
    peer_free(peer);
}

/* ---- waiting ---- */

static void *wake_main(void *loop)
{
    net_loop_wake(loop);
    return NULL;
}

static void test_wake(void **state)
{
    (void)state;
    struct net_options options = default_options();
    struct client client;
    pthread_t thread;
    client_init(&client, "http://127.0.0.1:1", &options);
    pthread_create(&thread, NULL, wake_main, client.loop);
    struct mono start = mono_now();
    net_loop_poll(client.loop, mono_add_ns(start, 20 * NS_PER_S));
    assert_true(mono_diff_ns(mono_now(), start) < 10 * NS_PER_S);
    pthread_join(thread, NULL);
    /* One that was sent while nobody waited counts for the next wait, several count once. */
    for (int i = 0; i < 3; i++)
        net_loop_wake(client.loop);
    net_loop_poll(client.loop, mono_add_ns(mono_now(), 20 * NS_PER_S));
    start = mono_now();
    net_loop_poll(client.loop, mono_add_ns(start, 2 * NS_PER_MS));
    assert_true(mono_diff_ns(mono_now(), start) >= 2 * NS_PER_MS);
    client_done(&client);
}

static void test_waits_until(void **state)
{
    (void)state;
    for (int busy_us = 0; busy_us <= 100; busy_us += 100) {
        struct net_options options = default_options();
        struct client client;
        options.busy_poll_us = busy_us;
        client_init(&client, "http://127.0.0.1:1", &options);
        for (int i = 0; i < 20; i++) {
            struct mono until = mono_add_ns(mono_now(), 700 * NS_PER_US);
            struct mono returned = net_loop_poll(client.loop, until);
            assert_true(mono_diff_ns(returned, until) >= 0);
            assert_true(mono_diff_ns(mono_now(), returned) >= 0);
        }
        struct mono past = net_loop_poll(client.loop, (struct mono){0});
        assert_true(mono_diff_ns(mono_now(), past) < NS_PER_S);
        assert_int_equal(client_counters(&client).wakeups, 21);
        client_done(&client);
    }
}

/* ---- look-up ---- */

static void test_resolve(void **state)
{
    (void)state;
    struct net_endpoint endpoint;
    struct as_error err = {0};
    assert_int_equal(net_endpoint_parse("http://127.0.0.1:81", &endpoint, NULL), AS_OK);
    assert_int_equal(net_endpoint_resolve(&endpoint, 0, &err), AS_OK);
    assert_non_null(endpoint.addresses);
    assert_int_equal(endpoint.dns_ns, -1);
    net_endpoint_done(&endpoint);
    assert_int_equal(net_endpoint_parse("http://localhost:81", &endpoint, NULL), AS_OK);
    assert_int_equal(net_endpoint_resolve(&endpoint, 10 * NS_PER_S, &err), AS_OK);
    assert_non_null(endpoint.addresses);
    assert_true(endpoint.dns_ns >= 0);
    net_endpoint_done(&endpoint);
    /* No time at all: abandoned at once, whatever the resolver does. */
    assert_int_equal(net_endpoint_parse("http://localhost:81", &endpoint, NULL), AS_OK);
    as_status status = net_endpoint_resolve(&endpoint, 1, &err);
    assert_true(status == AS_E_TIMEOUT || status == AS_OK);
    if (status != AS_OK)
        assert_non_null(strstr(err.message, "localhost"));
    net_endpoint_done(&endpoint);
}

/* ---- proxy ---- */

#define TUNNEL_OPEN "HTTP/1.1 200 Connection established\r\n\r\n"

static struct call run_through_proxy(const struct step *script, char ret_heads[2][512])
{
    struct net_options options = default_options();
    struct peer *peer = peer_with(script);
    struct client client;
    struct call call;
    char proxy[64];
    snprintf(proxy, sizeof proxy, "http://u:p%%40ss@127.0.0.1:%u", (unsigned)peer->port);
    options.proxy = proxy;
    struct as_error err = {0};
    assert_int_equal(net_endpoint_parse("http://server.invalid:81", &client.endpoint, NULL), AS_OK);
    client.endpoints[0] = &client.endpoint;
    if (net_loop_new(&options, client.endpoints, 1, &client.loop, &err) != AS_OK)
        fail_msg("%s", err.message);
    call_init(&call, client.loop, PEER_GET);
    net_exchange_start(client.loop, &call.x);
    call_wait(&call, 1);
    client_done(&client);
    peer_stop(peer);
    memcpy(ret_heads, peer->heads, 2 * sizeof *peer->heads);
    peer_free(peer);
    return call;
}

static void test_proxy(void **state)
{
    (void)state;
    static const struct step script[] = {{STEP_REQUEST, 0, 0},        {STEP_SEND, TUNNEL_OPEN, 0}, {STEP_REQUEST, 0, 0},
                                         {STEP_SEND, OK_RESPONSE, 0}, {STEP_HOLD, 0, 0},           {STEP_END, 0, 0}};
    static const struct step refusing[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, "HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n", 0}, {STEP_END, 0, 0}};
    static const struct step closing[] = {{STEP_REQUEST, 0, 0}, {STEP_END, 0, 0}};
    static const struct step garbled[] = {
        {STEP_REQUEST, 0, 0}, {STEP_SEND, "nonsense\r\n\r\n", 0}, {STEP_HOLD, 0, 0}, {STEP_END, 0, 0}};
    char heads[2][512];
    struct call call = run_through_proxy(script, heads);
    assert_int_equal(call.end, NET_END_COMPLETE);
    assert_string_equal(heads[0], "CONNECT server.invalid:81 HTTP/1.1\r\nHost: server.invalid:81\r\n"
                                  "Proxy-Authorization: Basic dTpwQHNz\r\n\r\n");
    assert_string_equal(heads[1], PEER_GET);
    assert_int_equal(call.x.bytes_sent, strlen(PEER_GET));
    call = run_through_proxy(refusing, heads);
    assert_int_equal(call.end, NET_END_CONNECT);
    assert_non_null(strstr(call.x.error, "407"));
    call = run_through_proxy(closing, heads);
    assert_int_equal(call.end, NET_END_CONNECT);
    assert_non_null(strstr(call.x.error, "proxy closed"));
    call = run_through_proxy(garbled, heads);
    assert_int_equal(call.end, NET_END_CONNECT);
    assert_non_null(strstr(call.x.error, "not HTTP"));
}

static void test_bad_proxy(void **state)
{
    (void)state;
    static const char *const proxies[] = {"https://127.0.0.1:1", "unix:/tmp/x", "http://", "socks5://h:1"};
    struct net_endpoint endpoint;
    struct net_endpoint *endpoints[] = {&endpoint};
    assert_int_equal(net_endpoint_parse("h:1", &endpoint, NULL), AS_OK);
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++) {
        struct net_options options = default_options();
        struct net_loop *loop = NULL;
        struct as_error err = {0};
        options.proxy = proxies[i];
        assert_int_equal(net_loop_new(&options, endpoints, 1, &loop, &err), AS_E_INVALID);
        assert_null(loop);
        assert_non_null(strstr(err.message, "proxy"));
    }
    net_endpoint_done(&endpoint);
}

/* ---- in a network of its own, for the rest of the program ---- */

static bool enter_small_network(void)
{
    static bool is_inside;
    if (is_inside)
        return true;
    struct ifreq request = {.ifr_name = "lo"};
    if (unshare(CLONE_NEWNET) != 0)
        return false;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    ioctl(fd, SIOCGIFFLAGS, &request);
    request.ifr_flags |= IFF_UP;
    bool is_up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    int range = open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);
    bool is_set = range >= 0 && write(range, "40000 40009", 11) == 11;
    if (range >= 0)
        close(range);
    is_inside = is_up && is_set;
    return is_inside;
}

/* The first reason is told, except that this machine has no IPv6, which says little. */
static void test_reason_without_ipv6(void **state)
{
    (void)state;
    static const char *const orders[2][2] = {{"2001:db8::1", "127.0.0.1"}, {"127.0.0.1", "2001:db8::1"}};
    if (!enter_small_network())
        skip();
    check_reason(orders[0]);
    check_reason(orders[1]);
}

static void test_port_limit(void **state)
{
    (void)state;
    if (!enter_small_network())
        skip();
    struct peer *peer = peer_with(answer_late);
    struct net_options options = default_options();
    struct client client;
    struct call calls[20];
    int limited = 0;
    client_init(&client, peer->url, &options);
    for (int i = 0; i < 20; i++) {
        call_init(&calls[i], client.loop, PEER_GET);
        net_exchange_start(client.loop, &calls[i].x);
    }
    net_loop_poll(client.loop, mono_now());
    net_loop_poll(client.loop, mono_now());
    for (int i = 0; i < 20; i++) {
        if (calls[i].ends == 0)
            continue;
        assert_int_equal(calls[i].end, NET_END_CONNECT);
        assert_int_equal(calls[i].x.error_number, EADDRNOTAVAIL);
        assert_true(calls[i].x.local_limit);
        assert_non_null(strstr(calls[i].x.error, "ip_local_port_range"));
        limited++;
    }
    assert_in_range(limited, 10, 11);
    client_done(&client);
    peer_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cancel_a_pending_failure),
        cmocka_unit_test(test_second_address),
        cmocka_unit_test(test_good_address_dies),
        cmocka_unit_test(test_silent_address),
        cmocka_unit_test(test_connect_timeout),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_unix_socket_missing),
        cmocka_unit_test(test_unix_socket_queue_full),
        cmocka_unit_test(test_descriptor_limit),
        cmocka_unit_test(test_pool_limit),
        cmocka_unit_test(test_idle_timeout),
        cmocka_unit_test(test_pool_is_last_in_first_out),
        cmocka_unit_test(test_prewarm),
        cmocka_unit_test(test_wake),
        cmocka_unit_test(test_waits_until),
        cmocka_unit_test(test_resolve),
        cmocka_unit_test(test_proxy),
        cmocka_unit_test(test_bad_proxy),
        cmocka_unit_test(test_reason_without_ipv6),
        cmocka_unit_test(test_port_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
