/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/vocab.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* Each of SIM_TOKEN_BYTES - 1 bytes. */
static const char words[][SIM_TOKEN_BYTES] = {
    "water", "light", "boats", "night", "birds", "stone", "river", "house", "green", "white", "black", "small", "great",
    "early", "quiet", "bread", "fruit", "table", "chair", "floor", "glass", "music", "voice", "smile", "heart", "dream",
    "cloud", "storm", "beach", "shore", "coast", "waves", "sails", "ropes", "crane", "fleet", "north", "south", "gulls",
    "fresh", "sweet", "sharp", "round", "plain", "clear", "still", "while", "since", "until", "after", "again", "never",
    "every", "other", "under", "above", "about", "along", "where", "there", "these", "café",  "même",  "brød",
};
#define WORDS (sizeof(words) / sizeof(words[0]))

as_status sim_vocab_new(uint64_t seed, struct sim_vocab **ret)
{
    struct sim_vocab *vocab = malloc(sizeof(*vocab));
    struct rng rng;
    if (!vocab)
        return AS_E_NOMEM;
    rng_init(&rng, seed, UINT64_C(0x766f636162));
    for (size_t i = 0; i < SIM_VOCAB_TOKENS; i++) {
        vocab->text[i * SIM_TOKEN_BYTES] = ' ';
        memcpy(vocab->text + i * SIM_TOKEN_BYTES + 1, words[rng_below(&rng, WORDS)], SIM_TOKEN_BYTES - 1);
    }
    *ret = vocab;
    return AS_OK;
}

void sim_vocab_free(struct sim_vocab *vocab)
{
    free(vocab);
}

char *sim_vocab_put(const struct sim_vocab *vocab, uint64_t start, int64_t from, int64_t count, char *at)
{
    size_t token = (size_t)((start + (uint64_t)from) % SIM_VOCAB_TOKENS);
    size_t skip = from == 0;
    for (size_t left = count > 0 ? (size_t)count : 0; left > 0;) {
        size_t run = SIM_VOCAB_TOKENS - token < left ? SIM_VOCAB_TOKENS - token : left;
        size_t len = run * SIM_TOKEN_BYTES - skip;
        memcpy(at, vocab->text + token * SIM_TOKEN_BYTES + skip, len);
        at += len;
        left -= run;
        token = 0;
        skip = 0;
    }
    return at;
}
