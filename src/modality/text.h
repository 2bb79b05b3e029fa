/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_TEXT_H
#define ASSAY_MODALITY_TEXT_H

/*
 * The text of JSON strings, read in place and still escaped: where it ends, how many words it holds (workload/words.h),
 * whether it is sound Unicode. Pure functions on the caller's bytes; any thread.
 */

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Carried from one piece of a text to the next, since a word may be cut anywhere. Starts zeroed. */
struct text_state {
    int64_t words;
    bool in_word;
    bool is_unsound; /* held invalid UTF-8 or a lone surrogate, read as U+FFFD */
};

/*
 * Reads the body of a JSON string from `at`, which is behind the opening quote, and adds to *state. Returns the closing
 * quote, or NULL when there is none before `end` or the string is not one of RFC 8259 section 7 (a control character, a
 * malformed escape); *state is then in part advanced.
 */
const char *text_scan(const char *at, const char *end, struct text_state *state);

/*
 * Appends the body of a sound JSON string to `out`, still escaped, as much of it as keeps out->len ≤ max_bytes; what is
 * unsound becomes U+FFFD. Escapes and characters are never cut. False when not everything fitted.
 */
bool text_append(const char *body, size_t len, size_t max_bytes, struct strbuf *out);

/*
 * Decodes the body of a JSON string (`is_json`) or plain text into one line of at most `size` − 1 bytes of valid UTF-8
 * and a NUL: each run of white space and control characters becomes one space, none at the ends; what is unsound
 * becomes U+FFFD. Returns the length.
 */
size_t text_to_line(const char *body, size_t len, bool is_json, char *ret, size_t size);

#endif
