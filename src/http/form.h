/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_FORM_H
#define ASSAY_HTTP_FORM_H

/*
 * Reads a whole body of type multipart/form-data (RFC 7578, RFC 2046 section 5.1) in memory; copies nothing. Strict:
 * lines end in CR LF, the last delimiter must be there, every part has a Content-Disposition "form-data" with a name; a
 * preamble is skipped, an epilogue ignored. Pure functions; any thread.
 */

#include "base/status.h"
#include "http/field.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_FORM_BOUNDARY_MAX 70
#define HTTP_FORM_PARTS_MAX    64

struct http_form_part {
    struct http_text name;         /* as sent, without quotes; quote, CR and LF are %22, %0D, %0A in it */
    struct http_text file_name;    /* likewise; len 0 unless is_file */
    struct http_text content_type; /* len 0 = none given */
    struct http_text data;
    bool is_file; /* there is a filename */
};

struct http_form {
    struct http_form_part parts[HTTP_FORM_PARTS_MAX];
    size_t count;
};

/* The boundary that a Content-Type value names; false when it is no multipart/form-data, or has no usable boundary. */
bool http_form_boundary(struct http_text content_type, struct http_text *ret);
/* AS_E_INVALID: not built as above; AS_E_LIMIT: more than HTTP_FORM_PARTS_MAX parts. After a failure *ret is good for
 * nothing. */
as_status http_form_read(struct http_text boundary, struct http_text body, struct http_form *ret,
                         struct as_error *err) AS_NODISCARD;
/* The first part of that name, NULL when there is none. */
const struct http_form_part *http_form_find(const struct http_form *form, const char *name);

#endif
