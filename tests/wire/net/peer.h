/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_WIRE_NET_PEER_H
#define ASSAY_TESTS_WIRE_NET_PEER_H

/*
 * A scripted server on loopback for the transport's tests, and a client that keeps what it was told. The server runs
 * script number i (the last one from then on) on the i-th accepted connection, each in its own thread. Nothing sleeps:
 * a script waits for bytes, for the client's close, or for the test's peer_release.
 */

#include "net/net.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum step_kind {
    STEP_END,     /* close */
    STEP_REQUEST, /* read one request: head and Content-Length bytes; when the client closes before, end */
    STEP_HEAD,    /* read a request's head only */
    STEP_SEND,    /* write `text` */
    STEP_WAIT,    /* for peer_release number `len` */
    STEP_TELL,    /* let peer_await go on */
    STEP_FIN,     /* shut down writing; over TLS without close_notify */
    STEP_NOTIFY,  /* TLS close_notify */
    STEP_RESET,   /* close with RST */
    STEP_HOLD,    /* read until the client closes */
    STEP_TLS,     /* become a TLS server (after a proxy's answer) */
    STEP_REPEAT   /* from the first step again */
};

struct step {
    enum step_kind kind;
    const char *text;
    size_t len; /* 0 = strlen */
};

#define PEER_SCRIPTS_MAX     8
#define PEER_CONNECTIONS_MAX 4096

struct peer {
    int listen_fd;
    uint16_t port;
    char url[160];
    char unix_path[100];
    const struct step *scripts[PEER_SCRIPTS_MAX];
    int script_count;
    SSL_CTX *tls;      /* NULL = plain */
    bool is_tunnelled; /* TLS begins at STEP_TLS */
    pthread_t acceptor;
    pthread_t threads[PEER_CONNECTIONS_MAX];
    _Atomic int accepted;
    _Atomic int requests;
    char heads[4][512]; /* of the first requests; look after peer_stop */
    bool is_stopped;
    sem_t released[2], told;
};

struct peer_connection {
    struct peer *peer;
    int fd;
    SSL *tls;
    const struct step *script;
    char buffer[8192]; /* bytes read and not yet used */
    size_t len;
};

static inline ssize_t peer_read(struct peer_connection *p, void *data, size_t len)
{
    return p->tls ? SSL_read(p->tls, data, (int)len) : recv(p->fd, data, len, 0);
}

static inline void peer_write(struct peer_connection *p, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = p->tls ? SSL_write(p->tls, data, (int)len) : send(p->fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        data += n;
        len -= (size_t)n;
    }
}

static inline size_t peer_head_len(const struct peer_connection *p)
{
    const char *end = memmem(p->buffer, p->len, "\r\n\r\n", 4);
    return end ? (size_t)(end + 4 - p->buffer) : 0;
}

static inline void peer_use(struct peer_connection *p, size_t len)
{
    memmove(p->buffer, p->buffer + len, p->len - len);
    p->len -= len;
}

/* False when the client closed before the head was whole. */
static inline bool peer_read_request(struct peer_connection *p, bool with_body)
{
    size_t head;
    while (!(head = peer_head_len(p))) {
        ssize_t n = peer_read(p, p->buffer + p->len, sizeof p->buffer - p->len);
        if (n <= 0)
            return false;
        p->len += (size_t)n;
    }
    const char *field = memmem(p->buffer, head, "Content-Length: ", 16);
    size_t body = field && with_body ? strtoul(field + 16, NULL, 10) : 0;
    int number = atomic_fetch_add(&p->peer->requests, 1);
    if (number < 4)
        snprintf(p->peer->heads[number], sizeof p->peer->heads[number], "%.*s", (int)head, p->buffer);
    peer_use(p, head);
    while (body > 0) {
        if (p->len == 0) {
            ssize_t n = peer_read(p, p->buffer, sizeof p->buffer);
            if (n <= 0)
                return false;
            p->len = (size_t)n;
        }
        size_t take = p->len < body ? p->len : body;
        peer_use(p, take);
        body -= take;
    }
    return true;
}

static inline bool peer_start_tls(struct peer_connection *p)
{
    p->tls = SSL_new(p->peer->tls);
    SSL_set_fd(p->tls, p->fd);
    return SSL_accept(p->tls) == 1;
}

static inline void peer_sem_wait(sem_t *sem)
{
    while (sem_wait(sem) != 0)
        continue;
}

static inline void peer_hold(struct peer_connection *p)
{
    char sink[4096];
    while (peer_read(p, sink, sizeof sink) > 0)
        continue;
}

/* One step; false ends the script. */
static inline bool peer_step(struct peer_connection *p, const struct step *step)
{
    struct linger hard = {1, 0};
    switch (step->kind) {
    case STEP_END:
        return false;
    case STEP_REQUEST:
    case STEP_HEAD:
        return peer_read_request(p, step->kind == STEP_REQUEST);
    case STEP_SEND:
        peer_write(p, step->text, step->len ? step->len : strlen(step->text));
        return true;
    case STEP_WAIT:
        peer_sem_wait(&p->peer->released[step->len]);
        return true;
    case STEP_TELL:
        sem_post(&p->peer->told);
        return true;
    case STEP_FIN:
        shutdown(p->fd, SHUT_WR);
        return true;
    case STEP_NOTIFY:
        SSL_shutdown(p->tls);
        return true;
    case STEP_RESET:
        setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        return false;
    case STEP_HOLD:
        peer_hold(p);
        return true;
    case STEP_TLS:
        return peer_start_tls(p);
    case STEP_REPEAT:
        return true;
    }
    return false;
}

static inline void *peer_connection_main(void *argument)
{
    struct peer_connection *p = argument;
    bool is_going = !p->peer->tls || p->peer->is_tunnelled || peer_start_tls(p);
    for (const struct step *step = p->script; is_going; step = step->kind == STEP_REPEAT ? p->script : step + 1)
        is_going = peer_step(p, step);
    if (p->tls) {
        SSL_set_quiet_shutdown(p->tls, 1);
        SSL_free(p->tls);
    }
    close(p->fd);
    free(p);
    return NULL;
}

static inline void *peer_acceptor_main(void *argument)
{
    struct peer *peer = argument;
    for (;;) {
        int fd = accept(peer->listen_fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        struct peer_connection *p = calloc(1, sizeof *p);
        int i = atomic_load(&peer->accepted);
        assert_true(p && i < PEER_CONNECTIONS_MAX);
        p->peer = peer;
        p->fd = fd;
        p->script = peer->scripts[i < peer->script_count ? i : peer->script_count - 1];
        atomic_store(&peer->accepted, i + 1);
        pthread_create(&peer->threads[i], NULL, peer_connection_main, p);
    }
}

/* Listens; `scripts` are given by peer_script before peer_serve. unix_path NULL = TCP on `host` (NULL = 127.0.0.1). */
static inline struct peer *peer_new(const char *host, const char *unix_path)
{
    struct peer *peer = calloc(1, sizeof *peer);
    int on = 1;
    assert_non_null(peer);
    sem_init(&peer->released[0], 0, 0);
    sem_init(&peer->released[1], 0, 0);
    sem_init(&peer->told, 0, 0);
    if (unix_path) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s", unix_path);
        snprintf(peer->unix_path, sizeof peer->unix_path, "%s", unix_path);
        snprintf(peer->url, sizeof peer->url, "unix:%s", unix_path);
        unlink(unix_path);
        peer->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(peer->listen_fd, (struct sockaddr *)&address, sizeof address), 0);
    } else {
        struct sockaddr_in address = {.sin_family = AF_INET};
        socklen_t len = sizeof address;
        inet_pton(AF_INET, host ? host : "127.0.0.1", &address.sin_addr);
        peer->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(peer->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        assert_int_equal(bind(peer->listen_fd, (struct sockaddr *)&address, sizeof address), 0);
        getsockname(peer->listen_fd, (struct sockaddr *)&address, &len);
        peer->port = ntohs(address.sin_port);
        snprintf(peer->url, sizeof peer->url, "http://%s:%u", host ? host : "127.0.0.1", (unsigned)peer->port);
    }
    assert_int_equal(listen(peer->listen_fd, 1024), 0);
    return peer;
}

static inline void peer_script(struct peer *peer, const struct step *script)
{
    assert_true(peer->script_count < PEER_SCRIPTS_MAX);
    peer->scripts[peer->script_count++] = script;
}

static inline void peer_serve(struct peer *peer)
{
    assert_int_equal(pthread_create(&peer->acceptor, NULL, peer_acceptor_main, peer), 0);
}

/* A TCP peer with one script, serving. */
static inline struct peer *peer_with(const struct step *script)
{
    struct peer *peer = peer_new(NULL, NULL);
    peer_script(peer, script);
    peer_serve(peer);
    return peer;
}

static inline void peer_release(struct peer *peer, int number)
{
    sem_post(&peer->released[number]);
}

static inline void peer_await(struct peer *peer)
{
    peer_sem_wait(&peer->told);
}

/* Call after the loop was freed: then every script ends. */
static inline void peer_stop(struct peer *peer)
{
    if (peer->is_stopped)
        return;
    peer->is_stopped = true;
    shutdown(peer->listen_fd, SHUT_RDWR);
    if (peer->acceptor)
        pthread_join(peer->acceptor, NULL);
    for (int i = 0; i < 2 * atomic_load(&peer->accepted); i++)
        peer_release(peer, i % 2);
    for (int i = 0; i < atomic_load(&peer->accepted); i++)
        pthread_join(peer->threads[i], NULL);
}

static inline void peer_free(struct peer *peer)
{
    peer_stop(peer);
    close(peer->listen_fd);
    if (peer->unix_path[0])
        unlink(peer->unix_path);
    SSL_CTX_free(peer->tls);
    sem_destroy(&peer->released[0]);
    sem_destroy(&peer->released[1]);
    sem_destroy(&peer->told);
    free(peer);
}

/* ---- TLS server side ---- */

struct identity {
    EVP_PKEY *key;
    X509 *certificate;
    char pem_path[64]; /* the certificate, for ca_cert */
};

/* Self-signed, for DNS:localhost, DNS:server.test and IP:127.0.0.1, or for another name; `valid_s` from now, may be
 * past. */
static inline void identity_make(struct identity *id, const char *alternative_names, long valid_s)
{
    X509V3_CTX context;
    id->key = EVP_EC_gen("P-256");
    id->certificate = X509_new();
    assert_non_null(id->key);
    X509_set_version(id->certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(id->certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(id->certificate), -86400);
    X509_gmtime_adj(X509_getm_notAfter(id->certificate), valid_s);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(id->certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)"test server", -1, -1, 0);
    X509_set_issuer_name(id->certificate, X509_get_subject_name(id->certificate));
    X509_set_pubkey(id->certificate, id->key);
    X509V3_set_ctx(&context, id->certificate, id->certificate, NULL, NULL, 0);
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, &context, NID_subject_alt_name, alternative_names);
    assert_non_null(names);
    X509_add_ext(id->certificate, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(id->certificate, id->key, EVP_sha256());
    snprintf(id->pem_path, sizeof id->pem_path, "/tmp/assay-net-XXXXXX");
    int fd = mkstemp(id->pem_path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    PEM_write_X509(file, id->certificate);
    fclose(file);
}

static inline void identity_done(struct identity *id)
{
    unlink(id->pem_path);
    X509_free(id->certificate);
    EVP_PKEY_free(id->key);
}

/* Before peer_serve. */
static inline void peer_use_tls(struct peer *peer, const struct identity *id, const char *host)
{
    peer->tls = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(peer->tls, id->certificate);
    SSL_CTX_use_PrivateKey(peer->tls, id->key);
    snprintf(peer->url, sizeof peer->url, "https://%s:%u", host, (unsigned)peer->port);
}

/* ---- the client's side ---- */

struct call {
    struct net_exchange x; /* first: ops get its address */
    struct net_loop *loop;
    char body[4096]; /* its begin */
    uint64_t body_len;
    int heads, spans, read_ends, ends;
    int restarts_left; /* on_end starts it again so often */
    bool cancel_at_head, cancel_at_span;
    struct net_exchange *victim; /* cancelled from on_span */
    struct net_exchange *heir;   /* started from on_span, once */
    int status;
    enum net_end end;
    struct net_stamp stamp; /* last */
    bool last_between;
};

static inline void call_on_head(struct net_exchange *x, const struct http_response_head *head,
                                const struct net_stamp *stamp)
{
    struct call *call = (struct call *)x;
    call->heads++;
    call->status = head->status;
    call->stamp = *stamp;
    if (call->cancel_at_head)
        net_exchange_cancel(call->loop, x);
}

static inline void call_on_span(struct net_exchange *x, const char *data, size_t len, const struct net_stamp *stamp)
{
    struct call *call = (struct call *)x;
    call->spans++;
    call->stamp = *stamp;
    for (size_t i = 0; i < len && call->body_len + i < sizeof call->body - 1; i++)
        call->body[call->body_len + i] = data[i];
    call->body_len += len;
    if (call->victim)
        net_exchange_cancel(call->loop, call->victim);
    if (call->heir) {
        net_exchange_start(call->loop, call->heir);
        call->heir = NULL;
    }
    if (call->cancel_at_span)
        net_exchange_cancel(call->loop, x);
}

static inline void call_on_read_end(struct net_exchange *x, const struct net_stamp *stamp, bool between)
{
    struct call *call = (struct call *)x;
    call->read_ends++;
    call->last_between = between;
    assert_int_equal(stamp->user_ns, call->stamp.user_ns > stamp->user_ns ? -1 : stamp->user_ns);
}

static inline void call_on_end(struct net_exchange *x, enum net_end end)
{
    struct call *call = (struct call *)x;
    call->ends++;
    call->end = end;
    if (call->restarts_left > 0) {
        call->restarts_left--;
        call->body_len = 0;
        memset(call->body, 0, sizeof call->body);
        net_exchange_start(call->loop, x);
    }
}

static const struct net_exchange_ops call_ops = {call_on_head, call_on_span, call_on_read_end, call_on_end};

#define PEER_GET "GET / HTTP/1.1\r\nHost: t\r\n\r\n"

static inline void call_init(struct call *call, struct net_loop *loop, const char *request)
{
    memset(call, 0, sizeof *call);
    call->loop = loop;
    call->x.ops = &call_ops;
    call->x.part_count = 1;
    call->x.parts[0] = (struct iovec){(void *)(uintptr_t)request, strlen(request)};
}

/* Polls until `call` ended `ends` times in all; fails the test after 20 s. */
static inline void call_wait(struct call *call, int ends)
{
    struct mono limit = mono_add_ns(mono_now(), 20 * NS_PER_S);
    while (call->ends < ends) {
        assert_true(mono_diff_ns(limit, mono_now()) > 0);
        net_loop_poll(call->loop, limit);
    }
}

/* Polls until a counter says so: `*value` (of what net_loop_counters fills) == wanted. */
static inline void wait_counter(struct net_loop *loop, size_t offset, uint32_t wanted)
{
    struct mono limit = mono_add_ns(mono_now(), 20 * NS_PER_S);
    for (;;) {
        struct net_counters counters;
        uint32_t value;
        net_loop_counters(loop, &counters);
        memcpy(&value, (const char *)&counters + offset, sizeof value);
        if (value == wanted)
            return;
        assert_true(mono_diff_ns(limit, mono_now()) > 0);
        net_loop_poll(loop, mono_add_ns(mono_now(), NS_PER_MS));
    }
}

static inline struct net_options default_options(void)
{
    return (struct net_options){.connect_timeout_ns = 10 * NS_PER_S, .idle_timeout_ns = 60 * NS_PER_S, .max_idle = 64};
}

/* One loop on one endpoint. */
struct client {
    struct net_endpoint endpoint;
    struct net_endpoint *endpoints[1];
    struct net_loop *loop;
};

static inline void client_init(struct client *client, const char *url, const struct net_options *options)
{
    struct as_error err = {0};
    if (net_endpoint_parse(url, &client->endpoint, &err) != AS_OK ||
        net_endpoint_resolve(&client->endpoint, 10 * NS_PER_S, &err) != AS_OK)
        fail_msg("%s", err.message);
    client->endpoints[0] = &client->endpoint;
    if (net_loop_new(options, client->endpoints, 1, &client->loop, &err) != AS_OK)
        fail_msg("%s", err.message);
    if (!options->no_kernel_stamps)
        assert_true(net_loop_await_stamps(client->loop, 10 * NS_PER_S));
}

static inline void client_done(struct client *client)
{
    net_loop_free(client->loop);
    net_endpoint_done(&client->endpoint);
}

static inline struct net_counters client_counters(const struct client *client)
{
    struct net_counters counters;
    net_loop_counters(client->loop, &counters);
    return counters;
}

#endif
