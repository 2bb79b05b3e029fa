/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/log.h"
#include "modality/vlm.h"

#define BAD_IMAGES_SHOWN 10

struct vlm_source {
    struct image_prompts prompts;
    struct images_state images;
    struct vlm_text_probe probe;
    struct vlm_order {
        const struct image_prompts *prompts;
        int64_t shard, shard_count;
    } order;
};

/* The choices of --image-format; the first one keeps each image's own. */
static const enum image_format FORMATS[] = {IMAGE_UNKNOWN, IMAGE_PNG, IMAGE_JPEG, IMAGE_WEBP};

/* An image may be encoded anew in a format that has a quality. */
static bool is_lossy(const struct image_config *image)
{
    enum image_format format = FORMATS[image->format];
    return format == IMAGE_UNKNOWN ? image->max_dimension != OPT_ABSENT : format != IMAGE_PNG;
}

static as_status resolve(struct resolving *what, struct as_error *err)
{
    if (!what->config->prompt.source)
        return error_set(err, AS_E_USAGE, "no prompts: give --prompts FILE (JSONL, `prompt` and `image_urls` a line)");
    what->shape->modes |= RUN_API_CHAT;
    what->shape->modes |= what->config->request.streaming ? RUN_STREAM : RUN_WHOLE;
    what->shape->modes |= is_lossy(&what->config->image) ? RUN_LOSSY_IMAGES : RUN_PLAIN_IMAGES;
    return AS_OK;
}

/* ---- prompts and images ---- */

static int64_t zero_if_absent(int64_t value)
{
    return value == OPT_ABSENT ? 0 : value;
}

static struct image_prompts_options options_of(const struct run *run)
{
    const struct image_config *image = &run->config.image;
    const struct endpoint_config *endpoint = &run->config.endpoint;
    return (struct image_prompts_options){
        .source = run->config.prompt.source,
        .batch = (uint32_t)zero_if_absent(image->batch),
        .prompts =
            {
                .skip_bad_lines = run->config.prompt.skip_bad_lines,
                .ca_cert = endpoint->ca_cert,
                .proxy = endpoint->proxy,
                .insecure = endpoint->insecure,
            },
        .images =
            {
                .by_url = image->by_url,
                .max_dimension = (uint32_t)zero_if_absent(image->max_dimension),
                .format = FORMATS[image->format],
                .quality = (int)image->quality,
                .skip_decoding = !image->decode,
                .max_pixels = (uint64_t)image->max_pixels,
                .max_bytes = (size_t)image->max_bytes,
                .cache_bytes = (size_t)image->cache_bytes,
                .threads = (uint32_t)zero_if_absent(image->threads),
                .ca_cert = endpoint->ca_cert,
                .proxy = endpoint->proxy,
                .insecure = endpoint->insecure,
            },
    };
}

static uint32_t images_of_place(const void *context, int64_t place, uint32_t *ret_images)
{
    const struct vlm_order *order = context;
    return image_prompts_of(order->prompts, place * order->shard_count + order->shard, ret_images);
}

static void show_progress(const struct images_state *state)
{
    log_info("preparing images: %zu of %zu (%zu MiB)", state->done, state->wanted, state->bytes >> 20);
}

/* The first few; each refused request names its own. */
static void warn_of_images(const struct images *images, const struct images_state *state)
{
    size_t shown = 0;
    log_warning("%zu of %zu images cannot be used, requests with them are refused:", state->bad, state->wanted);
    for (uint32_t i = 0; i < images_count(images) && shown < BAD_IMAGES_SHOWN; i++) {
        const struct image_payload *payload = images_get(images, i);
        if (!payload || payload->text)
            continue;
        log_warning("  %.200s: %.300s", images_shown(images, i), payload->error);
        shown++;
    }
    if (shown < state->bad)
        log_warning("  and %zu more", state->bad - shown);
}

static as_status prepare(struct run *run, struct vlm_source *source, struct as_error *err)
{
    const struct prompts *prompts = &source->prompts.prompts;
    source->order = (struct vlm_order){&source->prompts, run->shape.shard, run->shape.shard_count};
    int64_t cycle = (int64_t)prompts->count, planned = run->plan.planned_requests;
    const struct images_plan plan = {&source->order, images_of_place,
                                     planned >= 0 && planned < cycle ? planned : cycle};
    struct mono start = mono_now();
    bool is_quiet = run->config.result.quiet;
    as_status status =
        images_prepare(source->prompts.images, &plan, is_quiet ? NULL : show_progress, &source->images, err);
    if (status != AS_OK)
        return status;
    const struct images_state *state = &source->images;
    if (!is_quiet)
        log_info("prepared %zu images in %.2f s, %.1f MiB to send", state->done,
                 (double)mono_diff_ns(mono_now(), start) / 1e9, (double)state->bytes / 1048576.0);
    if (state->bad)
        warn_of_images(source->prompts.images, state);
    if (!state->is_resident)
        log_warning("%zu of %zu images fit into --image-cache-size; the others are prepared while the run goes on, on "
                    "the same processors",
                    state->done, state->wanted);
    return AS_OK;
}

static void warn_of_prompts(const struct run *run, const struct prompts *prompts)
{
    int64_t reuse =
        run->plan.engine.request_count == INT64_MAX ? 0 : prompts_reuse(prompts, run->plan.engine.request_count);
    if (prompts->bad_lines)
        log_warning("%lld bad lines of the prompts were skipped; the first: %s", (long long)prompts->bad_lines,
                    prompts->first_bad.message);
    if (prompts->unknown_member[0])
        log_warning("the prompts have members without a meaning here, for example \"%s\"", prompts->unknown_member);
    if (reuse > 1 && !run->config.result.quiet)
        log_info("prompts and images are used up to %lld times: caches of the server may help", (long long)reuse);
}

static struct vlm_config vlm_config_of(const struct run *run);

static uint32_t no_image(const void *context, int64_t seq)
{
    (void)context;
    (void)seq;
    return 0;
}

/* A shorter run is not asked about: one more request would be no small part of it. */
#define PROBE_REQUESTS_MIN 10

/* The text of the first measured request, asked for without its images. A server that does not answer is no reason to stop. */
static void ask_text_tokens(struct run *run, struct vlm_source *source)
{
    const struct source_context context = {&run->config, &run->parsed, &run->shape, &run->targets};
    const struct prompts *prompts = &source->prompts.prompts;
    const struct llm_images none = {NULL, no_image, NULL};
    struct llm_config config = vlm_config_of(run).llm;
    struct as_error err = {.message = ""};
    int64_t shard = run->shape.shard, count = run->shape.shard_count, warmup = run->plan.engine.warmup_count;
    source->probe = (struct vlm_text_probe){shard, -1};
    if (warmup > shard)
        source->probe.seq += (warmup - shard + count - 1) / count * count;
    if (!run->config.image.text_probe || !config.model || run->plan.engine.request_count < PROBE_REQUESTS_MIN)
        return;
    config.images = &none;
    const struct source_text text = {prompts->items[prompts_index(prompts, source->probe.seq)].text, source->probe.seq,
                                     "the tokens of a prompt without its images (--no-text-probe does not ask)"};
    if (source_count_tokens(&context, &config, &text, &source->probe.prompt_tokens, &err) != AS_OK)
        log_warning("%s", err.message);
}

static as_status load(struct run *run, struct as_error *err)
{
    struct image_prompts_options options = options_of(run);
    struct vlm_source *source = arena_calloc(&run->arena, 1, sizeof *source);
    if (!source)
        return error_set(err, AS_E_NOMEM, "out of memory");
    as_status status = image_prompts_load(&options, &source->prompts, err);
    if (status != AS_OK)
        return status;
    run->loaded = source;
    if (prompts_shuffle(&source->prompts.prompts, (uint64_t)run->config.load.seed) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    if (run->config.result.dry_run)
        return AS_OK;
    warn_of_prompts(run, &source->prompts.prompts);
    status = prepare(run, source, err);
    if (status == AS_OK)
        ask_text_tokens(run, source);
    return status;
}

static void unload(struct run *run)
{
    struct vlm_source *source = run->loaded;
    image_prompts_done(&source->prompts);
}

/* ---- what is told of it ---- */

static struct vlm_config vlm_config_of(const struct run *run)
{
    static const char *const details[] = {NULL, "low", "high"};
    struct vlm_source *source = run->loaded;
    struct vlm_config config = {
        .llm = source_llm_config(&run->config, &run->targets),
        .detail = details[run->config.image.detail],
        .prompts = source ? &source->prompts : NULL,
        .shard = run->shape.shard,
        .shard_count = run->shape.shard_count,
    };
    if (source)
        config.probe = source->probe;
    config.llm.run_id = run->identity.uuid;
    return config;
}

static void put_images(const struct images_state *state, struct json_writer *writer)
{
    json_key(writer, "images");
    json_open_object(writer);
    json_member_int(writer, "distinct", (int64_t)state->wanted);
    json_member_int(writer, "prepared", (int64_t)state->done);
    json_member_int(writer, "bad", (int64_t)state->bad);
    json_member_string(writer, "first_bad", state->first_bad);
    json_member_int(writer, "text_bytes", (int64_t)state->bytes);
    json_member_bool(writer, "all_kept", state->is_resident);
    json_close_object(writer);
}

static void put_source(const struct vlm_source *source, struct json_writer *writer)
{
    const struct prompts *prompts = &source->prompts.prompts;
    json_open_object(writer);
    json_member_int(writer, "count", (int64_t)prompts->count);
    json_member_string(writer, "sha256", prompts->digest);
    json_member_int(writer, "lines", prompts->lines);
    json_member_int(writer, "bad_lines", prompts->bad_lines);
    json_member_string(writer, "first_bad_line", prompts->bad_lines ? prompts->first_bad.message : NULL);
    json_member_int(writer, "with_expected_output_tokens", prompts->with_expected_tokens);
    json_key(writer, "text_prompt_tokens");
    if (source->probe.prompt_tokens >= 0)
        json_put_int(writer, source->probe.prompt_tokens);
    else
        json_put_null(writer);
    put_images(&source->images, writer);
    json_close_object(writer);
}

static uint32_t one_image(const void *context, int64_t seq)
{
    (void)context;
    (void)seq;
    return 1;
}

/* The body with "{prompt}" for the prompt and an empty URL for one image; null when there is no model yet. */
static void put_template(struct run *run, struct json_writer *writer)
{
    struct strbuf body AS_AUTO_STRBUF;
    struct vlm_config config = vlm_config_of(run);
    const struct llm_images images = {NULL, one_image, config.detail};
    strbuf_init(&body, 0);
    config.llm.images = &images;
    json_key(writer, "body_template");
    if (config.llm.model && source_body_template(&config.llm, &body, NULL) == AS_OK)
        json_put_raw(writer, strbuf_text(&body), body.len);
    else
        json_put_null(writer);
}

static as_status tell(struct run *run, struct json_writer *writer, struct run_rules *rules)
{
    const struct request_config *request = &run->config.request;
    const struct vlm_source *source = run->loaded;
    rules->is_streaming = request->streaming;
    rules->expects_full_length = request->ignore_eos || request->min_tokens != OPT_ABSENT;
    rules->has_unique_prompts = request->unique_prompts;
    rules->prompt_count = source ? (int64_t)source->prompts.prompts.count : -1;
    json_key(writer, "prompt_source");
    if (source)
        put_source(source, writer);
    else
        json_put_null(writer);
    put_template(run, writer);
    return AS_OK;
}

/* ---- the run ---- */

static as_status open_work(struct run *run, struct run_work *work, struct as_error *err)
{
    struct vlm_config config = vlm_config_of(run);
    struct vlm *vlm = NULL;
    as_status status = vlm_new(&config, &vlm, err);
    work->modality = vlm_modality();
    work->context = vlm;
    return status;
}

static void close_work(struct run *run, struct run_work *work)
{
    (void)run;
    vlm_free(work->context);
}

const struct run_tool TOOL_VLM = {
    .name = "vlm",
    .line = &VLM_LINE,
    .resolve = resolve,
    .load = load,
    .unload = unload,
    .tell = tell,
    .open = open_work,
    .close = close_work,
};
