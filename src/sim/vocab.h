/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_VOCAB_H
#define ASSAY_SIM_VOCAB_H

/*
 * The text of answers: an endless, seeded sequence of tokens, each one word with a blank before it, valid in a JSON
 * string as it is (some words are not ASCII). Words and tokens of an answer are equal in number, so that a client's
 * counts can be checked. Immutable after vocab_new; any thread.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Tokens in the sequence before it starts over. */
#define VOCAB_TOKENS 4096
/* No token is longer, its blank included. */
#define VOCAB_TOKEN_BYTES_MAX 16

struct vocab {
    char *text;                         /* all tokens one after the other */
    uint32_t offsets[VOCAB_TOKENS + 1]; /* bytes; token i is [offsets[i], offsets[i + 1]) */
};

as_status vocab_new(uint64_t seed, struct vocab **ret) AS_NODISCARD;
void vocab_free(struct vocab *vocab);

/*
 * Copies tokens [from, from + count) of the sequence that starts at `start` (any number) to `at`, the first blank of
 * the sequence left out; returns the end. Needs room for count × VOCAB_TOKEN_BYTES_MAX.
 */
char *vocab_put(const struct vocab *vocab, uint64_t start, int64_t from, int64_t count, char *at);

/* Bytes that vocab_put would write. */
size_t vocab_bytes(const struct vocab *vocab, uint64_t start, int64_t from, int64_t count);

#endif
