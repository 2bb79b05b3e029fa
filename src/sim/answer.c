/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/answer.h"

#include "sim/render.h"

#include <math.h>

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Length as a server decides it: the model's own end, moved by min_tokens and ignore_eos, cut by max_tokens. */
static void plan_length(struct sim_answer *answer)
{
    const struct sim_profile *profile = answer->profile;
    const struct sim_ask *ask = &answer->ask;
    answer->is_cut = false;
    if (ask->is_images) {
        answer->reasoning_tokens = answer->tokens = 0;
        return;
    }
    if (ask->is_audio) {
        answer->reasoning_tokens = 0;
        answer->tokens = clamp(ask->audio.words, 0, SIM_TOKENS_MAX);
        return;
    }
    int64_t content = clamp(sim_dist_sample(&profile->tokens, &answer->rng), 0, SIM_TOKENS_MAX);
    int64_t reasoning = ask->is_chat ? profile->reasoning_tokens : 0;
    int64_t total = content + reasoning;
    int64_t limit = profile->ignore_max_tokens || ask->max_tokens < 0 ? INT64_MAX : ask->max_tokens;
    if (total < ask->min_tokens)
        total = clamp(ask->min_tokens, 0, SIM_TOKENS_MAX);
    if (ask->ignore_eos && limit != INT64_MAX)
        total = clamp(limit, 0, SIM_TOKENS_MAX);
    answer->is_cut = total > limit || (ask->ignore_eos && limit != INT64_MAX);
    if (total > limit)
        total = limit;
    answer->reasoning_tokens = reasoning < total ? reasoning : total;
    answer->tokens = total - answer->reasoning_tokens;
}

void sim_answer_init(struct sim_answer *answer, const struct sim_ask *ask, int64_t number, uint64_t key)
{
    const struct sim_profile *profile = answer->profile;
    answer->fault = sim_fault_choose(profile->faults, profile->fault_count, profile->seed, number);
    answer->ask = *ask;
    answer->ask.model = (struct json_raw){0};
    answer->key = key;
    answer->vocab_start = rng_mix(profile->seed, key);
    answer->tokens_done = answer->chunks = answer->reasoning_chunks = 0;
    answer->head_done = answer->close = false;
    answer->prompt_tokens = llround((double)ask->prompt_words * profile->tokens_per_word) + ask->prompt_ids +
                            ask->images * profile->image_tokens;
    if (answer->fault && !ask->stream && sim_fault_needs_stream(answer->fault->kind))
        answer->fault = NULL;
    if (answer->fault && !ask->is_images && sim_fault_needs_images(answer->fault->kind))
        answer->fault = NULL;
    rng_init(&answer->rng, profile->seed, key);
    plan_length(answer);
    sim_render_prefix(answer);
}

bool sim_answer_is_error(const struct sim_answer *answer)
{
    return answer->fault && (answer->fault->kind == SIM_FAULT_STATUS || answer->fault->kind == SIM_FAULT_OOM ||
                             answer->fault->kind == SIM_FAULT_HTML);
}

/* The fault whose turn it is after `chunks` chunks, NULL = none. */
static const struct sim_fault *due_fault(const struct sim_answer *answer)
{
    const struct sim_fault *fault = answer->fault;
    if (!fault)
        return NULL;
    switch (fault->kind) {
    case SIM_FAULT_RESET:
    case SIM_FAULT_CLOSE:
    case SIM_FAULT_TRUNCATE:
    case SIM_FAULT_STALL:
    case SIM_FAULT_STREAM_ERROR:
    case SIM_FAULT_UNFINISHED:
        return fault->argument == answer->chunks ? fault : NULL;
    default:
        return NULL;
    }
}

static enum sim_answer_action fault_action(enum sim_fault_kind kind)
{
    if (kind == SIM_FAULT_RESET)
        return SIM_ANSWER_RESET;
    return kind == SIM_FAULT_STALL ? SIM_ANSWER_STALL : SIM_ANSWER_CLOSE;
}

static void put_head(struct sim_answer *answer, struct strbuf *out)
{
    answer->head_done = true;
    sim_render_stream_head(answer, out);
    if (answer->ask.is_chat)
        sim_render_roles(answer, out);
}

enum sim_answer_action sim_answer_start(struct sim_answer *answer, struct strbuf *out)
{
    const struct sim_fault *fault = due_fault(answer);
    if (sim_answer_is_error(answer)) {
        sim_render_status_fault(answer, out);
        return SIM_ANSWER_END;
    }
    if (fault && (fault->kind == SIM_FAULT_RESET || fault->kind == SIM_FAULT_CLOSE || fault->kind == SIM_FAULT_STALL))
        return fault_action(fault->kind);
    bool late = answer->profile->late_head || (answer->fault && answer->fault->kind == SIM_FAULT_SLOW_HEADERS);
    if (answer->ask.stream && !late)
        put_head(answer, out);
    return SIM_ANSWER_GO_ON;
}

static int64_t step_ns(struct sim_answer *answer, uint32_t running)
{
    int64_t ns = sim_dist_sample(&answer->profile->itl, &answer->rng);
    return running > 1 ? ns + (int64_t)(running - 1) * answer->profile->itl_per_running_ns : ns;
}

/* Tokens of the next step: one kind of token, one tool call. */
static int64_t next_count(struct sim_answer *answer)
{
    int64_t count =
        clamp(sim_dist_sample(&answer->profile->tokens_per_chunk, &answer->rng), 1, SIM_TOKENS_PER_CHUNK_MAX);
    int64_t content = answer->tokens_done - answer->reasoning_tokens;
    if (content < 0)
        return count < -content ? count : -content;
    int64_t left = answer->tokens - content;
    if (answer->profile->tool_calls > 0 && !answer->ask.is_audio) {
        int64_t per_call = (answer->tokens + answer->profile->tool_calls - 1) / answer->profile->tool_calls;
        int64_t in_call = per_call > 0 ? per_call - content % per_call : left;
        left = in_call < left ? in_call : left;
    }
    return count < left ? count : left;
}

static bool is_finished(const struct sim_answer *answer)
{
    return answer->tokens_done >= answer->reasoning_tokens + answer->tokens;
}

int64_t sim_answer_delay_ns(struct sim_answer *answer, uint32_t running)
{
    if (answer->chunks > 0)
        return step_ns(answer, running);
    int64_t ns = sim_dist_sample(&answer->profile->ttft, &answer->rng) +
                 answer->prompt_tokens * answer->profile->ttft_per_token_ns;
    if (answer->fault && answer->fault->kind == SIM_FAULT_SLOW_HEADERS)
        ns += answer->fault->argument;
    if (answer->ask.is_images) {
        for (int64_t i = 0; i < answer->ask.images_asked.count; i++)
            ns += sim_dist_sample(&answer->profile->image_delay, &answer->rng);
        return ns;
    }
    if (answer->ask.is_audio) {
        answer->work_ns = ns += llround((double)answer->ask.audio.duration_ns * answer->profile->audio_rtf);
        return ns;
    }
    if (answer->ask.stream)
        return ns;
    /* Without a stream all steps are one delay. The count of a step is drawn before the delay, as in a stream. */
    int64_t total = answer->reasoning_tokens + answer->tokens;
    for (answer->tokens_done = 0; answer->tokens_done < total;) {
        if (answer->tokens_done > 0)
            ns += step_ns(answer, running);
        answer->tokens_done += next_count(answer);
    }
    return ns;
}

static enum sim_answer_action step_body(struct sim_answer *answer, struct strbuf *out)
{
    size_t before = out->len;
    answer->chunks = 1;
    sim_render_body(answer, out);
    if (!answer->fault || answer->fault->kind == SIM_FAULT_SLOW_HEADERS ||
        answer->fault->kind == SIM_FAULT_NO_LAST_CHUNK || sim_fault_needs_images(answer->fault->kind))
        return SIM_ANSWER_END;
    out->len -= (out->len - before) / 2; /* head and about half of the body, then the fault */
    return fault_action(answer->fault->kind);
}

static void put_tokens(const struct sim_answer *answer, int64_t count, struct strbuf *out)
{
    if (answer->tokens_done < answer->reasoning_tokens)
        sim_render_reasoning(answer, answer->tokens_done, count, out);
    else
        sim_render_content(answer, answer->tokens_done - answer->reasoning_tokens, count, out);
}

static enum sim_answer_action step_fault(struct sim_answer *answer, const struct sim_fault *fault, struct strbuf *out)
{
    if (fault->kind == SIM_FAULT_STREAM_ERROR) {
        sim_render_stream_error(out);
        return SIM_ANSWER_END;
    }
    if (fault->kind == SIM_FAULT_UNFINISHED) {
        sim_render_last_chunk(out);
        return SIM_ANSWER_END;
    }
    if (fault->kind == SIM_FAULT_TRUNCATE && !is_finished(answer)) {
        size_t before = out->len;
        put_tokens(answer, next_count(answer), out);
        out->len -= (out->len - before) / 2;
    }
    return fault_action(fault->kind);
}

static void put_chunk(struct sim_answer *answer, struct strbuf *out)
{
    int64_t count = next_count(answer);
    put_tokens(answer, count, out);
    answer->reasoning_chunks += answer->tokens_done < answer->reasoning_tokens;
    answer->tokens_done += count;
    answer->chunks++;
}

enum sim_answer_action sim_answer_step(struct sim_answer *answer, struct strbuf *out)
{
    if (!answer->ask.stream)
        return step_body(answer, out);
    if (!answer->head_done)
        put_head(answer, out);
    const struct sim_fault *fault = due_fault(answer);
    if (fault)
        return step_fault(answer, fault, out);
    if (answer->fault && answer->fault->kind == SIM_FAULT_BAD_EVENT && answer->fault->argument == answer->chunks)
        sim_render_bad_event(out);
    if (!is_finished(answer))
        put_chunk(answer, out);
    if (!is_finished(answer) || due_fault(answer))
        return SIM_ANSWER_GO_ON;
    sim_render_stream_end(answer, out);
    return answer->fault && answer->fault->kind == SIM_FAULT_NO_LAST_CHUNK ? SIM_ANSWER_CLOSE : SIM_ANSWER_END;
}
