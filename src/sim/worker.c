/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/worker.h"

#include "sim/render.h"
#include "sim/stream.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define BODY_BYTES_MAX ((size_t)256 << 20)

struct route {
    const char *path;
    enum http_method method;
    bool needs_key;
    void (*serve)(struct sim_worker *worker, struct http_exchange *x);
};

static void answer(struct http_exchange *x, int status, const char *content_type, const struct strbuf *body)
{
    const struct http_answer head = {.status = status, .content_type = content_type};
    as_status result = strbuf_status(body);
    if (result == AS_OK)
        result = http_answer(x, &head, strbuf_text(body), body->len);
    if (result != AS_OK && !x->is_aborted)
        http_drop(x, true);
}

static void answer_error(struct sim_worker *worker, struct http_exchange *x, int status, const char *message)
{
    struct strbuf body AS_AUTO_STRBUF;
    strbuf_init(&body, 0);
    sim_render_error(&body, status, message);
    sim_metrics_add(&worker->metrics.http_errors, 1);
    answer(x, status, "application/json", &body);
}

static void generate(struct sim_worker *worker, struct http_exchange *x, bool is_chat)
{
    const struct sim_profile *profile = &worker->shared->profile;
    struct sim_ask ask;
    struct as_error err;
    as_status status = is_chat ? sim_ask_read_chat(x->body, x->body_len, profile->image_check, &ask, &err)
                               : sim_ask_read(x->body, x->body_len, false, &ask, &err);
    if (status != AS_OK)
        answer_error(worker, x, 400, err.message);
    else if (profile->strict_model && ask.model.at && !json_raw_equals(&ask.model, profile->model))
        answer_error(worker, x, 404, "the model does not exist");
    else if (ask.stream && x->request->minor == 0)
        answer_error(worker, x, 400, "a stream needs HTTP/1.1");
    else
        sim_stream_begin(worker, x, &ask);
}

static void serve_chat(struct sim_worker *worker, struct http_exchange *x)
{
    generate(worker, x, true);
}

static void serve_completions(struct sim_worker *worker, struct http_exchange *x)
{
    generate(worker, x, false);
}

static void serve_transcription(struct sim_worker *worker, struct http_exchange *x)
{
    const struct sim_profile *profile = &worker->shared->profile;
    struct http_text body = {x->body, x->body_len};
    struct sim_ask ask;
    struct as_error err;
    as_status status =
        sim_audio_read(http_request_field(x->request, "content-type"), body, &profile->transcripts, &ask, &err);
    if (status != AS_OK)
        answer_error(worker, x, status == AS_E_UNSUPPORTED ? 415 : 400, err.message);
    else if (profile->strict_model && !json_raw_equals(&ask.model, profile->model))
        answer_error(worker, x, 404, "the model does not exist");
    else if (ask.stream && x->request->minor == 0)
        answer_error(worker, x, 400, "a stream needs HTTP/1.1");
    else
        sim_stream_begin(worker, x, &ask);
}

static void serve_images(struct sim_worker *worker, struct http_exchange *x)
{
    const struct sim_profile *profile = &worker->shared->profile;
    struct sim_ask ask;
    struct as_error err;
    if (sim_images_read(x->body, x->body_len, &ask, &err) != AS_OK)
        answer_error(worker, x, 400, err.message);
    else if (profile->strict_model && ask.model.at && !json_raw_equals(&ask.model, profile->model))
        answer_error(worker, x, 404, "the model does not exist");
    else
        sim_stream_begin(worker, x, &ask);
}

static void serve_models(struct sim_worker *worker, struct http_exchange *x)
{
    struct strbuf body AS_AUTO_STRBUF;
    strbuf_init(&body, 0);
    strbuf_addf(&body,
                "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\",\"created\":1700000000,\"owned_"
                "by\":\"assay\"}]}",
                worker->shared->profile.model);
    answer(x, 200, "application/json", &body);
}

static void serve_health(struct sim_worker *worker, struct http_exchange *x)
{
    (void)worker;
    const struct strbuf nothing = {0};
    answer(x, 200, NULL, &nothing);
}

static void serve_metrics(struct sim_worker *worker, struct http_exchange *x)
{
    const struct sim_shared *shared = worker->shared;
    const struct sim_metrics **all = calloc(shared->worker_count, sizeof(*all));
    struct strbuf body AS_AUTO_STRBUF;
    strbuf_init(&body, 0);
    if (!all) {
        http_drop(x, true);
        return;
    }
    for (uint32_t i = 0; i < shared->worker_count; i++)
        all[i] = &shared->workers[i]->metrics;
    sim_metrics_render(all, shared->worker_count, shared->profile.model, shared->profile.slots, &body);
    free((void *)all);
    answer(x, 200, "text/plain; version=0.0.4; charset=utf-8", &body);
}

static const struct route routes[] = {
    {"/v1/chat/completions", HTTP_POST, true, serve_chat}, {"/v1/completions", HTTP_POST, true, serve_completions},
    {"/v1/audio/transcriptions", HTTP_POST, true, serve_transcription},
    {"/v1/images/generations", HTTP_POST, true, serve_images},
    {"/v1/models", HTTP_GET, true, serve_models},          {"/health", HTTP_GET, false, serve_health},
    {"/metrics", HTTP_GET, false, serve_metrics},
};

static bool text_is(struct http_text text, const char *other)
{
    return text.len == strlen(other) && memcmp(text.at, other, text.len) == 0;
}

static bool has_key(const struct sim_worker *worker, const struct http_request *request)
{
    const char *key = worker->shared->api_key;
    struct http_text field = http_request_field(request, "authorization");
    const size_t scheme = sizeof("Bearer ") - 1;
    if (!key)
        return true;
    return field.len > scheme && memcmp(field.at, "Bearer ", scheme) == 0 &&
           text_is((struct http_text){field.at + scheme, field.len - scheme}, key);
}

static void on_request(void *context, struct http_exchange *x)
{
    (void)context;
    struct sim_worker *worker = http_loop_user(x->loop);
    const struct route *route = NULL;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]) && !route; i++)
        if (text_is(x->request->path, routes[i].path))
            route = &routes[i];
    bool method_fits = route && (x->request->method == route->method ||
                                 (route->method == HTTP_GET && x->request->method == HTTP_HEAD_METHOD));
    if (!route)
        answer_error(worker, x, 404, "no such path");
    else if (!method_fits)
        answer_error(worker, x, 405, "not by this method");
    else if (route->needs_key && !has_key(worker, x->request))
        answer_error(worker, x, 401, "the API key is missing or wrong");
    else
        route->serve(worker, x);
}

static void on_writable(void *context, struct http_exchange *x)
{
    (void)context;
    if (x->user)
        sim_stream_writable(x->user);
}

static void on_abort(void *context, struct http_exchange *x)
{
    (void)context;
    if (x->user)
        sim_stream_abort(x->user);
}

static void on_done(void *context, struct http_exchange *x)
{
    (void)context;
    if (x->user)
        sim_stream_done(x->user);
    x->user = NULL;
}

static void on_head(void *context, struct http_exchange *x)
{
    (void)context;
    x->max_body_bytes = BODY_BYTES_MAX;
}

static void pin(uint32_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set); /* sim_new has checked that the CPU may be used */
}

static void on_loop(void *context, struct http_loop *loop, bool begins)
{
    struct sim_shared *shared = context;
    uint32_t index = http_loop_index(loop);
    if (!begins)
        return;
    shared->workers[index]->loop = loop;
    http_loop_set_user(loop, shared->workers[index]);
    if (shared->first_cpu >= 0)
        pin((uint32_t)shared->first_cpu + index);
}

const struct http_handler sim_handler = {
    .on_loop = on_loop,
    .on_head = on_head,
    .on_request = on_request,
    .on_writable = on_writable,
    .on_abort = on_abort,
    .on_done = on_done,
};

as_status sim_worker_new(struct sim_shared *shared, uint32_t index, struct sim_worker **ret)
{
    struct sim_worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return AS_E_NOMEM;
    worker->shared = shared;
    worker->index = index;
    worker->batch = (struct sim_batch){.slots = shared->profile.slots, .queue_limit = shared->profile.queue_limit};
    strbuf_init(&worker->out, 0);
    *ret = worker;
    return AS_OK;
}

void sim_worker_free(struct sim_worker *worker)
{
    if (!worker)
        return;
    sim_stream_free_list(worker->free_list);
    strbuf_done(&worker->out);
    free(worker);
}
