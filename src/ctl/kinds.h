/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_KINDS_H
#define ASSAY_CTL_KINDS_H

/* The kinds of things that the API has, in the order in which one may name another. A test holds the table against the
 * served contract. Pure. */

#include "base/strbuf.h"

#include <stdbool.h>

#define KIND_KEYS_MAX 4

struct ctl_kind {
    const char *path;     /* "engine-args-sets": in addresses, and with _ for - in definition files */
    const char *singular; /* "engine-args-set" */
    const char *schema;   /* of the contract: "EngineArgsSet" */
    const char *keys[KIND_KEYS_MAX];
    const char *key_default; /* of the last key when it is not given; NULL = none */
    const char *columns;     /* members that a list shows, separated by spaces */
    bool is_read_only;
    bool is_defined; /* may stand in a definition file */
};

/* `*ret_count` kinds. */
const struct ctl_kind *kind_list(size_t *ret_count);
/* By plural or singular, "-" and "_" being the same, any case; NULL when there is none. */
const struct ctl_kind *kind_find(const char *name);
size_t kind_key_count(const struct ctl_kind *kind);
/* Adds "/" and the percent-encoded part. */
void kind_add_segment(struct strbuf *out, const char *part);
/* Adds percent-encoded text. */
void kind_add_escaped(struct strbuf *out, const char *text);
/* Adds "/api/v1/PATH" and a segment for each of the `count` keys. */
void kind_add_path(struct strbuf *out, const struct ctl_kind *kind, const char *const *keys, size_t count);

#endif
