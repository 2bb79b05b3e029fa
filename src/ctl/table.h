/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_TABLE_H
#define ASSAY_CTL_TABLE_H

/* Rows of JSON objects as an aligned table. null is "-"; control characters are shown as \n, \t or \xNN; arrays and
 * objects as JSON. A column of numbers stands at the right. Pure; the width is counted in code points. */

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"

#define TABLE_COLUMNS_MAX 64

struct table_columns {
    const char *names[TABLE_COLUMNS_MAX];
    size_t count;
};

/* Splits at spaces and commas; further columns than the most are left out. AS_E_NOMEM. */
as_status table_columns_add(struct table_columns *columns, const char *names, struct arena *arena) AS_NODISCARD;
/*
 * Adds a heading and a line for each child of `rows` (an array of objects). Lines wider than `width` have their widest
 * cells cut, an ellipsis at the cut; 0 cuts nothing.
 */
as_status table_write(struct strbuf *out, const struct json_value *rows, const struct table_columns *columns,
                      size_t width, struct arena *arena) AS_NODISCARD;
/* Adds a line for each member of an object: name and value. */
void table_write_object(struct strbuf *out, const struct json_value *object);
/* Adds a value as a cell shows it. */
void table_add_value(struct strbuf *out, const struct json_value *value);
/* Adds text with control characters made visible. */
void table_add_text(struct strbuf *out, const char *text, size_t len);

#endif
