/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_MULTIPART_H
#define ASSAY_MODALITY_MULTIPART_H

/*
 * Bodies of type multipart/form-data (RFC 7578), written piece by piece so that a file's bytes need not be copied:
 * fields, the head of the file's part, then (by the caller) the file, then the end. Names and file names are escaped as
 * browsers do (quote, CR and LF as %22, %0D, %0A). Pure functions; any thread.
 */

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MULTIPART_BOUNDARY_BYTES 40 /* with NUL; RFC 2046 allows 70 */

/* Boundary number `number` of those that `seed` gives. */
void multipart_boundary(uint64_t seed, uint64_t number, char ret[MULTIPART_BOUNDARY_BYTES]);
/* True when the boundary is not in the bytes, so that it cannot end them. */
bool multipart_is_apart(const char *boundary, const void *data, size_t len);

void multipart_add_field(struct strbuf *out, const char *boundary, const char *name, const char *value, size_t len);
/* The head of the file's part; its bytes come next, then multipart_add_end. */
void multipart_add_file(struct strbuf *out, const char *boundary, const char *name, const char *file_name,
                        const char *mime);
void multipart_add_end(struct strbuf *out, const char *boundary);

#endif
