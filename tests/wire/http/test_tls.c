/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

static void on_request(void *context, struct http_exchange *x)
{
    static const struct http_answer answer = {.status = 200, .content_type = "application/octet-stream"};
    (void)context;
    MUST(x->is_tls);
    MUST(http_answer(x, &answer, x->body, x->body_len) == AS_OK);
}

static const struct http_handler HANDLER = {.on_request = on_request};

struct keys {
    struct strbuf cert, key;
};

static void make_keys(struct keys *keys, const char *names)
{
    strbuf_init(&keys->cert, 0);
    strbuf_init(&keys->key, 0);
    assert_int_equal(http_tls_self_signed(names, 30, &keys->cert, &keys->key, NULL), AS_OK);
}

static void free_keys(struct keys *keys)
{
    strbuf_done(&keys->cert);
    strbuf_done(&keys->key);
}

static X509 *certificate_of(const struct keys *keys)
{
    BIO *bio = BIO_new_mem_buf(keys->cert.data, (int)keys->cert.len);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(cert);
    return cert;
}

static void start(struct fixture *fixture, struct http_tls *tls, struct http_server_options options)
{
    struct http_listener listener = {.tls = tls};
    options.handler = &HANDLER;
    fixture_start(fixture, &options, &listener);
}

/* A client that trusts only `keys` and expects `host`; NULL when the handshake fails. */
static SSL *shake_hands(const struct fixture *fixture, const struct keys *keys, const char *host, const char *alpn)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    X509 *cert = certificate_of(keys);
    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), cert), 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL *ssl = SSL_new(context);
    SSL_CTX_free(context);
    X509_free(cert);
    if (!X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host))
        assert_int_equal(SSL_set1_host(ssl, host), 1);
    if (alpn)
        assert_int_equal(SSL_set_alpn_protos(ssl, (const unsigned char *)alpn, (unsigned)strlen(alpn)), 0);
    int fd = client_connect(fixture);
    assert_true(http_tls_attach(ssl, fd));
    SSL_set_app_data(ssl, (void *)(intptr_t)fd);
    if (SSL_connect(ssl) == 1)
        return ssl;
    ERR_clear_error();
    SSL_free(ssl);
    close(fd);
    return NULL;
}

static void hang_up(SSL *ssl)
{
    int fd = (int)(intptr_t)SSL_get_app_data(ssl);
    SSL_shutdown(ssl);
    SSL_free(ssl);
    close(fd);
}

static void write_all(SSL *ssl, const char *data, size_t len)
{
    while (len) {
        int sent = SSL_write(ssl, data, len > 100000 ? 100000 : (int)len);
        assert_true(sent > 0);
        data += sent;
        len -= (size_t)sent;
    }
}

static void read_until_end(SSL *ssl, struct strbuf *text)
{
    char bytes[16384];
    int got;
    while ((got = SSL_read(ssl, bytes, sizeof bytes)) > 0)
        strbuf_add(text, bytes, (size_t)got);
    assert_int_equal(SSL_get_error(ssl, got), SSL_ERROR_ZERO_RETURN); /* close_notify came */
}

static void test_exchange_and_verification(void **state)
{
    (void)state;
    struct fixture fixture;
    struct keys keys;
    struct http_tls *tls;
    make_keys(&keys, "localhost,127.0.0.1,::1");
    assert_int_equal(http_tls_new_pem(keys.cert.data, keys.key.data, &tls, NULL), AS_OK);
    start(&fixture, tls, (struct http_server_options){0});
    static const char *const hosts[] = {"localhost", "127.0.0.1", "::1"};
    for (size_t i = 0; i < 3; i++) {
        AS_AUTO_STRBUF struct strbuf text;
        strbuf_init(&text, 0);
        SSL *ssl = shake_hands(&fixture, &keys, hosts[i], "\x02h2\x08http/1.1");
        assert_non_null(ssl);
        const unsigned char *protocol;
        unsigned len;
        SSL_get0_alpn_selected(ssl, &protocol, &len);
        assert_int_equal(len, 8);
        assert_memory_equal(protocol, "http/1.1", 8);
        assert_true(SSL_version(ssl) >= TLS1_2_VERSION);
        static const char request[] =
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
        write_all(ssl, request, sizeof request - 1);
        read_until_end(ssl, &text);
        assert_non_null(strstr(strbuf_text(&text), "\r\n\r\nhello"));
        hang_up(ssl);
    }
    assert_null(shake_hands(&fixture, &keys, "example.invalid", NULL));
    assert_null(shake_hands(&fixture, &keys, "localhost", "\x02h2"));
    fixture_stop(&fixture);
    http_tls_free(tls);
    free_keys(&keys);
}

/* More than a record, more than socket buffers, both ways, twice on one connection. */
static void test_large_bodies(void **state)
{
    (void)state;
    struct fixture fixture;
    struct keys keys;
    struct http_tls *tls;
    size_t len = (size_t)3 * 1024 * 1024 + 17;
    make_keys(&keys, "localhost");
    assert_int_equal(http_tls_new_pem(keys.cert.data, keys.key.data, &tls, NULL), AS_OK);
    start(&fixture, tls, (struct http_server_options){.max_body_bytes = (size_t)8 * 1024 * 1024});
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    char *body = malloc(len);
    assert_non_null(body);
    for (size_t i = 0; i < len; i++)
        body[i] = (char)('a' + i % 23);
    SSL *ssl = shake_hands(&fixture, &keys, "localhost", NULL);
    assert_non_null(ssl);
    for (int last = 0; last < 2; last++) {
        char head[128];
        int head_len = snprintf(head, sizeof head, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n%s\r\n", len,
                                last ? "Connection: close\r\n" : "");
        write_all(ssl, head, (size_t)head_len);
        write_all(ssl, body, len);
        char bytes[16384];
        while (!last && text.len < len) {
            int got = SSL_read(ssl, bytes, sizeof bytes);
            assert_true(got > 0);
            strbuf_add(&text, bytes, (size_t)got);
        }
    }
    read_until_end(ssl, &text);
    assert_true(text.len > 2 * len);
    assert_memory_equal(text.data + text.len - len, body, len);
    hang_up(ssl);
    free(body);
    fixture_stop(&fixture);
    http_tls_free(tls);
    free_keys(&keys);
}

static void write_file(const char *path, const struct strbuf *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->len, file), text->len);
    assert_int_equal(fclose(file), 0);
}

static void test_reload(void **state)
{
    (void)state;
    struct fixture fixture;
    struct keys old, new;
    struct http_tls *tls;
    struct as_error err;
    char folder[] = "/tmp/assay-tls-XXXXXX", cert[64], key[64];
    assert_non_null(mkdtemp(folder));
    snprintf(cert, sizeof cert, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    make_keys(&old, "localhost");
    make_keys(&new, "localhost");
    write_file(cert, &old.cert);
    write_file(key, &old.key);
    assert_int_equal(http_tls_new(cert, key, &tls, &err), AS_OK);
    start(&fixture, tls, (struct http_server_options){0});
    SSL *before = shake_hands(&fixture, &old, "localhost", NULL);
    assert_non_null(before);
    write_file(cert, &new.cert); /* the key is still the old one: refused, and the old pair stays */
    assert_int_equal(http_tls_reload(tls, &err), AS_E_INVALID);
    assert_non_null(strstr(err.message, cert));
    SSL *meanwhile = shake_hands(&fixture, &old, "localhost", NULL);
    assert_non_null(meanwhile);
    hang_up(meanwhile);
    write_file(key, &new.key);
    assert_int_equal(http_tls_reload(tls, &err), AS_OK);
    assert_null(shake_hands(&fixture, &old, "localhost", NULL));
    SSL *after = shake_hands(&fixture, &new, "localhost", NULL);
    assert_non_null(after);
    hang_up(after);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    write_all(before, request, sizeof request - 1); /* the old connection still works */
    read_until_end(before, &text);
    assert_memory_equal(text.data, "HTTP/1.1 200 OK", 15);
    hang_up(before);
    fixture_stop(&fixture);
    unlink(cert);
    assert_int_equal(http_tls_reload(tls, &err), AS_E_NOTFOUND);
    unlink(key);
    rmdir(folder);
    http_tls_free(tls);
    free_keys(&old);
    free_keys(&new);
}

static void test_bad_material(void **state)
{
    (void)state;
    struct keys keys, other;
    struct http_tls *tls = NULL;
    struct as_error err;
    make_keys(&keys, "localhost");
    make_keys(&other, "localhost");
    assert_int_equal(http_tls_new_pem("", keys.key.data, &tls, &err), AS_E_INVALID);
    assert_int_equal(http_tls_new_pem(keys.cert.data, "", &tls, &err), AS_E_INVALID);
    assert_int_equal(http_tls_new_pem(keys.cert.data, other.key.data, &tls, &err), AS_E_INVALID);
    assert_int_equal(http_tls_new_pem(keys.key.data, keys.cert.data, &tls, &err), AS_E_INVALID);
    assert_int_equal(http_tls_new("/nonexistent/cert", "/nonexistent/key", &tls, &err), AS_E_NOTFOUND);
    assert_int_equal(http_tls_self_signed("", 30, &other.cert, &other.key, &err), AS_E_INVALID);
    assert_int_equal(http_tls_self_signed("a,,b", 30, &other.cert, &other.key, &err), AS_E_INVALID);
    assert_int_equal(http_tls_self_signed("a", 0, &other.cert, &other.key, &err), AS_E_INVALID);
    assert_null(tls);
    assert_int_equal(http_tls_new_pem(keys.cert.data, keys.key.data, &tls, &err), AS_OK);
    assert_int_equal(http_tls_reload(tls, &err), AS_E_STATE);
    http_tls_free(tls);
    free_keys(&keys);
    free_keys(&other);
}

/* Plain text, and silence, on a TLS port end in a close. */
static void test_clients_that_speak_no_tls(void **state)
{
    (void)state;
    struct fixture fixture;
    struct keys keys;
    struct http_tls *tls;
    make_keys(&keys, "localhost");
    assert_int_equal(http_tls_new_pem(keys.cert.data, keys.key.data, &tls, NULL), AS_OK);
    start(&fixture, tls, (struct http_server_options){.head_timeout_ns = 200 * NS_PER_MS});
    static const char *const texts[] = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""};
    for (size_t i = 0; i < 2; i++) {
        AS_AUTO_STRBUF struct strbuf text;
        strbuf_init(&text, 0);
        int fd = client_connect(&fixture);
        client_send(fd, texts[i]);
        while (client_read(fd, &text) > 0)
            ;
        assert_null(strstr(strbuf_text(&text), "HTTP/"));
        close(fd);
    }
    fixture_stop(&fixture);
    http_tls_free(tls);
    free_keys(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange_and_verification),
        cmocka_unit_test(test_large_bodies),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_bad_material),
        cmocka_unit_test(test_clients_that_speak_no_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
