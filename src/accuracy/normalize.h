/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ACCURACY_NORMALIZE_H
#define ASSAY_ACCURACY_NORMALIZE_H

/*
 * What is done to a transcript before it is compared. White space is layout in every mode: words are what lies between it (Unicode
 * White_Space), and the result is the words joined by single spaces. Invalid UTF-8 becomes U+FFFD. Any thread.
 */

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* name, what it does */
#define NORMALIZER_MAP(X)                                                                                                  \
    X(NONE, "none", "the text as it is")                                                                                   \
    X(LOWERCASE, "lowercase", "simple lower case of each code point")                                                      \
    X(BASIC, "basic", "NFKC, lower case, bracketed parts dropped, marks, symbols and punctuation to spaces")               \
    X(ENGLISH, "english", "contractions written out, fillers dropped, titles and British spellings made one, digits joined, then basic")

enum normalizer {
#define NORMALIZER_ENUM(name, text, what) NORMALIZER_##name,
    NORMALIZER_MAP(NORMALIZER_ENUM)
#undef NORMALIZER_ENUM
    NORMALIZER_COUNT
};

const char *normalizer_name(enum normalizer normalizer);
bool normalizer_from_name(const char *name, enum normalizer *ret);

/* Appends the normalised text to `ret`. AS_E_NOMEM, or AS_E_LIMIT from `ret`. */
as_status text_normalize(enum normalizer normalizer, const char *text, size_t len, struct strbuf *ret) AS_NODISCARD;

#endif
