/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_URL_H
#define ASSAY_BASE_URL_H

/*
 * URLs as they may be shown: without what lets somebody in. A query value is a key when the parameter's name says so,
 * whatever its case, its punctuation and its percent-encoding: names that end in key, token, sig, signature, secret,
 * password, passwd, pwd, credential, auth or authorization (api-key, subscription-key, access_token, X-Amz-Signature),
 * and `code`. Pure functions; any thread.
 */

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds the URL, or the end of one from anywhere before its query, with *** in place of the query's keys. */
void url_add_query_shown(struct strbuf *out, const char *url);
/* The same with *** also in place of user-info. */
void url_add_shown(struct strbuf *out, const char *url);
/*
 * The next key that is not empty, as it is written; false after the last one. *at begins as the query, at its "?", and
 * is moved behind the key.
 */
bool url_next_key(const char **at, const char **ret, size_t *ret_len);
/* Percent-decodes in place, malformed escapes and those of NUL kept; returns the length. */
size_t url_decode(char *text);

#endif
