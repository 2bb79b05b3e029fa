/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls.h"

#include "base/file.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Files larger than this are no certificate chains. */
#define PEM_MAX_BYTES ((size_t)1024 * 1024)

struct http_tls {
    pthread_mutex_t lock; /* guards `context`, which is replaced as a whole */
    SSL_CTX *context;
    char *cert_path, *key_path; /* NULL: from memory */
};

static as_status tls_error(struct as_error *err, as_status status, const char *what)
{
    char reason[160] = "unknown reason";
    unsigned long code = ERR_get_error();
    if (code)
        ERR_error_string_n(code, reason, sizeof reason);
    ERR_clear_error();
    return error_set(err, status, "%s: %s", what, reason);
}

/* Takes "http/1.1" when the client offers it; a client that offers only others is refused. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
                           unsigned in_len, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, out_len, ours, sizeof ours - 1, in, in_len) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* An encrypted key has no one to ask for its password here. */
static int no_password(char *buf, int size, int writing, void *arg)
{
    (void)buf;
    (void)size;
    (void)writing;
    (void)arg;
    return -1;
}

static as_status use_chain(SSL_CTX *context, const char *cert_pem, struct as_error *err)
{
    BIO *bio = BIO_new_mem_buf(cert_pem, -1);
    if (!bio)
        return AS_E_NOMEM;
    as_status status = AS_OK;
    X509 *leaf = PEM_read_bio_X509(bio, NULL, no_password, NULL);
    if (!leaf || SSL_CTX_use_certificate(context, leaf) != 1)
        status = tls_error(err, AS_E_INVALID, "no certificate can be read");
    X509 *next = NULL;
    while (status == AS_OK && (next = PEM_read_bio_X509(bio, NULL, no_password, NULL))) {
        if (SSL_CTX_add0_chain_cert(context, next) != 1) {
            X509_free(next);
            status = tls_error(err, AS_E_INVALID, "a certificate of the chain is refused");
        }
    }
    ERR_clear_error(); /* the end of the text is reported as an error */
    X509_free(leaf);
    BIO_free(bio);
    return status;
}

static as_status use_key(SSL_CTX *context, const char *key_pem, struct as_error *err)
{
    BIO *bio = BIO_new_mem_buf(key_pem, -1);
    if (!bio)
        return AS_E_NOMEM;
    as_status status = AS_OK;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    if (!key)
        status = tls_error(err, AS_E_INVALID, "no private key without a password can be read");
    else if (SSL_CTX_use_PrivateKey(context, key) != 1 || SSL_CTX_check_private_key(context) != 1)
        status = tls_error(err, AS_E_INVALID, "the private key does not belong to the certificate");
    EVP_PKEY_free(key);
    BIO_free(bio);
    return status;
}

static as_status make_context(const char *cert_pem, const char *key_pem, SSL_CTX **ret, struct as_error *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context)
        return tls_error(err, AS_E_NOMEM, "no TLS context can be made");
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    /* TLS 1.2: forward secrecy and authenticated encryption only; a list that OpenSSL knows cannot fail. */
    (void)SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* resumption by tickets needs none */
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    as_status status = use_chain(context, cert_pem, err);
    if (status == AS_OK)
        status = use_key(context, key_pem, err);
    if (status != AS_OK) {
        SSL_CTX_free(context);
        return status;
    }
    *ret = context;
    return AS_OK;
}

static as_status context_from_files(const char *cert_path, const char *key_path, SSL_CTX **ret, struct as_error *err)
{
    AS_AUTO_STRBUF struct strbuf cert, key;
    strbuf_init(&cert, PEM_MAX_BYTES);
    strbuf_init(&key, PEM_MAX_BYTES);
    as_status status = file_read(cert_path, &cert, err);
    if (status == AS_OK)
        status = file_read(key_path, &key, err);
    if (status != AS_OK)
        return status;
    status = make_context(strbuf_text(&cert), strbuf_text(&key), ret, err);
    if (key.data)
        OPENSSL_cleanse(key.data, key.len);
    if (status != AS_OK && err)
        error_prefix(err, "%s, %s", cert_path, key_path);
    return status;
}

static as_status tls_new(SSL_CTX *take_context, const char *cert_path, const char *key_path, struct http_tls **ret,
                         struct as_error *err)
{
    struct http_tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        SSL_CTX_free(take_context);
        return error_set(err, AS_E_NOMEM, "no memory for a certificate");
    }
    pthread_mutex_init(&tls->lock, NULL);
    tls->context = take_context;
    if (cert_path) {
        tls->cert_path = strdup(cert_path);
        tls->key_path = strdup(key_path);
        if (!tls->cert_path || !tls->key_path) {
            http_tls_free(tls);
            return error_set(err, AS_E_NOMEM, "no memory for a certificate");
        }
    }
    *ret = tls;
    return AS_OK;
}

as_status http_tls_new(const char *cert_path, const char *key_path, struct http_tls **ret, struct as_error *err)
{
    SSL_CTX *context;
    as_status status = context_from_files(cert_path, key_path, &context, err);
    return status == AS_OK ? tls_new(context, cert_path, key_path, ret, err) : status;
}

as_status http_tls_new_pem(const char *cert_pem, const char *key_pem, struct http_tls **ret, struct as_error *err)
{
    SSL_CTX *context;
    as_status status = make_context(cert_pem, key_pem, &context, err);
    return status == AS_OK ? tls_new(context, NULL, NULL, ret, err) : status;
}

void http_tls_free(struct http_tls *tls)
{
    if (!tls)
        return;
    SSL_CTX_free(tls->context);
    pthread_mutex_destroy(&tls->lock);
    free(tls->cert_path);
    free(tls->key_path);
    free(tls);
}

static void swap_context(struct http_tls *tls, SSL_CTX *take_context)
{
    pthread_mutex_lock(&tls->lock);
    SSL_CTX *old = tls->context;
    tls->context = take_context;
    pthread_mutex_unlock(&tls->lock);
    SSL_CTX_free(old);
}

as_status http_tls_reload(struct http_tls *tls, struct as_error *err)
{
    SSL_CTX *context;
    if (!tls->cert_path)
        return error_set(err, AS_E_STATE, "the certificate was not read from a file");
    as_status status = context_from_files(tls->cert_path, tls->key_path, &context, err);
    if (status == AS_OK)
        swap_context(tls, context);
    return status;
}

SSL *http_tls_session(struct http_tls *tls)
{
    pthread_mutex_lock(&tls->lock);
    SSL *ssl = SSL_new(tls->context);
    pthread_mutex_unlock(&tls->lock);
    if (ssl)
        SSL_set_accept_state(ssl);
    return ssl;
}

/* ---- sockets ---- */

/* OpenSSL's own socket BIO writes with write(), which raises SIGPIPE when the peer is gone. */

static int socket_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static int socket_write(BIO *bio, const char *data, int len)
{
    BIO_clear_retry_flags(bio);
    ssize_t sent = send(socket_of(bio), data, (size_t)len, MSG_NOSIGNAL);
    if (sent < 0 && BIO_sock_should_retry(-1))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int socket_read(BIO *bio, char *data, int len)
{
    BIO_clear_retry_flags(bio);
    ssize_t got = recv(socket_of(bio), data, (size_t)len, 0);
    if (got < 0 && BIO_sock_should_retry(-1))
        BIO_set_retry_read(bio);
    if (got == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)got;
}

static long socket_ctrl(BIO *bio, int command, long number, void *pointer)
{
    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP;
}

static BIO_METHOD *socket_method;

static void make_socket_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    if (method && BIO_meth_set_write(method, socket_write) == 1 && BIO_meth_set_read(method, socket_read) == 1 &&
        BIO_meth_set_ctrl(method, socket_ctrl) == 1)
        socket_method = method;
    else
        BIO_meth_free(method);
}

bool http_tls_attach(SSL *ssl, int fd)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_socket_method);
    BIO *bio = socket_method ? BIO_new(socket_method) : NULL;
    if (!bio)
        return false;
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return true;
}

/* ---- self-signed certificates ---- */

/* "DNS:a,IP:127.0.0.1" from "a,127.0.0.1"; false when a name is empty or too long. */
static bool alternative_names(const char *names, char *ret, size_t size, char ret_first[65])
{
    size_t used = 0;
    for (const char *at = names;;) {
        size_t len = strcspn(at, ",");
        char name[65];
        unsigned char address[16];
        if (len == 0 || len >= sizeof name)
            return false;
        memcpy(name, at, len);
        name[len] = '\0';
        bool is_address = inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
        int written = snprintf(ret + used, size - used, "%s%s:%s", used ? "," : "", is_address ? "IP" : "DNS", name);
        if (at == names)
            memcpy(ret_first, name, len + 1);
        used += (size_t)written;
        if (used >= size)
            return false;
        at += len;
        if (!*at)
            return true;
        at++;
    }
}

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = extension && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool fill_certificate(X509 *cert, EVP_PKEY *key, const char *common_name, const char *alternatives, int days)
{
    unsigned char serial[16];
    if (RAND_bytes(serial, sizeof serial) != 1)
        return false;
    serial[0] &= 0x7f;
    BIGNUM *number = BN_bin2bn(serial, sizeof serial, NULL);
    bool has_serial = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    X509_NAME *name = X509_get_subject_name(cert);
    return has_serial && X509_set_version(cert, X509_VERSION_3) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -3600) &&
           X509_gmtime_adj(X509_getm_notAfter(cert), (long)days * 86400) && X509_set_pubkey(cert, key) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name, -1, -1, 0) == 1 &&
           X509_set_issuer_name(cert, name) == 1 && add_extension(cert, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(cert, NID_subject_key_identifier, "hash") &&
           add_extension(cert, NID_subject_alt_name, alternatives) && X509_sign(cert, key, EVP_sha256()) > 0;
}

static as_status put_pem(X509 *cert, EVP_PKEY *key, struct strbuf *ret_cert_pem, struct strbuf *ret_key_pem)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    as_status status = AS_E_NOMEM;
    if (bio && PEM_write_bio_X509(bio, cert) == 1) {
        long len = BIO_get_mem_data(bio, &text);
        strbuf_add(ret_cert_pem, text, (size_t)len);
        (void)BIO_reset(bio);
        if (PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1) {
            len = BIO_get_mem_data(bio, &text);
            strbuf_add(ret_key_pem, text, (size_t)len);
            status = strbuf_status(ret_cert_pem) != AS_OK ? strbuf_status(ret_cert_pem) : strbuf_status(ret_key_pem);
        }
    }
    BIO_free(bio);
    return status;
}

as_status http_tls_self_signed(const char *names, int days, struct strbuf *ret_cert_pem, struct strbuf *ret_key_pem,
                               struct as_error *err)
{
    char alternatives[1024], common_name[65];
    if (days < 1 || days > 36500 || !alternative_names(names, alternatives, sizeof alternatives, common_name))
        return error_set(err, AS_E_INVALID, "names and days of a self-signed certificate are wrong: \"%s\", %d", names,
                         days);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    as_status status;
    if (!key || !cert || !fill_certificate(cert, key, common_name, alternatives, days))
        status = tls_error(err, AS_E_INVALID, "no self-signed certificate can be made");
    else
        status = put_pem(cert, key, ret_cert_pem, ret_key_pem);
    X509_free(cert);
    EVP_PKEY_free(key);
    return status;
}
