/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_SCHEMA_H
#define ASSAY_STORE_SCHEMA_H

/*
 * The numbered files of schema/sql, which the build puts into the program, and what their words in braces become in each
 * dialect. Pure text: no database here.
 *
 * A file is expanded after all files before it, because {use BLOCK} may name a block that an earlier one {define}s. Text in
 * quotes is left as it is; comments fall away. AS_E_INVALID names the word that is not known.
 */

#include "base/arena.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "store/store.h"

struct migration {
    int64_t number;   /* 1, 2, … without a gap */
    const char *name; /* "definitions" */
    const char *text;
    size_t len;
};

/* What the program was built with, in order; made by cmake/store.cmake. */
extern const struct migration store_migrations[];
extern const uint32_t store_migration_count;

struct schema_block {
    const char *name;
    const char *text;
    struct schema_block *next;
};

/* Blocks lie in the caller's arena. Zeroed but for those two: nothing defined yet. */
struct schema_expander {
    struct arena *arena;
    enum store_kind kind;
    struct schema_block *blocks; /* newest first */
    uint32_t depth;              /* of {use} in {use} */
};

/* Appends the SQL of one file; statements end with ';'. */
as_status schema_expand(struct schema_expander *expander, const char *text, size_t len, struct strbuf *ret,
                        struct as_error *err) AS_NODISCARD;

/*
 * The next statement of expanded SQL: from *at, without its ';' and blanks around it; *at moves behind it. NULL at the end.
 */
const char *schema_next_statement(const char **at, size_t *ret_len);

/* FNV-1a over the text, runs of blanks counting as one. */
uint64_t schema_digest(const char *text, size_t len);

#endif
