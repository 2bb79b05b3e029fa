/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/net/peer.h"

#include <dlfcn.h>

/* Names under the test's hand: this program's getaddrinfo stands before the C library's. */
static sem_t slow_may_answer, slow_was_asked;

static int real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    int (*function)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&function, &symbol, sizeof function);
    return function(node, service, hints, ret);
}

int getaddrinfo(const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict ret)
{
    if (hints->ai_flags & AI_NUMERICHOST)
        return real_getaddrinfo(node, service, hints, ret);
    if (strcmp(node, "slow.test") == 0) {
        sem_post(&slow_was_asked);
        peer_sem_wait(&slow_may_answer);
        return real_getaddrinfo("127.0.0.1", service, hints, ret);
    }
    if (strcmp(node, "quick.test") == 0)
        return real_getaddrinfo("127.0.0.1", service, hints, ret);
    if (strcmp(node, "broken.test") == 0)
        return EAI_AGAIN;
    return EAI_NONAME;
}

static as_status resolve(const char *url, int64_t timeout_ns, struct net_endpoint *ret, struct as_error *err)
{
    assert_int_equal(net_endpoint_parse(url, ret, err), AS_OK);
    return net_endpoint_resolve(ret, timeout_ns, err);
}

static void test_quick(void **state)
{
    (void)state;
    struct net_endpoint endpoint;
    struct as_error err = {0};
    assert_int_equal(resolve("http://quick.test:81", 20 * NS_PER_S, &endpoint, &err), AS_OK);
    assert_int_equal(ntohs(((const struct sockaddr_in *)(const void *)endpoint.addresses->ai_addr)->sin_port), 81);
    assert_int_equal(endpoint.addresses->ai_socktype, SOCK_STREAM);
    assert_true(endpoint.dns_ns > 0);
    net_endpoint_done(&endpoint);
}

/* Literal addresses and sockets ask nobody, and need no time. */
static void test_nothing_to_look_up(void **state)
{
    (void)state;
    static const char *const urls[] = {"http://127.0.0.1:1", "http://[::1]:1", "unix:/run/x.sock"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct net_endpoint endpoint;
        struct as_error err = {0};
        assert_int_equal(resolve(urls[i], 0, &endpoint, &err), AS_OK);
        assert_int_equal(endpoint.dns_ns, -1);
        assert_int_equal(endpoint.addresses != NULL, i < 2);
        net_endpoint_done(&endpoint);
    }
}

static void test_failures(void **state)
{
    (void)state;
    struct net_endpoint endpoint;
    struct as_error err = {0};
    assert_int_equal(resolve("http://missing.test", 20 * NS_PER_S, &endpoint, &err), AS_E_NETWORK);
    assert_non_null(strstr(err.message, "missing.test"));
    assert_null(endpoint.addresses);
    net_endpoint_done(&endpoint);
    assert_int_equal(resolve("http://broken.test", 20 * NS_PER_S, &endpoint, &err), AS_E_NETWORK);
    assert_non_null(strstr(err.message, "broken.test"));
    net_endpoint_done(&endpoint);
}

/* A resolver that hangs is left behind; its late answer harms nobody. */
static void test_slow(void **state)
{
    (void)state;
    struct as_error err = {0};
    for (int i = 0; i < 3; i++) {
        struct net_endpoint endpoint;
        struct mono start = mono_now();
        assert_int_equal(resolve("http://slow.test", 20 * NS_PER_MS, &endpoint, &err), AS_E_TIMEOUT);
        assert_true(mono_diff_ns(mono_now(), start) >= 20 * NS_PER_MS);
        assert_non_null(strstr(err.message, "slow.test"));
        assert_null(endpoint.addresses);
        assert_true(endpoint.dns_ns >= 20 * NS_PER_MS);
        net_endpoint_done(&endpoint);
    }
    for (int i = 0; i < 3; i++) {
        peer_sem_wait(&slow_was_asked);
        sem_post(&slow_may_answer);
    }
}

static void test_slow_but_in_time(void **state)
{
    (void)state;
    struct net_endpoint endpoint;
    struct as_error err = {0};
    sem_post(&slow_may_answer);
    assert_int_equal(resolve("http://slow.test", 20 * NS_PER_S, &endpoint, &err), AS_OK);
    assert_non_null(endpoint.addresses);
    net_endpoint_done(&endpoint);
}

static int init(void **state)
{
    (void)state;
    return sem_init(&slow_may_answer, 0, 0) | sem_init(&slow_was_asked, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quick),    cmocka_unit_test(test_nothing_to_look_up),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_slow_but_in_time),
        cmocka_unit_test(test_slow),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
