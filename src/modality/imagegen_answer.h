/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_IMAGEGEN_ANSWER_H
#define ASSAY_MODALITY_IMAGEGEN_ANSWER_H

/*
 * Reads the answer of an image generation: `data`, a list of objects with `b64_json` or `url`. Pure functions on the
 * caller's bytes; any thread.
 */

#include "base/json.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum imagegen_form {
    IMAGEGEN_ANSWER_SOUND,
    IMAGEGEN_ANSWER_NO_JSON, /* no JSON object */
    IMAGEGEN_ANSWER_NO_DATA, /* `data` is absent, null or no list */
    IMAGEGEN_ANSWER_ERROR    /* a non-null `error` and no list with items */
};

struct imagegen_reading {
    enum imagegen_form form;
    const char *data; /* the list, for imagegen_item_next; NULL = none */
    const char *end;
    size_t items;
    int64_t input_tokens, output_tokens, total_tokens; /* of `usage`; -1 = unknown */
};

void imagegen_read(const char *text, size_t len, struct imagegen_reading *ret);

/* One entry of `data`. */
struct imagegen_item {
    struct json_raw base64; /* at NULL = none */
    struct json_raw url;
};

/* Walks the entries of a reading that has a list. */
struct imagegen_walk {
    struct json_cursor cursor;
    bool is_first;
};
void imagegen_walk_init(struct imagegen_walk *walk, const struct imagegen_reading *reading);
bool imagegen_walk_next(struct imagegen_walk *walk, struct imagegen_item *ret);

/*
 * Decodes the item's base64 into `ret` (reset before). White space and a prefix "data:…;base64," are let pass; anything
 * else outside the alphabet is not. AS_E_INVALID with a sentence, AS_E_NOMEM.
 */
as_status imagegen_decode(const struct imagegen_item *item, struct strbuf *ret, struct as_error *err) AS_NODISCARD;

#endif
