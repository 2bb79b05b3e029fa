/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_VALUE_H
#define ASSAY_BRIEF_VALUE_H

/*
 * Trees of values: what readers make, converters build, the model checks and writers print. All nodes of a tree live in
 * its arena and are freed with it. Building never needs a check at each step: when memory or the limit is exhausted the
 * functions return NULL, take NULL as "missing", and tree->failed stays set for one look at the end. Look-ups take NULL
 * and give NULL. A node is in one container at most; value_share makes a second one of the same content. Not for
 * several threads at a time.
 */

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_type {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,   /* `text` is set when it is beyond int64 (then `integer` is its nearest end) */
    VALUE_FLOAT, /* may be infinite or not a number */
    VALUE_TEXT,
    VALUE_TIME, /* an unquoted YAML date or time, as written */
    VALUE_LIST,
    VALUE_MAP
};

struct value {
    const char *key; /* NUL-terminated; NULL unless a member of a map */
    struct value *next;
    union {
        const char *text;    /* TEXT, TIME, large INT: NUL-terminated */
        struct value *first; /* LIST, MAP */
    };
    union {
        int64_t integer;
        double number;
        struct value *last;
    };
    uint32_t len; /* bytes of text, or number of children */
    uint32_t key_len;
    uint32_t line; /* in the source, from 1; 0 = made here */
    uint8_t type;
    bool boolean;
};

struct tree {
    struct arena arena;
    size_t nodes;
    bool failed;
};

/* `max_bytes` 0 = no limit. */
void tree_init(struct tree *tree, size_t max_bytes);
void tree_done(struct tree *tree);
/* All values go, the tree can be used again. */
void tree_empty(struct tree *tree);
/* AS_E_LIMIT or AS_E_NOMEM when building failed. */
as_status tree_status(const struct tree *tree, struct as_error *err) AS_NODISCARD;

/* A NUL-terminated copy; NULL sets tree->failed. */
char *tree_strndup(struct tree *tree, const char *text, size_t len);
char *tree_strdup(struct tree *tree, const char *text);

struct value *value_new(struct tree *tree, enum value_type type);
struct value *value_map(struct tree *tree);
struct value *value_list(struct tree *tree);
struct value *value_null(struct tree *tree);
struct value *value_bool(struct tree *tree, bool boolean);
struct value *value_int(struct tree *tree, int64_t integer);
struct value *value_float(struct tree *tree, double number);
/* Copies; NULL gives NULL. */
struct value *value_text(struct tree *tree, const char *text);
struct value *value_textn(struct tree *tree, const char *text, size_t len);
struct value *value_textf(struct tree *tree, const char *fmt, ...) AS_PRINTF(2, 3);
/* A node of the same content, without key; children are shared and must not change any more. */
struct value *value_share(struct tree *tree, const struct value *value);
/* A deep copy, also from another tree. */
struct value *value_copy(struct tree *tree, const struct value *value);

/* Adds a member after the others, whatever their keys; the key is kept, not copied. NULL adds nothing. */
void value_put(struct value *map, const char *key, struct value *take_member);
void value_putn(struct value *map, const char *key, size_t key_len, struct value *take_member);
/* Adds or replaces. */
void value_set(struct value *map, const char *key, struct value *take_member);
void value_remove(struct value *map, const char *key);
void value_add(struct value *list, struct value *take_item);
/* Of members with equal keys only the last is kept. */
void value_drop_duplicates(struct tree *tree, struct value *map);
/* The map that is member `key` of `map`, made when there is none. */
struct value *value_submap(struct tree *tree, struct value *map, const char *key);
/* Deep: maps are merged, all else in `from` replaces; a null or empty map never replaces a map. */
void value_merge(struct tree *tree, struct value *into, const struct value *from);

/* The member, NULL when absent or `map` is no map. */
struct value *value_get(const struct value *map, const char *key);
/* The same, NULL also when it is null. */
struct value *value_have(const struct value *map, const char *key);
/* A path "a.b.0.c" of members and indexes. */
struct value *value_at(const struct value *root, const char *path);
struct value *value_item(const struct value *list, size_t index);
bool value_is(const struct value *value, enum value_type type);
bool value_is_text(const struct value *value, const char *text);
/* Text, or NULL. */
const char *value_string(const struct value *value);
/* An INT or FLOAT as a double. */
bool value_number(const struct value *value, double *ret);
/* Python's truth: not null, false, 0, empty text, empty list or map. NULL is false. */
bool value_is_true(const struct value *value);
/* "text", "map", … */
const char *value_type_name(const struct value *value);
bool value_equal(const struct value *a, const struct value *b);

#endif
