/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the BIO: one recvmsg a readiness, its stamp kept in the loop ---- */

static int bio_read(BIO *bio, char *out, size_t len, size_t *ret_len)
{
    struct net_connection *c = BIO_get_data(bio);
    struct net_read *read = &c->loop->read;
    BIO_clear_retry_flags(bio);
    if (read->owner != c || (read->at == read->end && !read->may_receive)) {
        BIO_set_retry_read(bio);
        return 0;
    }
    if (read->at == read->end) {
        read->may_receive = false;
        ssize_t n = connection_receive(c);
        if (n < 0 && errno == EAGAIN)
            BIO_set_retry_read(bio);
        else if (n < 0)
            c->tls_end.error_number = errno;
        else
            c->tls_end.is_eof = n == 0;
        if (n <= 0)
            return 0;
        read->at = c->loop->buffer;
        read->end = read->at + n;
    }
    size_t take = (size_t)(read->end - read->at) < len ? (size_t)(read->end - read->at) : len;
    memcpy(out, read->at, take);
    read->at += take;
    *ret_len = take;
    return 1;
}

static int bio_write(BIO *bio, const char *data, size_t len, size_t *ret_len)
{
    struct net_connection *c = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);
    if (n > 0) {
        *ret_len = (size_t)n;
        return 1;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    else
        c->write_error = n < 0 ? errno : EPIPE;
    return 0;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

/* One for the process: OpenSSL has numbers for 127 kinds only. */
static BIO_METHOD *bio_method;

static void bio_method_make(void)
{
    bio_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "assay socket");
    if (!bio_method)
        return;
    BIO_meth_set_read_ex(bio_method, bio_read);
    BIO_meth_set_write_ex(bio_method, bio_write);
    BIO_meth_set_ctrl(bio_method, bio_ctrl);
}

/* ---- context ---- */

/* Is it a folder whose files are named by subject hash, as c_rehash and the system's have it? */
static bool is_hashed_folder(const char *path)
{
    bool is_hashed = false;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && !is_hashed && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        is_hashed = strlen(name) > 9 && strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] >= '0' &&
                    name[9] <= '9';
    }
    if (folder)
        closedir(folder);
    return is_hashed;
}

/* Loads each file of a folder that holds PEM certificates; returns how many did. */
static int load_folder(SSL_CTX *context, const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char file[4096];
        struct stat info;
        int len = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (len < 0 || (size_t)len >= sizeof file || stat(file, &info) != 0 || !S_ISREG(info.st_mode))
            continue;
        count += SSL_CTX_load_verify_file(context, file) == 1;
    }
    if (folder)
        closedir(folder);
    ERR_clear_error();
    return count;
}

static as_status load_authorities(SSL_CTX *context, const char *path, struct as_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return error_set(err, AS_E_INVALID, "CA certificate %.300s: %s", path, strerror(errno));
    bool is_loaded;
    if (!S_ISDIR(info.st_mode))
        is_loaded = SSL_CTX_load_verify_file(context, path) == 1;
    else if (is_hashed_folder(path))
        is_loaded = SSL_CTX_load_verify_dir(context, path) == 1;
    else
        is_loaded = load_folder(context, path) > 0;
    ERR_clear_error();
    return is_loaded ? AS_OK : error_set(err, AS_E_INVALID, "CA certificate %.300s: no PEM certificate in it", path);
}

/* The system's folder is searched by name on demand: reading its whole bundle costs 25 ms and more. */
static void load_system_authorities(SSL_CTX *context)
{
    const char *file = secure_getenv(X509_get_default_cert_file_env());
    const char *folder = secure_getenv(X509_get_default_cert_dir_env());
    if (file)
        SSL_CTX_load_verify_file(context, file);
    if (!folder && !file)
        folder = X509_get_default_cert_dir();
    if (folder && is_hashed_folder(folder))
        SSL_CTX_load_verify_dir(context, folder);
    else if (!file)
        SSL_CTX_set_default_verify_paths(context);
    ERR_clear_error();
}

/* A new session or ticket: the endpoint's next connection resumes it. Takes the reference. */
static int keep_session(SSL *tls, SSL_SESSION *session)
{
    const struct net_connection *c = SSL_get_app_data(tls);
    struct pool *pool = &c->loop->pools[c->endpoint];
    SSL_SESSION_free(pool->session);
    pool->session = session;
    return 1;
}

static as_status configure(SSL_CTX *context, const struct net_options *options, struct as_error *err)
{
    static const unsigned char alpn[] = "\x08http/1.1";
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context,
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    if (SSL_CTX_set_alpn_protos(context, alpn, sizeof alpn - 1) != 0)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (options->insecure)
        return AS_OK;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    if (options->ca_cert)
        return load_authorities(context, options->ca_cert, err);
    load_system_authorities(context);
    return AS_OK;
}

as_status tls_open(struct net_loop *loop, struct as_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    loop->plain = malloc(NET_PLAIN_BYTES);
    loop->gather = malloc(NET_PLAIN_BYTES);
    pthread_once(&once, bio_method_make);
    loop->tls = SSL_CTX_new(TLS_client_method());
    if (!loop->plain || !loop->gather || !bio_method || !loop->tls) {
        ERR_clear_error();
        return error_set(err, AS_E_NOMEM, "TLS cannot be started: out of memory");
    }
    return configure(loop->tls, &loop->options, err);
}

void tls_close(struct net_loop *loop)
{
    for (uint32_t i = 0; loop->pools && i < loop->endpoint_count; i++)
        SSL_SESSION_free(loop->pools[i].session);
    SSL_CTX_free(loop->tls);
    free(loop->plain);
    free(loop->gather);
}

/* ---- one connection ---- */

static bool is_ip_address(const char *host)
{
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* Names the server: in the handshake, and for the check of its certificate. */
static bool set_server_name(SSL *tls, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(tls);
    if (is_ip_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(tls, host) == 1 && SSL_set_tlsext_host_name(tls, host) == 1;
}

bool tls_attach(struct net_connection *c)
{
    struct pool *pool = &c->loop->pools[c->endpoint];
    BIO *bio = BIO_new(bio_method);
    SSL *tls = SSL_new(c->loop->tls);
    if (!bio || !tls) {
        BIO_free(bio);
        SSL_free(tls);
        return false;
    }
    BIO_set_data(bio, c);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls, bio, bio);
    SSL_set_connect_state(tls);
    SSL_set_app_data(tls, c);
    if (!set_server_name(tls, c->loop->endpoints[c->endpoint]->host)) {
        SSL_free(tls);
        return false;
    }
    if (pool->session)
        SSL_set_session(tls, pool->session);
    c->tls = tls;
    return true;
}

void tls_detach(struct net_connection *c, bool is_polite)
{
    ERR_clear_error();
    if (is_polite && SSL_is_init_finished(c->tls) && !c->tls_end.reason && !c->tls_end.error_number)
        SSL_shutdown(c->tls);
    /* Without this OpenSSL takes the session for damaged and would not resume it. */
    SSL_set_shutdown(c->tls, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(c->tls);
    c->tls = NULL;
    ERR_clear_error();
}

/* Whether another certificate authority could make the certificate good: not one of another name or time. */
static bool is_trust_missing(long verified)
{
    return verified != X509_V_ERR_HOSTNAME_MISMATCH && verified != X509_V_ERR_IP_ADDRESS_MISMATCH &&
           verified != X509_V_ERR_CERT_HAS_EXPIRED && verified != X509_V_ERR_CERT_NOT_YET_VALID;
}

/* A sentence for a failed handshake. */
static void explain_failure(const struct net_connection *c, char *sentence, size_t size)
{
    const char *host = c->loop->endpoints[c->endpoint]->host;
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    bool is_tls_library = ERR_GET_LIB(code) == ERR_LIB_SSL;
    long verified = SSL_get_verify_result(c->tls);
    if (is_tls_library && reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
        snprintf(sentence, size, "TLS: the certificate of %.40s is not accepted: %.70s%s", host,
                 X509_verify_cert_error_string(verified),
                 is_trust_missing(verified) ? " (--ca-cert names its CA, --insecure does not ask)" : "");
    else if (c->tls_end.error_number)
        snprintf(sentence, size, "TLS handshake with %.50s: %s", host, strerror(c->tls_end.error_number));
    else if (c->tls_end.is_eof)
        snprintf(sentence, size, "TLS handshake with %.50s: the server closed the connection", host);
    else if (is_tls_library && (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
                                reason == SSL_R_UNKNOWN_PROTOCOL || reason == SSL_R_PACKET_LENGTH_TOO_LONG))
        snprintf(sentence, size, "TLS handshake with %.50s: the server does not speak TLS on this port; is it http://?",
                 host);
    else
        snprintf(sentence, size, "TLS handshake with %.50s: %.90s", host,
                 code ? ERR_reason_error_string(code) : "it failed");
}

bool tls_is_inside_record(const struct net_connection *c)
{
    return SSL_has_pending(c->tls) == 1 || strcmp(SSL_rstate_string(c->tls), "RH") != 0; /* RH: a header is next */
}

/*
 * SSL_MODE_RELEASE_BUFFERS is not enough: reading makes a write buffer too and leaves it, 16 KiB a connection. Inside a
 * record OpenSSL would give away the buffer that it goes on to fill.
 */
static void release_buffers(const struct net_connection *c)
{
    if (!tls_is_inside_record(c))
        SSL_free_buffers(c->tls);
}

enum tls_step tls_handshake(struct net_connection *c, char *sentence, size_t size)
{
    ERR_clear_error();
    int result = SSL_do_handshake(c->tls);
    if (result == 1)
        return TLS_DONE;
    switch (SSL_get_error(c->tls, result)) {
    case SSL_ERROR_WANT_READ:
        release_buffers(c);
        return TLS_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return TLS_WANT_WRITE;
    default:
        if (!c->tls_end.error_number)
            c->tls_end.error_number = c->write_error;
        explain_failure(c, sentence, size);
        c->tls_end.reason = ERR_peek_error();
        ERR_clear_error();
        return TLS_FAILED;
    }
}

size_t tls_read(struct net_connection *c)
{
    size_t len = 0;
    ERR_clear_error();
    int result = SSL_read_ex(c->tls, c->loop->plain, NET_PLAIN_BYTES, &len);
    if (result == 1)
        return len;
    switch (SSL_get_error(c->tls, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        break;
    case SSL_ERROR_ZERO_RETURN:
        c->tls_end.is_closed = true;
        break;
    default:
        if (!c->tls_end.is_eof && !c->tls_end.error_number)
            c->tls_end.reason = ERR_peek_error() ? ERR_peek_error() : ERR_PACK(ERR_LIB_SSL, 0, SSL_R_UNINITIALIZED);
        break;
    }
    ERR_clear_error();
    release_buffers(c);
    return 0;
}

ssize_t tls_write(struct net_connection *c, const void *data, size_t len)
{
    size_t written = 0;
    ERR_clear_error();
    int result = SSL_write_ex(c->tls, data, len, &written);
    if (result == 1)
        return (ssize_t)written;
    int error = SSL_get_error(c->tls, result);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ)
        return 0;
    errno = c->write_error ? c->write_error : EPIPE;
    return -1;
}
