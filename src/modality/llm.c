/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/llm.h"
#include "modality/llm_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct llm {
    struct arena arena;
    struct llm_request *requests; /* one a prompt, in shuffled order */
    size_t count;
    struct chat_wish wish;
    enum llm_api api;
    bool streaming, unique_prompts;
    char run_id[LLM_RUN_ID_MAX_BYTES + 1];
    uint64_t run_seed;
};

static as_status check_run_id(const struct llm_config *config, struct as_error *err)
{
    const char *id = config->run_id ? config->run_id : "";
    if (strlen(id) > LLM_RUN_ID_MAX_BYTES)
        return error_set(err, AS_E_USAGE, "the run id is longer than %d bytes: give a shorter one",
                         LLM_RUN_ID_MAX_BYTES);
    for (const char *at = id; *at; at++)
        if (*at < 0x20 || *at > 0x7E || *at == '"' || *at == '\\')
            return error_set(err, AS_E_USAGE,
                             "the run id holds a quote, a backslash or a character that is not printable ASCII");
    return AS_OK;
}

static as_status check(const struct llm_config *config, const struct prompts *prompts, struct as_error *err)
{
    if (!config->model || !config->model[0])
        return error_set(err, AS_E_USAGE, "no model is named: give --model NAME");
    if (config->choices > CHAT_CHOICES_MAX)
        return error_set(err, AS_E_USAGE, "%u choices a request are asked for: at most %d are possible",
                         config->choices, CHAT_CHOICES_MAX);
    if (prompts->count == 0)
        return error_set(err, AS_E_USAGE, "there are no prompts");
    return check_run_id(config, err);
}

static void take_config(struct llm *llm, const struct llm_config *config)
{
    llm->api = config->api;
    llm->streaming = config->streaming;
    llm->unique_prompts = config->unique_prompts;
    llm->run_seed = config->run_seed;
    snprintf(llm->run_id, sizeof llm->run_id, "%s", config->run_id ? config->run_id : "");
    llm->wish = (struct chat_wish){
        .save_texts = config->save_content,
        .save_limit_bytes = config->save_limit_bytes,
        .secrets = config->secrets,
    };
}

as_status llm_new(const struct llm_config *config, const struct prompts *prompts, struct llm **ret,
                  struct as_error *err)
{
    as_status status = check(config, prompts, err);
    if (status != AS_OK)
        return status;
    struct llm *llm = calloc(1, sizeof *llm);
    if (!llm)
        return error_set(err, AS_E_NOMEM, "no memory for the requests");
    arena_init(&llm->arena, 0, LLM_BODIES_MAX_BYTES);
    take_config(llm, config);
    struct llm_requests requests;
    status = llm_requests_make(config, prompts, &llm->arena, &requests, err);
    if (status != AS_OK) {
        llm_free(llm);
        return status;
    }
    llm->requests = requests.items;
    llm->wish.choices = requests.choices;
    llm->count = prompts->count;
    *ret = llm;
    return AS_OK;
}

void llm_free(struct llm *llm)
{
    if (!llm)
        return;
    arena_done(&llm->arena);
    free(llm);
}

/* The request's body: one part, or the nonce between two. */
static void body_parts(const struct llm *llm, const struct llm_request *request, int64_t seq, char *nonce,
                       struct payload *ret)
{
    char *body = request->body;
    if (!llm->unique_prompts) {
        ret->parts[0] = (struct iovec){body, request->len};
        ret->part_count = 1;
        return;
    }
    int len = snprintf(nonce, LLM_NONCE_BYTES, "[%s/%" PRIu64 "/%" PRId64 "] ", llm->run_id, llm->run_seed, seq);
    ret->parts[0] = (struct iovec){body, request->text_at};
    ret->parts[1] = (struct iovec){nonce, (size_t)len};
    ret->parts[2] = (struct iovec){body + request->text_at, request->len - request->text_at};
    ret->part_count = 3;
}

static as_status build(void *context, void *answer_memory, int64_t seq, struct payload *ret, struct as_error *err)
{
    const struct llm *llm = context;
    struct llm_answer *answer = answer_memory;
    (void)err;
    const struct llm_request *request = &llm->requests[(uint64_t)seq % llm->count];
    ret->path = llm->api == LLM_CHAT ? "/chat/completions" : "/completions";
    ret->content_type = "application/json";
    ret->accept = llm->streaming ? "text/event-stream" : "application/json";
    ret->expects_stream = llm->streaming;
    ret->prompt_id = request->id;
    ret->prompt_words = request->words;
    ret->max_tokens = request->max_tokens;
    body_parts(llm, request, seq, answer->nonce, ret);
    chat_answer_prepare(&answer->chat, llm->streaming, request->words, request->max_tokens);
    return AS_OK;
}

static void begin(void *context, void *answer, const struct http_response_head *head, bool is_stream)
{
    const struct llm *llm = context;
    chat_answer_begin(&llm->wish, &((struct llm_answer *)answer)->chat, head, is_stream);
}

static bool event(void *context, void *answer, const struct sse_event *sse_event, const struct arrival *arrival)
{
    const struct llm *llm = context;
    return chat_answer_event(&llm->wish, &((struct llm_answer *)answer)->chat, sse_event, arrival);
}

static void body(void *context, void *answer, const char *data, size_t len, const struct arrival *arrival)
{
    const struct llm *llm = context;
    chat_answer_body(&llm->wish, &((struct llm_answer *)answer)->chat, data, len, arrival);
}

static void read_end(void *context, void *answer, bool last_is_exact)
{
    (void)context;
    chat_answer_read_end(&((struct llm_answer *)answer)->chat, last_is_exact);
}

static void end(void *context, void *answer, const struct answer_close *close, const struct sse_reader *sse,
                struct request_record *record)
{
    const struct llm *llm = context;
    chat_answer_end(&llm->wish, &((struct llm_answer *)answer)->chat, close, sse, record);
}

static void answer_done(void *context, void *answer)
{
    (void)context;
    chat_answer_done(&((struct llm_answer *)answer)->chat);
}

const struct modality *llm_modality(void)
{
    static const struct modality modality = {
        .tool = "llm",
        .answer_bytes = sizeof(struct llm_answer),
        .max_body_bytes = LLM_ANSWER_MAX_BYTES,
        .build = build,
        .begin = begin,
        .event = event,
        .body = body,
        .read_end = read_end,
        .end = end,
        .answer_done = answer_done,
    };
    return &modality;
}

const struct llm_request *llm_request_of(const struct llm *llm, int64_t seq)
{
    return &llm->requests[(uint64_t)seq % llm->count];
}

as_status llm_body(const struct llm *llm, int64_t seq, struct strbuf *out)
{
    char nonce[LLM_NONCE_BYTES];
    struct payload payload;
    body_parts(llm, &llm->requests[(uint64_t)seq % llm->count], seq, nonce, &payload);
    for (uint32_t i = 0; i < payload.part_count; i++)
        strbuf_add(out, payload.parts[i].iov_base, payload.parts[i].iov_len);
    return strbuf_status(out);
}
