/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SIM_ANSWER_H
#define ASSAY_SIM_ANSWER_H

/*
 * One answer of the simulated model: what it consists of, how long each step takes, and its bytes on the wire, HTTP
 * framing included. Knows no clock and no socket: the caller asks for the next delay, waits, asks for the next bytes,
 * sends them. The same profile, vocabulary, request and key give the same answer. One thread an answer; the profile and
 * the vocabulary are shared.
 *
 * Identity: at the end tokens_done = reasoning_tokens + tokens, for each of `choices` choices.
 */

#include "base/rng.h"
#include "base/strbuf.h"
#include "http/date.h"
#include "sim/ask.h"
#include "sim/profile.h"
#include "sim/vocab.h"

/* What the caller does with the bytes that were added to `out` (perhaps none). */
enum sim_answer_action {
    SIM_ANSWER_GO_ON, /* send, then wait for the next step */
    SIM_ANSWER_END,   /* send; the response is complete, the connection stays open */
    SIM_ANSWER_CLOSE, /* send, then close */
    SIM_ANSWER_RESET, /* send, then reset the connection */
    SIM_ANSWER_STALL  /* send, then leave the connection open and silent */
};

/* The wall clock as answers show it; kept up to date by the caller. */
struct sim_moment {
    int64_t unix_s;
    char date[HTTP_DATE_BYTES]; /* of the Date field */
};

struct sim_answer {
    const struct sim_profile *profile;
    const struct sim_vocab *vocab;
    const struct sim_moment *moment;
    const struct sim_fault *fault; /* its fate, NULL = none */
    struct sim_ask ask;            /* ask.model is not kept */
    uint64_t key;
    uint64_t vocab_start;
    struct rng rng;
    int64_t prompt_tokens;
    int64_t work_ns; /* of a transcription: what it takes without a queue */
    int64_t tokens;           /* planned: content or tool arguments, a choice */
    int64_t reasoning_tokens; /* planned, a choice */
    int64_t tokens_done;      /* emitted, reasoning first, a choice */
    int64_t chunks;           /* steps emitted */
    int64_t reasoning_chunks; /* of them with reasoning */
    bool is_cut;              /* ended by max_tokens: finish_reason "length" */
    bool head_done;
    bool close; /* the head says Connection: close; set by the caller after sim_answer_init */
    uint32_t prefix_len;
    char prefix[SIM_MODEL_BYTES_MAX + 160]; /* of each event, up to the choice's index */
};

/*
 * Plans the answer to `ask`. `number` is the request's place in the order of arrival, from 1: it decides its faults;
 * `key` decides delays, length and text. `answer->profile`, `vocab` and `moment` have been set by the caller and
 * outlive it.
 */
void sim_answer_init(struct sim_answer *answer, const struct sim_ask *ask, int64_t number, uint64_t key);

/* True when the answer is an error (status fault): sim_answer_start gives all of it, no slot is needed. */
bool sim_answer_is_error(const struct sim_answer *answer);

/* What goes out when the request has been read: head and role of a stream, nothing for others, or the fault that comes
 * first. */
enum sim_answer_action sim_answer_start(struct sim_answer *answer, struct strbuf *out);

/* Work before the next step, ns, ≥ 0; `running` requests share the machine. */
int64_t sim_answer_delay_ns(struct sim_answer *answer, uint32_t running);

/* The next step: one chunk of every choice, with the end of the response when it is the last. */
enum sim_answer_action sim_answer_step(struct sim_answer *answer, struct strbuf *out);

#endif
