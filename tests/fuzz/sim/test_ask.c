/* SPDX-License-Identifier: Apache-2.0 */
/* Request bodies: what is taken has counts that make sense, and its answer ends after as many steps as it has tokens.
 */
#include "sim/answer.h"

#include <stdbool.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static const struct sim_vocab *vocab(void)
{
    static struct sim_vocab *made;
    if (!made)
        must(sim_vocab_new(1, &made) == AS_OK);
    return made;
}

static void play(const struct sim_ask *ask, struct strbuf *out)
{
    static const struct sim_moment moment = {1700000000, "Tue, 14 Nov 2023 22:13:20 GMT"};
    static const struct sim_profile profile = {.itl = {SIM_DIST_CONSTANT, 1e6, 0},
                                               .tokens = {SIM_DIST_CONSTANT, 20, 0},
                                               .tokens_per_chunk = {SIM_DIST_CONSTANT, 3, 0},
                                               .reasoning_tokens = 4,
                                               .tokens_per_word = 1.3,
                                               .reasoning_field = "reasoning",
                                               .model = "m",
                                               .seed = 1};
    struct sim_answer answer = {.profile = &profile, .vocab = vocab(), .moment = &moment};
    struct sim_ask bounded = *ask;
    int64_t steps = 0;
    if (bounded.min_tokens > 300)
        bounded.min_tokens = 300;
    if (bounded.max_tokens > 300)
        bounded.max_tokens = 300;
    sim_answer_init(&answer, &bounded, 1, 1);
    must(answer.tokens >= 0 && answer.reasoning_tokens >= 0 && answer.prompt_tokens >= 0);
    must(bounded.max_tokens < 0 || answer.tokens + answer.reasoning_tokens <= bounded.max_tokens);
    enum sim_answer_action action = sim_answer_start(&answer, out);
    while (action == SIM_ANSWER_GO_ON) {
        must(sim_answer_delay_ns(&answer, 1) >= 0);
        action = sim_answer_step(&answer, out);
        must(++steps <= 310);
    }
    must(action == SIM_ANSWER_END && strbuf_status(out) == AS_OK && out->len > 0);
    must(answer.tokens_done == answer.tokens + answer.reasoning_tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    for (int is_chat = 0; is_chat < 2; is_chat++) {
        struct sim_ask ask;
        struct as_error err = {0};
        if (sim_ask_read((const char *)data, size, is_chat, &ask, &err) != AS_OK) {
            must(err.status == AS_E_INVALID && err.message[0]);
            continue;
        }
        must(ask.choices >= 1 && ask.choices <= SIM_CHOICES_MAX && (ask.max_tokens == -1 || ask.max_tokens >= 1) &&
             ask.min_tokens >= -1);
        must(ask.prompt_words >= 0 && ask.prompt_ids >= 0 && ask.images >= 0);
        play(&ask, &out);
    }
    return 0;
}
