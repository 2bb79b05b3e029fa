/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/vocab.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "the",    "harbour", "wakes",   "before", "dawn",  "and",    "small",  "boats", "leave", "in",    "a",
    "line",   "over",    "grey",    "water",  "gulls", "follow", "them",   "until", "light", "comes", "from",
    "behind", "hills",   "nets",    "are",    "heavy", "with",   "silver", "fish",  "men",   "sing",  "old",
    "songs",  "of",      "storms",  "café",   "opens", "its",    "doors",  "bread", "is",    "warm",  "coffee",
    "smells", "like",    "morning", "brücke", "bells", "ring",   "seven",  "times", "then",  "quiet", "again",
    "naïve",  "wind",    "turns",   "slowly", "west",  "sails",  "fill",   "soon",  "home",
};
#define WORDS (sizeof(words) / sizeof(words[0]))

as_status sim_vocab_new(uint64_t seed, struct sim_vocab **ret)
{
    struct sim_vocab *vocab = calloc(1, sizeof(*vocab));
    if (!vocab)
        return AS_E_NOMEM;
    vocab->text = malloc((size_t)SIM_VOCAB_TOKENS * SIM_VOCAB_TOKEN_BYTES_MAX);
    if (!vocab->text) {
        free(vocab);
        return AS_E_NOMEM;
    }
    struct rng rng;
    rng_init(&rng, seed, UINT64_C(0x766f636162));
    char *at = vocab->text;
    for (uint32_t i = 0; i < SIM_VOCAB_TOKENS; i++) {
        const char *word = words[rng_below(&rng, WORDS)];
        size_t len = strlen(word);
        *at++ = ' ';
        memcpy(at, word, len);
        at += len;
        vocab->offsets[i + 1] = (uint32_t)(at - vocab->text);
    }
    *ret = vocab;
    return AS_OK;
}

void sim_vocab_free(struct sim_vocab *vocab)
{
    if (!vocab)
        return;
    free(vocab->text);
    free(vocab);
}

char *sim_vocab_put(const struct sim_vocab *vocab, uint64_t start, int64_t from, int64_t count, char *at)
{
    uint32_t token = (uint32_t)((start + (uint64_t)from) % SIM_VOCAB_TOKENS);
    uint32_t skip = from == 0;
    while (count > 0) {
        uint32_t run = SIM_VOCAB_TOKENS - token;
        if ((int64_t)run > count)
            run = (uint32_t)count;
        size_t len = vocab->offsets[token + run] - vocab->offsets[token] - skip;
        memcpy(at, vocab->text + vocab->offsets[token] + skip, len);
        at += len;
        count -= run;
        token = 0;
        skip = 0;
    }
    return at;
}

size_t sim_vocab_bytes(const struct sim_vocab *vocab, uint64_t start, int64_t from, int64_t count)
{
    if (count <= 0)
        return 0;
    uint32_t token = (uint32_t)((start + (uint64_t)from) % SIM_VOCAB_TOKENS);
    size_t bytes = (size_t)(count / SIM_VOCAB_TOKENS) * vocab->offsets[SIM_VOCAB_TOKENS];
    uint32_t rest = (uint32_t)(count % SIM_VOCAB_TOKENS);
    uint32_t first = SIM_VOCAB_TOKENS - token < rest ? SIM_VOCAB_TOKENS - token : rest;
    bytes += vocab->offsets[token + first] - vocab->offsets[token];
    bytes += vocab->offsets[rest - first];
    return bytes - (from == 0);
}
