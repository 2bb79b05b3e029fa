/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_VOCAB_H
#define ASSAY_SIM_VOCAB_H

/*
 * The text of answers: an endless, seeded sequence of tokens, each one word with a blank before it, valid in a JSON
 * string as it is (some words are not ASCII). Words and tokens of an answer are equal in number, so that a client's
 * counts can be checked, and all tokens have the same length in bytes, so that answers of a length are equally long
 * on the wire. Immutable after sim_vocab_new; any thread.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Tokens in the sequence before it starts over. */
#define SIM_VOCAB_TOKENS 4096
/* Of a token, its blank included. */
#define SIM_TOKEN_BYTES 6

struct sim_vocab {
    char text[SIM_VOCAB_TOKENS * SIM_TOKEN_BYTES];
};

as_status sim_vocab_new(uint64_t seed, struct sim_vocab **ret) AS_NODISCARD;
void sim_vocab_free(struct sim_vocab *vocab);

/*
 * Copies tokens [from, from + count) of the sequence that starts at `start` (any number) to `at`, the first blank of
 * the sequence left out; returns the end. Needs room for count × SIM_TOKEN_BYTES.
 */
char *sim_vocab_put(const struct sim_vocab *vocab, uint64_t start, int64_t from, int64_t count, char *at);

#endif
