/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_JSON_WRITE_H
#define ASSAY_BASE_JSON_WRITE_H

/*
 * Writes JSON to a strbuf: commas, quoting and indentation are its business. Non-finite numbers
 * become null; doubles are the shortest text that reads back equal; strings stay valid UTF-8
 * (maximal invalid parts become U+FFFD). Misuse (a value without a key in an object, a second
 * top-level value, nesting beyond the maximum) sets `failed`; from then on nothing is written.
 * Whatever happens, json_writer_status tells it at the end. Not for several threads at a time.
 */

#include "base/json.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_WRITE_DEPTH_MAX 128

struct json_writer {
    struct strbuf *out;
    int indent;                                      /* spaces a level, 0 = one line */
    int depth;                                       /* open arrays and objects, at most JSON_WRITE_DEPTH_MAX */
    uint64_t object_bits[JSON_WRITE_DEPTH_MAX / 64]; /* which of them are objects */
    bool need_comma;
    bool have_key;
    bool failed;
};

void json_writer_init(struct json_writer *writer, struct strbuf *out, int indent);
/* AS_E_INTERNAL on misuse or unclosed containers, else the strbuf's status. */
as_status json_writer_status(const struct json_writer *writer) AS_NODISCARD;

void json_open_object(struct json_writer *writer);
void json_close_object(struct json_writer *writer);
void json_open_array(struct json_writer *writer);
void json_close_array(struct json_writer *writer);
void json_key(struct json_writer *writer, const char *key);
void json_keyn(struct json_writer *writer, const char *key, size_t len);
void json_put_string(struct json_writer *writer, const char *text); /* NULL writes null */
void json_put_stringn(struct json_writer *writer, const char *text, size_t len);
void json_put_int(struct json_writer *writer, int64_t value);
void json_put_uint(struct json_writer *writer, uint64_t value);
void json_put_double(struct json_writer *writer, double value);
void json_put_bool(struct json_writer *writer, bool value);
void json_put_null(struct json_writer *writer);
/* Text that is one JSON value already, trusted. */
void json_put_raw(struct json_writer *writer, const char *json, size_t len);
/* A tree, member order and number text kept; NULL writes null. */
void json_put_value(struct json_writer *writer, const struct json_value *value);

/* key and value in one call. */
void json_member_string(struct json_writer *writer, const char *key, const char *text);
void json_member_int(struct json_writer *writer, const char *key, int64_t value);
void json_member_double(struct json_writer *writer, const char *key, double value);
void json_member_bool(struct json_writer *writer, const char *key, bool value);
void json_member_null(struct json_writer *writer, const char *key);

/*
 * The shortest decimal text of a finite double that reads back equal, NUL-terminated; returns its length. Whole numbers
 * have no point ("12", not "12.0"), -0 is "-0", plain digits from 0.0001 to below 1e16, else "1.5e-7"; "null" when it
 * is not finite. About 25 ns for up to 15 digits of which 6 are decimals, 1 µs for any other.
 */
#define DOUBLE_TEXT_BYTES 32
size_t double_format(double value, char ret_text[DOUBLE_TEXT_BYTES]);
/* Decimal text of an integer without NUL, ≤ 20 bytes; returns the end. Fast: for record writers. */
char *int64_put(char *at, int64_t value);
char *uint64_put(char *at, uint64_t value);
/* Appends `text` JSON-escaped without quotes. */
void json_escape(struct strbuf *out, const char *text, size_t len);

#endif
