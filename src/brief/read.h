/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_READ_H
#define ASSAY_BRIEF_READ_H

/*
 * Documents into trees: JSON (RFC 8259, by base/json_stream.h, in pieces: the input is never in memory as a whole) and
 * YAML 1.1 (libyaml; plain scalars as PyYAML resolves them). What begins like JSON is read as JSON, when that fails
 * with NaN and Infinity as numbers (as Python writes them), and when that fails too and the input is small enough as
 * YAML.
 *
 * Limits (AS_E_LIMIT): READ_DEPTH_MAX levels, READ_TEXT_BYTES_MAX in one string, READ_TREE_BYTES_MAX of memory for the
 * tree, READ_YAML_BYTES_MAX of YAML, READ_ALIAS_NODES_MAX nodes made by YAML aliases. Of equal keys the last one
 * counts. YAML: several documents, keys that are no scalars and tags beyond the core ones are AS_E_INVALID. A byte
 * order mark is skipped. Errors hold line and column, not the name of the input.
 */

#include "base/status.h"
#include "brief/value.h"

#define READ_DEPTH_MAX       100
#define READ_TEXT_BYTES_MAX  ((size_t)16 << 20)
#define READ_TREE_BYTES_MAX  ((size_t)256 << 20)
#define READ_YAML_BYTES_MAX  ((size_t)16 << 20)
#define READ_ALIAS_NODES_MAX 100000

/*
 * Parts that are checked but not kept: paths such as "benchmarks.*.requests", "*" for any member or item; at most 32
 * of at most 6 steps, ending with NULL; NULL = keep all. Of a list in JSON that is skipped by "list.*" the number of
 * items is kept: each is an empty container or what scalar it was.
 */
typedef const char *const *read_skip_list;

/* Text and what is skipped in it. */
struct read_parts {
    const char *text;
    size_t len;
    read_skip_list skip;
};

/* What is kept of a file, and the items of one list that are given away one by one and never all in memory. */
struct read_items {
    read_skip_list skip;
    const char *list;  /* that member of the root map */
    struct tree *tree; /* of the item in hand; emptied after each */
    as_status (*take)(void *context, const struct value *item, struct as_error *err);
    /* All items so far are void: the list stands once more (the last one counts), or the file is read anew. */
    void (*restart)(void *context);
    void *context;
};

/* An empty document is a null. The tree must have been set up with READ_TREE_BYTES_MAX. */
as_status read_text(const char *text, size_t len, struct tree *tree, struct value **ret,
                    struct as_error *err) AS_NODISCARD;
as_status read_parts(const struct read_parts *parts, struct tree *tree, struct value **ret,
                     struct as_error *err) AS_NODISCARD;
/* The same by path; AS_E_NOTFOUND, AS_E_IO with the path in the sentence. A folder or device is AS_E_INVALID. */
as_status read_path(const char *path, read_skip_list skip, struct tree *tree, struct value **ret,
                    struct as_error *err) AS_NODISCARD;

/*
 * JSON by path; the list of `items` is in *ret without its items, their number is its `len`. A failure of items->take
 * ends the reading and is returned. AS_E_UNSUPPORTED when the file is not JSON.
 */
as_status read_path_items(const char *path, const struct read_items *items, struct tree *tree, struct value **ret,
                          struct as_error *err) AS_NODISCARD;

#endif
