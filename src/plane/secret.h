/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_SECRET_H
#define ASSAY_PLANE_SECRET_H

/*
 * Random tokens, their hashes, passwords, and values sealed at rest. Tokens and session numbers hold 256 bits of
 * getrandom(2) and are stored as SHA-256; passwords as Argon2id (RFC 9106) of 19 MiB and two passes; values are sealed
 * by AES-256-GCM under a key from a file that is not in the store. All functions may be called by any thread.
 */

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRET_TOKEN_BYTES    44 /* 43 characters of base64url and a NUL: 256 bits */
#define SECRET_HASH_BYTES     65 /* SHA-256 in hexadecimal and a NUL */
#define SECRET_PASSWORD_BYTES 128
#define SECRET_KEY_BYTES      32
#define SECRET_SEAL_EXTRA     28 /* nonce and tag around a sealed value */

struct secret_key {
    unsigned char bytes[SECRET_KEY_BYTES];
};

/* AS_E_IO when the system gives no random bytes. */
as_status secret_random(void *ret, size_t len) AS_NODISCARD;
as_status secret_token(char ret[SECRET_TOKEN_BYTES]) AS_NODISCARD;
/* SHA-256 of `len` bytes. */
as_status secret_hash(const void *data, size_t len, char ret[SECRET_HASH_BYTES]) AS_NODISCARD;
/* In a time that depends on the lengths only. */
bool secret_equals(const char *a, const char *b);

/* Takes some 30 ms and 19 MiB: callers limit how many run at once. */
as_status secret_password_hash(const char *password, char ret[SECRET_PASSWORD_BYTES]) AS_NODISCARD;
/* False also for a text that is no hash; such a one costs the same time. */
bool secret_password_fits(const char *password, const char *hash);
/*
 * ASVS 6.2: at least 8 characters, at most 128, none of the most used passwords, not the user's name. NULL when it will
 * do, else a static sentence.
 */
const char *secret_password_refusal(const char *password, size_t len, const char *user_name);

/* Reads a key file of 64 hexadecimal digits (mode without rights for others), or makes one when there is none. */
as_status secret_key_load(const char *path, struct secret_key *ret, struct as_error *err) AS_NODISCARD;
/* `purpose` is authenticated with the value: what was sealed for another one does not open. */
as_status secret_seal(const struct secret_key *key, const char *purpose, const void *data, size_t len,
                      unsigned char *ret) AS_NODISCARD;
/* `ret` has room for len - SECRET_SEAL_EXTRA bytes. AS_E_INVALID: changed, or sealed by another key. */
as_status secret_open(const struct secret_key *key, const char *purpose, const void *sealed, size_t len,
                      unsigned char *ret) AS_NODISCARD;

/* base64url without padding (RFC 4648 section 5). */
char *secret_base64url(struct arena *arena, const void *data, size_t len);
/* NULL when it is none. */
unsigned char *secret_base64url_read(struct arena *arena, const char *text, size_t len, size_t *ret_len);

#endif
