/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_FIELDS_H
#define ASSAY_SUMMARY_FIELDS_H

/*
 * A struct's members as a table, from which both the JSON form and its reader are derived: what one writes the other
 * reads.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"

#include <stddef.h>

enum field_type { FIELD_TEXT, FIELD_INT64, FIELD_UINT64, FIELD_UINT32, FIELD_DOUBLE, FIELD_BOOL };

struct field {
    const char *name;     /* JSON member */
    enum field_type type; /* of the struct's member */
    size_t at;            /* its offset */
};

struct field_table {
    const struct field *fields;
    size_t count;
};

/* Of an array. */
#define FIELD_TABLE(array) ((struct field_table){(array), sizeof(array) / sizeof *(array)})

/* A member per field, into the open object. A NULL text and a NAN become null. */
void fields_write(struct json_writer *writer, const void *base, struct field_table table);
/*
 * Members that are absent or null leave the field as it is; strings are copied to the arena. AS_E_INVALID names the
 * member whose type is wrong. `object` may be NULL (nothing is read).
 */
as_status fields_read(const struct json_value *object, void *base, struct field_table table, struct arena *arena,
                      struct as_error *err) AS_NODISCARD;

#endif
