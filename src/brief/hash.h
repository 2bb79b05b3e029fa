/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_HASH_H
#define ASSAY_BRIEF_HASH_H

/*
 * SHA-256 and SHA-1 (FIPS 180-4) and UUIDs (RFC 9562) of short texts: written here so that the report library and the
 * converter start without a crypto library. Not for secrets.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX_BYTES 65
#define UUID_TEXT_BYTES  37

/* Lower-case hexadecimal digits and a NUL. */
void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX_BYTES]);
void sha1_digest(const void *data, size_t len, uint8_t ret[20]);

enum uuid_namespace { UUID_DNS, UUID_URL };
/* Version 5: the same name gives the same text. */
void uuid5_text(enum uuid_namespace space, const char *name, size_t len, char ret[UUID_TEXT_BYTES]);
/* Version 4; AS_E_IO when the system gives no random bytes. */
as_status uuid4_text(char ret[UUID_TEXT_BYTES]) AS_NODISCARD;

#endif
