/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_DIGEST_H
#define ASSAY_WORKLOAD_DIGEST_H

/* SHA-256 (FIPS 180-4) of pieces, by OpenSSL, as lower-case hexadecimal text. One thread a digest. */

#include "base/status.h"

#include <stddef.h>

#define DIGEST_TEXT_BYTES 65

struct digest {
    void *context; /* EVP_MD_CTX */
};

/* AS_E_NOMEM when OpenSSL has no memory or no SHA-256. After it digest_finish or digest_abandon must follow. */
as_status digest_init(struct digest *digest) AS_NODISCARD;
as_status digest_add(struct digest *digest, const void *data, size_t len) AS_NODISCARD;
/* Adds a length as 8 bytes, little endian: so that pieces cannot run into each other. */
as_status digest_add_length(struct digest *digest, size_t len) AS_NODISCARD;
as_status digest_finish(struct digest *digest, char ret_text[DIGEST_TEXT_BYTES]) AS_NODISCARD;
void digest_abandon(struct digest *digest);

/* Of one piece. */
as_status digest_bytes(const void *data, size_t len, char ret_text[DIGEST_TEXT_BYTES]) AS_NODISCARD;

#endif
