/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_READER_H
#define ASSAY_RECIPE_READER_H

/*
 * JSON objects into structs by tables of members, with errors that name file, line and member. Private to the module.
 */

#include "recipe/data.h"

struct reader {
    const struct recipe_text *input;
    struct arena *arena;
    struct as_error *err;
    char place[160]; /* path of the object being read: "sets[3].args[0]" */
};

enum member_kind {
    MEMBER_TEXT,   /* const char *, not empty */
    MEMBER_INT,    /* int64_t ≥ 0 */
    MEMBER_DOUBLE, /* double ≥ 0 */
    MEMBER_BOOL,
    MEMBER_LIST,  /* struct recipe_list of texts */
    MEMBER_PAIRS, /* struct recipe_pairs: an object of texts */
    MEMBER_OTHER  /* allowed; read by the caller */
};

struct member {
    const char *name;
    enum member_kind kind;
    size_t at; /* offset in the struct */
    bool is_required;
};

struct members {
    const struct member *items;
    size_t count;
};
#define MEMBERS(array)                                                                                                 \
    (struct members)                                                                                                   \
    {                                                                                                                  \
        (array), sizeof(array) / sizeof((array)[0])                                                                    \
    }

/* Parses the input; the top level must be an object whose `schema` is as given. */
as_status reader_open(struct reader *reader, const char *schema, const struct json_value **ret) AS_NODISCARD;
/* The array `name` of the top level; an absent one is an error. */
as_status reader_array(struct reader *reader, const struct json_value *root, const char *name,
                       const struct json_value **ret) AS_NODISCARD;
/* Reads known members of `object` into `target`; unknown ones are refused, null is like absent. */
as_status reader_members(struct reader *reader, const struct json_value *object, struct members members,
                         void *target) AS_NODISCARD;
as_status reader_list(struct reader *reader, const struct json_value *value, struct recipe_list *ret) AS_NODISCARD;
as_status reader_pairs(struct reader *reader, const struct json_value *value, struct recipe_pairs *ret) AS_NODISCARD;
/* Sets the place: "%s[%zu]". */
void reader_at(struct reader *reader, const char *array, size_t index);
/* AS_E_INVALID: "FILE:LINE: PLACE: sentence". `value` gives the line, NULL = unknown. */
as_status reader_fail(struct reader *reader, const struct json_value *value, const char *fmt, ...) AS_PRINTF(3, 4);
as_status reader_no_memory(struct reader *reader);

/* A scalar, array or object as the text that recipe_arg has; NULL without memory or when it is null. */
const char *reader_value_text(struct arena *arena, const struct json_value *value);

/* The candidate nearest to `word`, NULL when all are farther than a third of its length and one. */
struct nearest {
    const char *word;
    const char *best;
    size_t distance;
};
void nearest_init(struct nearest *nearest, const char *word);
void nearest_try(struct nearest *nearest, const char *candidate);

#endif
