/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_JSON_H
#define ASSAY_BASE_JSON_H

/*
 * JSON (RFC 8259) in two ways. The tree (json_parse) is for documents that fit in memory:
 * configuration, records, answers; positions and the text of numbers are kept. The cursor
 * (json_cursor) walks bytes in place without a tree and skips what is not asked for. Both are
 * strict: no comments, no trailing commas, no NaN, no byte order mark, one top-level value.
 * Duplicate keys: the last one wins in look-ups. Invalid UTF-8 in strings is an error unless `lossy`
 * is set, then each maximal invalid part becomes U+FFFD; lone surrogate escapes likewise.
 * Nothing here recurses on the depth of the input or depends on the locale. All functions may be
 * called from any thread; one arena or cursor is for one thread at a time.
 * For writing see base/json_write.h; for reading documents larger than memory base/json_stream.h.
 */

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The deepest nesting that any limit can allow. */
#define JSON_DEPTH_MAX 1024

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* One value of a tree; everything it points to lives in the arena. */
struct json_value {
    enum json_type type;
    bool boolean;     /* JSON_BOOL */
    int64_t offset;   /* bytes from the start of the text to the value */
    const char *text; /* JSON_STRING: decoded, NUL-terminated; JSON_NUMBER: as written */
    size_t len;       /* bytes of text (a string may hold NUL), or number of children */
    const char *key;  /* decoded, NUL-terminated; NULL unless a member of an object */
    size_t key_len;
    const struct json_value *first; /* JSON_ARRAY, JSON_OBJECT: children in order of the text */
    const struct json_value *next;  /* sibling */
};

struct json_limits {
    size_t max_depth;        /* nested arrays and objects, 0 = 128, at most JSON_DEPTH_MAX */
    size_t max_string_bytes; /* one decoded string, 0 = 64 MiB */
    bool lossy;              /* see above */
};

/*
 * Parses `len` bytes; *ret lives in `arena`. limits may be NULL. AS_E_INVALID: no JSON; AS_E_LIMIT: deeper or longer
 * than the limits, or than the arena's; AS_E_NOMEM. err->line, column (in bytes) and offset give the place, and the
 * message says it too, without the name of the input (see error_prefix). After a failure the arena may hold parts.
 */
as_status json_parse(const char *text, size_t len, const struct json_limits *limits, struct arena *arena,
                     const struct json_value **ret, struct as_error *err) AS_NODISCARD;
/* The same for one line of a file: the message names the column alone, and beyond a limit is AS_E_INVALID too. */
as_status json_parse_line(const char *line, size_t len, struct arena *arena, const struct json_value **ret,
                          struct as_error *err) AS_NODISCARD;

/* The member of an object (exact key), NULL when absent or `object` is NULL or no object. */
const struct json_value *json_get(const struct json_value *object, const char *key);
/* A path of object members "a.b.c"; NULL when a step is absent. */
const struct json_value *json_path(const struct json_value *root, const char *path);
/* True and *ret set when `value` is a string; `value` may be NULL. */
bool json_string(const struct json_value *value, const char **ret);
bool json_bool(const struct json_value *value, bool *ret);
/* A number whose value is an integer within int64 (1, 1.0 and 1e2 are; 1.5 and 1e30 are not). */
bool json_int64(const struct json_value *value, int64_t *ret);
/* Any number as the nearest double; false when that is infinite. */
bool json_double(const struct json_value *value, double *ret);
bool json_is_null(const struct json_value *value);
const char *json_type_name(enum json_type type);

/*
 * Number text (JSON grammar) to value; false when it is no number or does not fit (int64: not whole or out of range;
 * double: the nearest one is infinite). Correctly rounded.
 */
bool json_text_int64(const char *text, size_t len, int64_t *ret);
bool json_text_double(const char *text, size_t len, double *ret);

/*
 * A cursor over one value in memory, without allocation. It must point at a value; each function
 * moves past what it consumed. A function that finds a value of another type returns false, consumes
 * nothing of it and is no failure: take or skip it otherwise. After the first syntax error `failed` is
 * set and all calls return false; look at it once, after the last call. Keys and strings are given raw
 * (still escaped, without quotes, their escapes checked); json_raw_equals compares and json_raw_decode
 * decodes them. It does not check UTF-8, nor grammar inside skipped arrays and objects beyond strings
 * and nesting (json_cursor_validate does), nor what follows the value (cursor.at tells).
 */
struct json_cursor {
    const char *at;
    const char *end;
    bool failed;
};

struct json_raw {
    const char *at;
    size_t len;
    bool escaped; /* contains a backslash */
};

void json_cursor_init(struct json_cursor *cursor, const char *text, size_t len);
/* The type of the value at the cursor (white space skipped), or -1 at the end or on an error. */
int json_cursor_type(struct json_cursor *cursor);
/* Steps into an object/array: true when it is one. Then loop with json_next_member / json_next_item. */
bool json_enter_object(struct json_cursor *cursor);
bool json_enter_array(struct json_cursor *cursor);
/* The next key, cursor at its value (which must be consumed or skipped); false after the last one. */
bool json_next_member(struct json_cursor *cursor, struct json_raw *ret_key);
/* True when another item follows, cursor at it; `*first` starts as true and is kept by the caller. */
bool json_next_item(struct json_cursor *cursor, bool *first);
/* Steps over one value of any type; nesting beyond JSON_DEPTH_MAX fails. */
bool json_skip(struct json_cursor *cursor);
bool json_take_string(struct json_cursor *cursor, struct json_raw *ret);
/* Number text in ret; not escaped. */
bool json_take_number(struct json_cursor *cursor, struct json_raw *ret);
bool json_take_bool(struct json_cursor *cursor, bool *ret);
bool json_take_null(struct json_cursor *cursor);
/* Full RFC 8259 check that the text is one value within the limits (NULL: the defaults). Allocates nothing. */
bool json_cursor_validate(const char *text, size_t len, const struct json_limits *limits);

/* The same for text with escapes; use json_raw_equals. */
bool json_raw_equals_escaped(const struct json_raw *raw, const char *text);

/* True when the decoded text is `text` (a literal: its length is then known to the compiler). */
static inline bool json_raw_equals(const struct json_raw *raw, const char *text)
{
    if (raw->escaped)
        return json_raw_equals_escaped(raw, text);
    return raw->len == strlen(text) && memcmp(raw->at, text, strlen(text)) == 0;
}

/*
 * Decodes escapes into `ret` and returns the number of bytes, without a NUL: at most raw->len, or 3 × raw->len when
 * the text may hold invalid UTF-8. Lone surrogates and maximal invalid parts become U+FFFD.
 */
size_t json_raw_decode(const struct json_raw *raw, char *ret);

#endif
