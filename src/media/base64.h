/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEDIA_BASE64_H
#define ASSAY_MEDIA_BASE64_H

/*
 * Base64 (RFC 4648 section 4, padded). Decoding is strict but for ASCII white space between characters, which is skipped
 * (section 3.3 lets a format say so; image servers wrap lines), and for the URL alphabet's '-' and '_', which are refused. AVX2 is used
 * where the processor has it.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of text for `bytes` bytes of data, without NUL. */
size_t base64_encoded_bytes(size_t bytes);
/* An upper bound of the data in `len` characters. */
size_t base64_decoded_max(size_t len);

/* Writes base64_encoded_bytes(len) characters, no NUL. */
void base64_encode(const void *data, size_t len, char *ret_text);
/*
 * Decodes into `ret` (room for base64_decoded_max(len)); AS_E_INVALID with err->offset at the first wrong character, or at the end
 * when the text is cut. Whole groups only; padding at the end only, its unused bits zero.
 */
as_status base64_decode(const char *text, size_t len, void *ret, size_t *ret_len, struct as_error *err) AS_NODISCARD;

#endif
