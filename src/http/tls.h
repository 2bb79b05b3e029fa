/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_TLS_H
#define ASSAY_HTTP_TLS_H

/*
 * The server side of TLS: a certificate chain and its key, TLS 1.2 and later, ALPN http/1.1, no client certificates, no
 * renegotiation, no compression. One struct http_tls may serve many listeners and threads; http_tls_reload may be
 * called from any thread while it serves: connections that exist keep the old certificate.
 */

#include "base/status.h"
#include "base/strbuf.h"

#include <openssl/ssl.h>
#include <stdbool.h>

struct http_tls;

/* Reads PEM files: the chain, leaf first, and its private key. The paths are remembered for http_tls_reload. */
as_status http_tls_new(const char *cert_path, const char *key_path, struct http_tls **ret,
                       struct as_error *err) AS_NODISCARD;
/* From PEM text in memory. http_tls_reload is AS_E_STATE then. */
as_status http_tls_new_pem(const char *cert_pem, const char *key_pem, struct http_tls **ret,
                           struct as_error *err) AS_NODISCARD;
/* Frees it; connections that exist keep what they need. */
void http_tls_free(struct http_tls *tls);

/* Reads the files again. On failure the old certificate stays. */
as_status http_tls_reload(struct http_tls *tls, struct as_error *err) AS_NODISCARD;

/* A new server-side session of the current certificate, NULL without memory. */
SSL *http_tls_session(struct http_tls *tls) AS_NODISCARD;
/* Makes a session read and write the socket `fd`, which stays the caller's. Unlike SSL_set_fd it never raises SIGPIPE.
 */
bool http_tls_attach(SSL *ssl, int fd) AS_NODISCARD;

/*
 * A self-signed certificate (ECDSA P-256, random serial number) for comma-separated DNS names and IP addresses, the
 * first being the common name; valid from one hour ago for `days`. Appends PEM text to both buffers.
 */
as_status http_tls_self_signed(const char *names, int days, struct strbuf *ret_cert_pem, struct strbuf *ret_key_pem,
                               struct as_error *err) AS_NODISCARD;

#endif
