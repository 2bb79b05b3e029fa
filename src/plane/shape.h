/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_SHAPE_H
#define ASSAY_PLANE_SHAPE_H

/*
 * What JSON objects of the API look like: constant tables, from which reading and checking of input, the OpenAPI
 * document and the columns of generic SQL are derived. Checking is strict: members that are not listed, members given
 * twice, wrong types, texts with control characters and everything beyond the limits is refused, each with its JSON
 * pointer. Pure functions; any thread.
 */

#include "base/arena.h"
#include "base/json.h"
#include "plane/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
    FIELD_TEXT,    /* one line of any characters but control characters */
    FIELD_PROSE,   /* text with line feeds and tabs */
    FIELD_CODE,    /* natural key: lower-case letters, digits, . _ - after the first character; at most 100 */
    FIELD_KEY,     /* the same, may begin with _ */
    FIELD_VERSION, /* also + */
    FIELD_LOGIN,   /* also + and @ */
    FIELD_NAME,    /* natural key of outside origin (model ids): also capitals, : and / */
    FIELD_INT,     /* within ±(2^53 - 1) */
    FIELD_NUMBER,  /* finite */
    FIELD_BOOL,
    FIELD_ENUM,   /* one of `choices` */
    FIELD_TIME,   /* RFC 3339 in JSON, nanoseconds since 1970 in the store */
    FIELD_JSON,   /* any object, or where shape is "any" any value; text in the store */
    FIELD_OBJECT, /* an object of `shape` */
    FIELD_LIST,   /* a list of objects of `shape`, or of `item`s */
    FIELD_SECRET  /* text that is only ever written */
};

enum {
    FIELD_REQUIRED = 1 << 0, /* must be given when a thing is made */
    FIELD_FIXED = 1 << 1,    /* given when it is made, never changed */
    FIELD_GIVEN = 1 << 2,    /* made by the server: not accepted from callers */
    FIELD_NULLABLE = 1 << 3, /* may be null */
    FIELD_FILTER = 1 << 4,   /* lists can be filtered by it */
    FIELD_SORT = 1 << 5,     /* lists can be sorted by it */
    FIELD_DETAIL = 1 << 6,   /* not in lists */
    FIELD_ANY = 1 << 7,      /* FIELD_JSON: any value, not only objects */
    FIELD_VIRTUAL = 1 << 8,  /* has no column: a hook of the resource reads and writes it */
    FIELD_ABSENT = 1 << 9,   /* accepted, never answered (a password) */
    FIELD_ONCE = 1 << 10     /* answered only by the call that made it */
};

struct shape;

struct field {
    const char *name;
    enum field_type type;
    uint32_t flags;
    double min, max; /* numbers: inclusive bounds, both 0 = none; texts: characters, max 0 = 200, of codes 100; lists:
                        items, max 0 = 1000 */
    const char *const *choices; /* NULL-terminated */
    const struct shape *shape;
    enum field_type item; /* FIELD_LIST without shape */
    const char *about;    /* a sentence */
    const char *column;   /* NULL = name */
    const char *initial;  /* default, as JSON text; NULL = none (NULL in the store) */
    const char *sql;      /* read by this expression, in which $ is the row's alias; then it is FIELD_GIVEN */
};

struct shape {
    const char *name; /* of its schema: "Project" */
    const char *about;
    const struct field *fields;
    size_t count;
};

#define SHAPE_FIELDS(array) .fields = (array), .count = sizeof(array) / sizeof((array)[0])

/* Longest text that a field takes, in characters. */
size_t field_text_max(const struct field *field);
const struct field *shape_field(const struct shape *shape, const char *name);

enum shape_mode {
    SHAPE_CREATE, /* required members must be there */
    SHAPE_CHANGE  /* any subset; FIELD_FIXED ones are refused */
};

/*
 * Checks an object against a shape; all findings go into `problem`, AS_E_INVALID when there are any. `pointer` is the
 * place of the object ("" = the body).
 */
as_status shape_check(const struct shape *shape, const struct json_value *object, enum shape_mode mode,
                      const char *pointer, struct problem *problem) AS_NODISCARD;
/* One value of a field; the text of a query parameter is checked by field_check_text. */
as_status field_check(const struct field *field, const struct json_value *value, const char *pointer,
                      struct problem *problem) AS_NODISCARD;
/* FIELD_CODE to FIELD_NAME. */
bool field_is_code(enum field_type type);
/* True when the text spells a natural key of this type (FIELD_CODE to FIELD_NAME). */
bool field_spells(enum field_type type, const char *text, size_t len);
/* The pattern of ECMA-262 that says the same. */
const char *field_pattern(enum field_type type);

#endif
