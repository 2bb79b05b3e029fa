/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_GRAMMAR_H
#define ASSAY_PROMPTS_GRAMMAR_H

/*
 * Texts made of our own words: sentences with slots, "{a}" being one of the words of slot a ("one|other|third"; a word
 * may hold slots itself, at most GRAMMAR_DEPTH_MAX deep), "{#}" a whole number from 2 to 99. What comes out depends on
 * the random numbers alone. Changing a table changes the digests of the libraries shipped: that makes a new version of
 * them, with a new code. Pure functions; any thread.
 */

#include "base/rng.h"
#include "base/strbuf.h"

#define GRAMMAR_DEPTH_MAX 3
#define GRAMMAR_SLOTS     26

/* Lists end with NULL. */
struct grammar {
    const char *const *openers;
    const char *const *sentences;
    const char *const *questions;
    const char *slots[GRAMMAR_SLOTS]; /* by letter */
    const char *between;              /* sentences: " ", or line ends */
};

extern const struct grammar grammar_fixed, grammar_medical, grammar_legal, grammar_code, grammar_text2image;

/* One of the lines, its slots filled; a sentence (`between` is not empty) begins with a capital. */
void grammar_add(const struct grammar *grammar, const char *const *lines, struct rng *rng, struct strbuf *out);

#endif
