/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_VOCAB_H
#define ASSAY_SIM_VOCAB_H

/*
 * The text of answers: an endless, seeded sequence of tokens, each one word with a blank before it, valid in a JSON
 * string as it is (some words are not ASCII). Words and tokens of an answer are equal in number, so that a client's
 * counts can be checked. Immutable after sim_vocab_new; any thread.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Tokens in the sequence before it starts over. */
#define SIM_VOCAB_TOKENS 4096
/* No token is longer, its blank included. */
#define SIM_VOCAB_TOKEN_BYTES_MAX 16

struct sim_vocab {
    char *text;                             /* all tokens one after the other */
    uint32_t offsets[SIM_VOCAB_TOKENS + 1]; /* bytes; token i is [offsets[i], offsets[i + 1]) */
};

as_status sim_vocab_new(uint64_t seed, struct sim_vocab **ret) AS_NODISCARD;
void sim_vocab_free(struct sim_vocab *vocab);

/*
 * Copies tokens [from, from + count) of the sequence that starts at `start` (any number) to `at`, the first blank of
 * the sequence left out; returns the end. Needs room for count × SIM_VOCAB_TOKEN_BYTES_MAX.
 */
char *sim_vocab_put(const struct sim_vocab *vocab, uint64_t start, int64_t from, int64_t count, char *at);

/* Bytes that sim_vocab_put would write. */
size_t sim_vocab_bytes(const struct sim_vocab *vocab, uint64_t start, int64_t from, int64_t count);

#endif
