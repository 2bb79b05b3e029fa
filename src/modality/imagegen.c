/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/imagegen.h"

#include "base/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED_BYTES 24

/* One prompt's body; `seed_at` is where the digits of its seed go, 0 = none are made. */
struct imagegen_request {
    char *body;
    size_t len, seed_at;
    const char *id;
    int64_t words, seed_base;
    struct imagegen_wish wish;
};

struct imagegen {
    struct modality modality;
    struct arena arena;
    struct imagegen_request *requests; /* in shuffled order */
    size_t count;
    bool keep_errors;
};

struct imagegen_answer {
    int64_t seq;
    char seed[SEED_BYTES];
    char *text; /* the answer, malloc'ed; NULL = none */
    size_t len;
};

/* ---- bodies ---- */

struct maker {
    const struct imagegen_settings *settings;
    const struct json_value *extra; /* object or NULL */
    struct strbuf out;
    struct json_writer writer;
    size_t seed_at;
};

static as_status parse_extra(struct maker *maker, struct arena *arena, struct as_error *err)
{
    const char *text = maker->settings->extra_body;
    if (!text)
        return AS_OK;
    as_status status = json_parse(text, strlen(text), NULL, arena, &maker->extra, err);
    if (status != AS_OK) {
        error_prefix(err, "--extra-body");
        return status == AS_E_INVALID ? AS_E_USAGE : status;
    }
    int64_t n;
    const struct json_value *count = json_get(maker->extra, "n");
    if (maker->extra->type != JSON_OBJECT)
        return error_set(err, AS_E_USAGE, "--extra-body is a JSON %s: give an object",
                         json_type_name(maker->extra->type));
    if (json_get(maker->extra, "prompt"))
        return error_set(err, AS_E_USAGE, "--extra-body may not hold \"prompt\": use --prompt or --prompts");
    if (count && (!json_int64(count, &n) || n < 1 || n > IMAGEGEN_COUNT_MAX))
        return error_set(err, AS_E_USAGE, "--extra-body holds an \"n\" that is no whole number from 1 to %d",
                         IMAGEGEN_COUNT_MAX);
    return AS_OK;
}

static bool is_replaced(const struct maker *maker, const char *name)
{
    return maker->extra && json_get(maker->extra, name);
}

static void put_string(struct maker *maker, const char *name, const char *text)
{
    if (text && !is_replaced(maker, name))
        json_member_string(&maker->writer, name, text);
}

static void put_int(struct maker *maker, const char *name, int64_t value)
{
    if (!is_replaced(maker, name))
        json_member_int(&maker->writer, name, value);
}

/* A line's own seed is written; else its place is kept. */
static void put_seed(struct maker *maker, const struct imagegen_line *line)
{
    const struct imagegen_settings *settings = maker->settings;
    maker->seed_at = 0;
    if (is_replaced(maker, "seed") || (!line->has_seed && !settings->has_seed))
        return;
    json_key(&maker->writer, "seed");
    if (line->has_seed || settings->seed_mode != IMAGEGEN_SEED_INCREMENT) {
        json_put_int(&maker->writer, line->has_seed ? line->seed : settings->seed);
        return;
    }
    json_put_raw(&maker->writer, "", 0);
    maker->seed_at = maker->out.len;
}

/* The last member of each name: the one that json_get finds. */
static void put_extra(struct maker *maker)
{
    const struct json_value *member = maker->extra ? maker->extra->first : NULL;
    for (; member; member = member->next) {
        if (json_get(maker->extra, member->key) != member)
            continue;
        json_keyn(&maker->writer, member->key, member->key_len);
        json_put_value(&maker->writer, member);
    }
}

static as_status write_body(struct maker *maker, const struct prompt *prompt, const struct imagegen_line *line)
{
    const struct imagegen_settings *settings = maker->settings;
    struct json_writer *writer = &maker->writer;
    strbuf_reset(&maker->out);
    json_writer_init(writer, &maker->out, 0);
    json_open_object(writer);
    put_string(maker, "model", settings->model);
    json_key(writer, "prompt");
    json_put_stringn(writer, prompt->text, prompt->len);
    put_int(maker, "n", line->count ? line->count : settings->count);
    put_string(maker, "size", line->size ? line->size : settings->size);
    put_string(maker, "response_format", settings->format == IMAGEGEN_URL ? "url" : "b64_json");
    put_string(maker, "negative_prompt", line->negative_prompt ? line->negative_prompt : settings->negative_prompt);
    if (settings->steps > 0)
        put_int(maker, "num_inference_steps", settings->steps);
    if (!isnan(settings->guidance_scale) && !is_replaced(maker, "guidance_scale"))
        json_member_double(writer, "guidance_scale", settings->guidance_scale);
    put_seed(maker, line);
    put_extra(maker);
    json_close_object(writer);
    return json_writer_status(writer);
}

static struct imagegen_wish wish_of(const struct maker *maker, const struct imagegen_line *line)
{
    int64_t count = line->count ? line->count : maker->settings->count;
    const char *format = maker->settings->format == IMAGEGEN_URL ? "url" : "b64_json";
    if (is_replaced(maker, "n"))
        json_int64(json_get(maker->extra, "n"), &count); /* checked before */
    if (is_replaced(maker, "response_format") && !json_string(json_get(maker->extra, "response_format"), &format))
        format = "";
    return (struct imagegen_wish){(uint32_t)count, strcmp(format, "url") == 0};
}

static as_status make_one(struct maker *maker, const struct imagegen_prompts *prompts, size_t index,
                          struct imagegen *imagegen, struct imagegen_request *ret)
{
    const struct prompt *prompt = &prompts->prompts.items[index];
    const struct imagegen_settings *settings = maker->settings;
    struct imagegen_line line = prompts->lines[index];
    if (!line.has_seed && settings->has_seed && settings->seed_mode == IMAGEGEN_SEED_PROMPT) {
        line.has_seed = true;
        line.seed = (int64_t)((uint64_t)settings->seed + index);
    }
    as_status status = write_body(maker, prompt, &line);
    if (status != AS_OK)
        return status;
    *ret = (struct imagegen_request){
        .body = arena_strndup(&imagegen->arena, maker->out.data, maker->out.len),
        .len = maker->out.len,
        .seed_at = maker->seed_at,
        .id = arena_strdup(&imagegen->arena, prompt->id),
        .words = prompt->words,
        .seed_base = settings->seed,
        .wish = wish_of(maker, &line),
    };
    return ret->body && ret->id ? AS_OK : AS_E_NOMEM;
}

static as_status make_all(struct imagegen *imagegen, const struct imagegen_settings *settings,
                          const struct imagegen_prompts *prompts, struct as_error *err)
{
    struct maker maker = {.settings = settings};
    as_status status = parse_extra(&maker, &imagegen->arena, err);
    if (status != AS_OK)
        return status;
    imagegen->count = prompts->prompts.count;
    imagegen->requests = arena_calloc(&imagegen->arena, imagegen->count, sizeof *imagegen->requests);
    status = imagegen->requests ? AS_OK : AS_E_NOMEM;
    strbuf_init(&maker.out, 0);
    for (size_t i = 0; i < imagegen->count && status == AS_OK; i++)
        status =
            make_one(&maker, prompts, prompts_index(&prompts->prompts, (int64_t)i), imagegen, &imagegen->requests[i]);
    strbuf_done(&maker.out);
    return status == AS_OK
               ? AS_OK
               : error_set(err, status, "the request bodies could not be made: %s", status_sentence(status));
}

static const struct imagegen_request *request_of(const struct imagegen *imagegen, int64_t seq)
{
    return &imagegen->requests[(uint64_t)seq % imagegen->count];
}

struct imagegen_wish imagegen_wish_of(const struct imagegen *imagegen, int64_t seq)
{
    return request_of(imagegen, seq)->wish;
}

/* One part, or the seed between two; `seed` has SEED_BYTES. Returns the number of parts. */
static uint32_t body_parts(const struct imagegen_request *request, int64_t seq, char *seed, struct iovec parts[3])
{
    if (!request->seed_at) {
        parts[0] = (struct iovec){request->body, request->len};
        return 1;
    }
    int len = snprintf(seed, SEED_BYTES, "%" PRId64, (int64_t)((uint64_t)request->seed_base + (uint64_t)seq));
    parts[0] = (struct iovec){request->body, request->seed_at};
    parts[1] = (struct iovec){seed, (size_t)len};
    parts[2] = (struct iovec){request->body + request->seed_at, request->len - request->seed_at};
    return 3;
}

as_status imagegen_body(const struct imagegen *imagegen, int64_t seq, struct strbuf *out)
{
    char seed[SEED_BYTES];
    struct iovec parts[3];
    uint32_t count = body_parts(request_of(imagegen, seq), seq, seed, parts);
    for (uint32_t i = 0; i < count; i++)
        strbuf_add(out, parts[i].iov_base, parts[i].iov_len);
    return strbuf_status(out);
}

/* ---- the modality ---- */

static as_status build(void *context, void *memory, int64_t seq, struct payload *ret, struct as_error *err)
{
    const struct imagegen *imagegen = context;
    struct imagegen_answer *answer = memory;
    const struct imagegen_request *request = request_of(imagegen, seq);
    (void)err;
    answer->seq = seq;
    ret->path = "/images/generations";
    ret->content_type = "application/json";
    ret->accept = "application/json";
    ret->prompt_id = request->id;
    ret->prompt_words = request->words;
    ret->part_count = body_parts(request, seq, answer->seed, ret->parts);
    return AS_OK;
}

static void forget(struct imagegen_answer *answer)
{
    free(answer->text);
    answer->text = NULL;
    answer->len = 0;
}

static void begin(void *context, void *answer, const struct http_response_head *head, bool is_stream)
{
    (void)context;
    (void)head;
    (void)is_stream;
    forget(answer);
}

static bool event(void *context, void *answer, const struct sse_event *event, const struct arrival *arrival)
{
    (void)context;
    (void)answer;
    (void)event;
    (void)arrival;
    return false;
}

static void body(void *context, void *memory, const char *data, size_t len, const struct arrival *arrival)
{
    struct imagegen_answer *answer = memory;
    (void)context;
    (void)arrival;
    forget(answer);
    answer->text = malloc(len + 1);
    if (!answer->text)
        return;
    memcpy(answer->text, data, len);
    answer->text[len] = '\0';
    answer->len = len;
}

/* The answer goes with the record; a success without one (no memory, a stream) is judged like an empty one. */
static void end(void *context, void *memory, const struct answer_close *close, const struct sse_reader *sse,
                struct request_record *record)
{
    const struct imagegen *imagegen = context;
    struct imagegen_answer *answer = memory;
    (void)close;
    (void)sse;
    if (record->outcome != OUTCOME_OK && !imagegen->keep_errors)
        forget(answer);
    record->content = (struct record_text){answer->text, answer->len};
    answer->text = NULL;
    answer->len = 0;
}

static void answer_done(void *context, void *answer)
{
    (void)context;
    forget(answer);
}

as_status imagegen_new(const struct imagegen_settings *settings, const struct imagegen_prompts *prompts,
                       struct imagegen **ret, struct as_error *err)
{
    if (!settings->model || !settings->model[0])
        return error_set(err, AS_E_USAGE, "no model is named: give --model NAME");
    struct imagegen *imagegen = calloc(1, sizeof *imagegen);
    if (!imagegen)
        return error_set(err, AS_E_NOMEM, "no memory for the requests");
    arena_init(&imagegen->arena, 0, 0);
    imagegen->keep_errors = settings->keep_errors;
    imagegen->modality = (struct modality){
        .tool = "imagegen",
        .answer_bytes = sizeof(struct imagegen_answer),
        .max_body_bytes = settings->max_answer_bytes ? settings->max_answer_bytes : IMAGEGEN_ANSWER_BYTES_DEFAULT,
        .build = build,
        .begin = begin,
        .event = event,
        .body = body,
        .end = end,
        .answer_done = answer_done,
    };
    as_status status = make_all(imagegen, settings, prompts, err);
    if (status != AS_OK) {
        imagegen_free(imagegen);
        return status;
    }
    *ret = imagegen;
    return AS_OK;
}

void imagegen_free(struct imagegen *imagegen)
{
    if (!imagegen)
        return;
    arena_done(&imagegen->arena);
    free(imagegen);
}

const struct modality *imagegen_modality(const struct imagegen *imagegen)
{
    return &imagegen->modality;
}
