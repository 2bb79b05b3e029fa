/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_HTTP_FIELD_H
#define ASSAY_HTTP_FIELD_H

/*
 * The pieces of RFC 9110 section 5 and 5.6 that requests and responses share: tokens, field lines, lists, lengths.
 * Works on ranges of the caller's bytes and copies nothing; any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of somebody else's bytes, not NUL-terminated. */
struct http_text {
    const char *at;
    size_t len;
};

/* tchar of RFC 9110 5.6.2. */
bool http_is_token_char(unsigned char c);
/* HTAB, SP, VCHAR and obs-text: what a field value may hold (RFC 9110 5.5). */
bool http_is_value_char(unsigned char c);
/* One or more tchar. */
bool http_is_token(struct http_text text);
/* Equal to `lower` (NUL-terminated, in lower case), ASCII case of `text` ignored. */
bool http_text_equals(struct http_text text, const char *lower);
/* Without spaces and tabs at both ends. */
struct http_text http_text_trim(struct http_text text);
/* The next item of a comma-separated list, trimmed, empty items skipped; moves *list on. False at the end. */
bool http_list_next(struct http_text *list, struct http_text *ret);
/* Decimal digits only, at least one, at most INT64_MAX. */
bool http_parse_decimal(struct http_text text, int64_t *ret);
/* The value of a hexadecimal digit, -1 when it is none. */
int http_hex_value(unsigned char c);
/* `text` cut at the first ';' and trimmed: a media type without its parameters. */
struct http_text http_without_parameters(struct http_text text);

/*
 * Splits "name: value" (no line end). NULL when it is well formed, else a static sentence: no colon, no name, white
 * space or other bytes that are no tchar in the name, CR or NUL in the value. The value is trimmed.
 */
const char *http_field_split(struct http_text line, struct http_text *ret_name, struct http_text *ret_value);

/*
 * Joins two Content-Length values: `*length` is -1 or the value so far, `value` a decimal or a list of equal decimals.
 * NULL when they agree, else a static sentence.
 */
const char *http_merge_length(struct http_text value, int64_t *length);

#endif
