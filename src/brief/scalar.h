/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_SCALAR_H
#define ASSAY_BRIEF_SCALAR_H

/*
 * Texts of single values: what a plain YAML 1.1 scalar means (as PyYAML resolves it), numbers and times written as
 * text, and how numbers are printed. No locale, no allocation but in the tree. Any thread.
 */

#include "base/strbuf.h"
#include "brief/value.h"

/* The value of a plain scalar: null, boolean, integer, float, time, else text. */
struct value *scalar_resolve(struct tree *tree, const char *text, size_t len);
/* True when some YAML 1.1 or 1.2 reader could take the plain text for something other than text. */
bool scalar_is_ambiguous(const char *text, size_t len);

/* Number text as lenient readers take it: blanks around, a sign, "_" between digits, "inf", "nan". */
bool scalar_double(const char *text, size_t len, double *ret);
/* The same for whole numbers within int64: "3", "3.0". */
bool scalar_int(const char *text, size_t len, int64_t *ret);
/* An integer of any size in decimal; beyond int64 its text is kept. */
struct value *scalar_integer(struct tree *tree, const char *text, size_t len);

#define TIME_TEXT_BYTES 40
/*
 * A time as the report formats print it: ISO 8601 with "T", microseconds only when not zero, "Z" for UTC, else the
 * offset, nothing when the input had no zone. Takes ISO texts, bare dates (midnight) and Unix seconds or milliseconds.
 */
bool time_normalise(const char *text, size_t len, char ret[TIME_TEXT_BYTES]);
/* Seconds since 1970 (milliseconds beyond 2e10) in UTC. */
bool time_from_number(double number, char ret[TIME_TEXT_BYTES]);
/* Whole Unix seconds in the local zone. */
bool time_local(int64_t unix_s, char ret[TIME_TEXT_BYTES]);

/* Python's repr of a double ("1e-07", "inf"), or with always a dot and YAML's names ("1.0e-07", ".inf"). */
void double_put_python(struct strbuf *out, double number);
void double_put_yaml(struct strbuf *out, double number);

#endif
