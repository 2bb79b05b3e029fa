/* SPDX-License-Identifier: Apache-2.0 */
#include "net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct good_url {
    const char *url, *shown, *host, *host_header, *prefix, *unix_path;
    int port;
    bool is_tls;
};

static const struct good_url good_urls[] = {
    {"http://h:8000", NULL, "h", "h:8000", "/v1", NULL, 8000, false},
    {"http://h:8000/", NULL, "h", "h:8000", "/v1", NULL, 8000, false},
    {"http://h:8000/v1", NULL, "h", "h:8000", "/v1", NULL, 8000, false},
    {"http://h:8000/v1/", NULL, "h", "h:8000", "/v1", NULL, 8000, false},
    {"http://h:8000/v1/chat/completions", NULL, "h", "h:8000", "/v1", NULL, 8000, false},
    {"http://h:8000/v1/completions/", NULL, "h", "h:8000", "/v1", NULL, 8000, false},
    {"http://h/v1/audio/transcriptions", NULL, "h", "h", "/v1", NULL, 80, false},
    {"http://h/v1/images/generations", NULL, "h", "h", "/v1", NULL, 80, false},
    {"http://h/v1/models", NULL, "h", "h", "/v1", NULL, 80, false},
    {"http://h/chat/completions", NULL, "h", "h", "/v1", NULL, 80, false},
    {"http://h/mychat/completions2", NULL, "h", "h", "/mychat/completions2", NULL, 80, false},
    {"http://h/api/openai//", NULL, "h", "h", "/api/openai", NULL, 80, false},
    {"HTTPS://Host.Example:443/x", NULL, "Host.Example", "Host.Example", "/x", NULL, 443, true},
    {"https://h", NULL, "h", "h", "/v1", NULL, 443, true},
    {"https://h:80", NULL, "h", "h:80", "/v1", NULL, 80, true},
    {"localhost:8000", NULL, "localhost", "localhost:8000", "/v1", NULL, 8000, false},
    {"10.0.0.1:1/v1", NULL, "10.0.0.1", "10.0.0.1:1", "/v1", NULL, 1, false},
    {"h", NULL, "h", "h", "/v1", NULL, 80, false},
    {"http://[::1]:9", NULL, "::1", "[::1]:9", "/v1", NULL, 9, false},
    {"[fe80::1]", NULL, "fe80::1", "[fe80::1]", "/v1", NULL, 80, false},
    {"https://user:p@ss@h:1/v1", "https://h:1/v1", "h", "h:1", "/v1", NULL, 1, true},
    {"user@h:2", "h:2", "h", "h:2", "/v1", NULL, 2, false},
    {"unix:/run/s.sock", NULL, "localhost", "localhost", "/v1", "/run/s.sock", 0, false},
    {"unix:/run/s.sock:/base/chat/completions", NULL, "localhost", "localhost", "/base", "/run/s.sock", 0, false},
    {"unix:///run/s.sock", NULL, "localhost", "localhost", "/v1", "/run/s.sock", 0, false},
    {"http+unix://%2Frun%2Fa%20b.sock/v2", NULL, "localhost", "localhost", "/v2", "/run/a b.sock", 0, false},
    {"http+unix://%2frun%2fs", NULL, "localhost", "localhost", "/v1", "/run/s", 0, false},
};

static void test_good_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_urls / sizeof *good_urls; i++) {
        const struct good_url *want = &good_urls[i];
        struct net_endpoint endpoint;
        struct as_error err = {0};
        if (net_endpoint_parse(want->url, &endpoint, &err) != AS_OK)
            fail_msg("%s: %s", want->url, err.message);
        assert_string_equal(endpoint.url, want->shown ? want->shown : want->url);
        assert_string_equal(endpoint.name, endpoint.url);
        assert_string_equal(endpoint.host, want->host);
        assert_string_equal(endpoint.host_header, want->host_header);
        assert_string_equal(endpoint.path_prefix, want->prefix);
        assert_int_equal(endpoint.port, want->port);
        assert_int_equal(endpoint.is_tls, want->is_tls);
        assert_int_equal(endpoint.dns_ns, -1);
        assert_null(endpoint.addresses);
        if (want->unix_path)
            assert_string_equal(endpoint.unix_path, want->unix_path);
        else
            assert_null(endpoint.unix_path);
        net_endpoint_done(&endpoint);
    }
}

/* Behind each kind of URL; keys are sent and not shown. */
static void test_queries(void **state)
{
    (void)state;
    static const struct {
        const char *url, *shown, *prefix, *query;
    } cases[] = {
        {"https://h/openai/deployments/x/chat/completions?api-version=2024-06-01", NULL, "/openai/deployments/x",
         "?api-version=2024-06-01"},
        {"https://h/openai/deployments/x?api-key=s3cret&v=1", "https://h/openai/deployments/x?api-key=***&v=1",
         "/openai/deployments/x", "?api-key=s3cret&v=1"},
        {"http://h:8000?a=/b@c:/d", NULL, "/v1", "?a=/b@c:/d"},
        {"http://h:8000/?a=1", NULL, "/v1", "?a=1"},
        {"h:8000?a=http://x/y", NULL, "/v1", "?a=http://x/y"},
        {"http://me:pw@h/v1?sig=x%2F&key=", "http://h/v1?sig=***&key=", "/v1", "?sig=x%2F&key="},
        {"http://[::1]:9?a", NULL, "/v1", "?a"},
        {"http://h/v1?", NULL, "/v1", ""},
        {"http://h/v1", NULL, "/v1", ""},
        {"unix:/run/s.sock?token=x", "unix:/run/s.sock?token=***", "/v1", "?token=x"},
        {"unix:/run/s.sock:/base/completions?a=:/b", NULL, "/base", "?a=:/b"},
        {"http+unix://%2Frun%2Fs?a=1", NULL, "/v1", "?a=1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct net_endpoint endpoint;
        struct as_error err = {0};
        if (net_endpoint_parse(cases[i].url, &endpoint, &err) != AS_OK)
            fail_msg("%s: %s", cases[i].url, err.message);
        assert_string_equal(endpoint.url, cases[i].shown ? cases[i].shown : cases[i].url);
        assert_string_equal(endpoint.name, endpoint.url);
        assert_string_equal(endpoint.path_prefix, cases[i].prefix);
        assert_string_equal(endpoint.query, cases[i].query);
        net_endpoint_done(&endpoint);
    }
}

static const char *const bad_urls[] = {
    "",
    "http://",
    "http:///v1",
    "ftp://h/",
    "ws://h",
    "http://h:0",
    "http://h:65536",
    "http://h:999999999999",
    "http://h:8o",
    "http://h:-1",
    "http://:80",
    "http://[::1",
    "http://[::1]x",
    "http://[]",
    "http://::1:8000",
    "http://h/a b",
    "http://h/\r\nX: y",
    "http://h\xc3\xa4",
    "http://h/v1#f",
    "unix:",
    "unix:relative",
    "unix:/",
    "http+unix://run/s",
    "http+unix://%2Frun%2",
    "http+unix://%2Frun%zz",
    "http+unix://%2Frun%00x",
};

static void test_bad_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_urls / sizeof *bad_urls; i++) {
        struct net_endpoint endpoint = {.port = 77};
        struct as_error err = {0};
        if (net_endpoint_parse(bad_urls[i], &endpoint, &err) != AS_E_INVALID)
            fail_msg("accepted: %s", bad_urls[i]);
        assert_int_equal(err.status, AS_E_INVALID);
        assert_true(strlen(err.message) > 20);
        assert_int_equal(endpoint.port, 77);
    }
}

static void test_long_socket_path(void **state)
{
    (void)state;
    char url[200] = "unix:/";
    struct net_endpoint endpoint;
    struct as_error err = {0};
    memset(url + 6, 'x', 106); /* 107 bytes of path: the most that fit */
    assert_int_equal(net_endpoint_parse(url, &endpoint, &err), AS_OK);
    net_endpoint_done(&endpoint);
    url[6 + 106] = 'x';
    assert_int_equal(net_endpoint_parse(url, &endpoint, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, "107"));
}

static void test_no_secret_in_messages(void **state)
{
    (void)state;
    struct net_endpoint endpoint;
    struct as_error err = {0};
    assert_int_equal(net_endpoint_parse("http://me:hunter2@h:x", &endpoint, &err), AS_E_INVALID);
    assert_null(strstr(err.message, "hunter2"));
    assert_int_equal(net_endpoint_parse("me:hunter2@h:1", &endpoint, &err), AS_OK);
    assert_null(strstr(endpoint.url, "hunter2"));
    net_endpoint_done(&endpoint);
}

/* Any bytes: accepted or refused, never a crash, and what is accepted fits a request line. */
static void test_any_prefix_of_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_urls / sizeof *good_urls; i++) {
        char text[200];
        size_t len = strlen(good_urls[i].url);
        for (size_t cut = 0; cut <= len; cut++) {
            struct net_endpoint endpoint;
            memcpy(text, good_urls[i].url, cut);
            text[cut] = '\0';
            if (net_endpoint_parse(text, &endpoint, NULL) != AS_OK)
                continue;
            assert_true(endpoint.path_prefix[0] == '/');
            assert_true(endpoint.host[0] != '\0');
            net_endpoint_done(&endpoint);
        }
    }
}

static void test_done_twice(void **state)
{
    (void)state;
    struct net_endpoint endpoint;
    assert_int_equal(net_endpoint_parse("h:1", &endpoint, NULL), AS_OK);
    net_endpoint_done(&endpoint);
    net_endpoint_done(&endpoint);
    net_endpoint_done(NULL);
    assert_null(endpoint.host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_urls),
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_bad_urls),
        cmocka_unit_test(test_long_socket_path),
        cmocka_unit_test(test_no_secret_in_messages),
        cmocka_unit_test(test_any_prefix_of_urls),
        cmocka_unit_test(test_done_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
