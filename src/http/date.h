/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_DATE_H
#define ASSAY_HTTP_DATE_H

/* HTTP dates (RFC 9110 5.6.7) and Retry-After (10.2.3). Times are whole seconds since 1970-01-01T00:00:00Z. Any thread.
 */

#include "http/field.h"

#include <stdbool.h>
#include <stdint.h>

/* "Sun, 06 Nov 1994 08:49:37 GMT" and a NUL. */
#define HTTP_DATE_BYTES 30

/* Years 1 to 9999; other times are cut to these. */
void http_date_format(int64_t unix_s, char ret_text[HTTP_DATE_BYTES]);

/* All three forms: IMF-fixdate, RFC 850 (two-digit years are within 50 years after `now_s`), asctime. */
bool http_date_parse(struct http_text text, int64_t now_s, int64_t *ret_unix_s);

/*
 * Retry-After in seconds from `now_s`: digits, or a date (one that has passed gives 0). Fractions and anything else
 * give -1, as if the field were absent.
 */
double http_retry_after_s(struct http_text text, int64_t now_s);

#endif
