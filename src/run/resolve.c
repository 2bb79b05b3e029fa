/* SPDX-License-Identifier: Apache-2.0 */
#include "run/resolve.h"

#include "fetch/fetch.h"
#include "run/shard.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define RANDOM_ISL "1024"
#define RANDOM_OSL "128"
#define REQUESTS_A_PERMIT 4
#define IN_FLIGHT_A_THREAD 4096
#define THREADS_MAX 16

static as_status put_number(struct opt_parsed *parsed, const char *name, int64_t value, struct as_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return options_put(parsed, name, text, err);
}

static const char *spelled(const struct opt_parsed *parsed, const char *name)
{
    return options_state(parsed, name)->spelled;
}

static as_status both(const struct opt_parsed *parsed, const char *a, const char *b, const char *remedy, struct as_error *err)
{
    return error_set(err, AS_E_USAGE, "%s and %s do not go together: %s", spelled(parsed, a), spelled(parsed, b), remedy);
}

/* A rate, or inf without a concurrency, makes an open loop. */
static as_status resolve_loop(struct run_config *config, struct opt_parsed *parsed, struct run_shape *shape, struct as_error *err)
{
    struct load_config *load = &config->load;
    bool has_concurrency = options_is_given(parsed, "concurrency"), has_cap = options_is_given(parsed, "max-concurrency");
    bool is_infinite = isinf(load->rate_per_s);
    shape->is_open_loop = !isnan(load->rate_per_s) && (!is_infinite || (!has_concurrency && !has_cap));
    if (shape->is_open_loop && has_concurrency)
        return both(parsed, "concurrency", "request-rate", "with a rate, --max-concurrency N caps what is in flight", err);
    if (!shape->is_open_loop && has_concurrency && has_cap && load->concurrency != load->max_concurrency)
        return both(parsed, "concurrency", "max-concurrency", "without a rate they mean the same; give one", err);
    if (shape->is_open_loop) {
        shape->max_concurrency = has_cap ? (uint32_t)load->max_concurrency : 0;
        return AS_OK;
    }
    as_status status = AS_OK;
    if (has_cap && !has_concurrency)
        status = put_number(parsed, "concurrency", load->max_concurrency, err);
    shape->concurrency = (uint32_t)load->concurrency;
    return status;
}

static as_status resolve_arrival(struct run_config *config, struct opt_parsed *parsed, const struct run_shape *shape, struct as_error *err)
{
    bool has_arrival = options_is_given(parsed, "arrival"), has_burstiness = options_is_given(parsed, "burstiness");
    if (shape->is_open_loop && isinf(config->load.rate_per_s) && (has_arrival || has_burstiness))
        return both(parsed, has_arrival ? "arrival" : "burstiness", "request-rate", "with inf all requests are due at once", err);
    if (!shape->is_open_loop || !has_burstiness)
        return AS_OK;
    bool is_poisson = config->load.arrival == RUN_ARRIVAL_POISSON && config->load.burstiness == 1;
    if (has_arrival && config->load.arrival != RUN_ARRIVAL_GAMMA && !is_poisson)
        return both(parsed, "burstiness", "arrival", "burstiness is the shape of gamma gaps", err);
    return has_arrival ? AS_OK : options_put(parsed, "arrival", "gamma", err);
}

static as_status resolve_counts(struct run_config *config, struct opt_parsed *parsed, struct run_shape *shape, struct as_error *err)
{
    struct load_config *load = &config->load;
    bool has_time = load->duration_ns != OPT_ABSENT || load->stop_after_ns != OPT_ABSENT;
    bool is_all_at_once = shape->is_open_loop && isinf(load->rate_per_s);
    if (load->warmup_barrier && load->warmup_requests == 0)
        return error_set(err, AS_E_USAGE, "--warmup-barrier has no effect without warm-up requests (--warmup-requests N)");
    if (is_all_at_once && has_time)
        return both(parsed, "request-rate", load->duration_ns != OPT_ABSENT ? "duration" : "stop-after-seconds",
                    "with inf and no concurrency all requests are sent at once; --num-requests says how many", err);
    shape->is_bounded_by_count = load->num_requests != OPT_ABSENT || !has_time;
    if (load->num_requests != OPT_ABSENT || has_time)
        return AS_OK;
    int64_t in_flight = shape->is_open_loop ? shape->max_concurrency : shape->concurrency;
    int64_t requests = in_flight * REQUESTS_A_PERMIT;
    return put_number(parsed, "num-requests", requests < REQUESTS_A_PERMIT ? REQUESTS_A_PERMIT : requests, err);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    while (len && text[len - 1] == '/')
        len--;
    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* -1 = the URL does not say. */
static int api_of_url(const char *url)
{
    if (ends_with(url, "/chat/completions"))
        return RUN_CHAT;
    return ends_with(url, "/completions") ? RUN_COMPLETION : -1;
}

static as_status resolve_api(struct run_config *config, struct opt_parsed *parsed, const struct endpoint_list *endpoints, struct as_error *err)
{
    static const char *const names[] = {"chat", "completion"};
    int found = -1;
    for (size_t i = 0; i < endpoints->count; i++) {
        int api = api_of_url(endpoints->items[i].url);
        if (api >= 0 && found >= 0 && api != found)
            return error_set(err, AS_E_USAGE, "one server's URL ends in /chat/completions, another's in /completions; a run speaks one of them");
        found = api >= 0 ? api : found;
    }
    if (found < 0 || found == config->request.api)
        return AS_OK;
    if (options_is_given(parsed, "mode"))
        return error_set(err, AS_E_USAGE, "%s asks for %s, but a server's URL ends in the path of %s", spelled(parsed, "mode"),
                         names[config->request.api], names[found]);
    return options_put(parsed, "mode", names[found], err);
}

static as_status spread_length(struct length_spec *length, double ratio, struct as_error *err)
{
    if (isnan(ratio))
        return AS_OK;
    if (length->spread)
        return error_set(err, AS_E_USAGE, "--random-range-ratio and a length with ±S say the same thing; give one");
    length->spread = (int64_t)((double)length->mean * ratio);
    return AS_OK;
}

static as_status resolve_lengths(struct run_config *config, struct run_shape *shape, struct as_error *err)
{
    struct prompt_config *prompt = &config->prompt;
    as_status status = length_parse(prompt->isl, &shape->input, err);
    if (status == AS_OK && prompt->osl)
        status = length_parse(prompt->osl, &shape->output, err);
    if (status == AS_OK)
        status = spread_length(&shape->input, prompt->range_ratio, err);
    if (status == AS_OK && prompt->osl)
        status = spread_length(&shape->output, prompt->range_ratio, err);
    return status;
}

static as_status resolve_prompts(struct run_config *config, struct opt_parsed *parsed, struct run_shape *shape, struct as_error *err)
{
    struct prompt_config *prompt = &config->prompt;
    as_status status = AS_OK;
    if (prompt->dataset == RUN_DATASET_CUSTOM && !prompt->source)
        return error_set(err, AS_E_USAGE, "--dataset-name custom needs a file: --dataset-path FILE (here --prompts)");
    if (prompt->dataset == RUN_DATASET_RANDOM && prompt->source)
        return both(parsed, "dataset-name", "prompts", "random prompts are generated, not read", err);
    if (prompt->dataset == RUN_DATASET_RANDOM && !prompt->isl)
        status = options_put(parsed, "synthetic-isl", RANDOM_ISL, err);
    if (status == AS_OK && prompt->dataset == RUN_DATASET_RANDOM && !prompt->osl)
        status = options_put(parsed, "synthetic-osl", RANDOM_OSL, err);
    if (status != AS_OK)
        return status;
    if (!prompt->source && !prompt->isl)
        return error_set(err, AS_E_USAGE, "no prompts: give --prompts FILE (JSONL, `prompt` a line) or --synthetic-isl N");
    shape->is_synthetic = prompt->isl != NULL;
    return shape->is_synthetic ? resolve_lengths(config, shape, err) : AS_OK;
}

static as_status resolve_model(struct run_config *config, struct opt_parsed *parsed, struct as_error *err)
{
    return config->request.served_model ? options_put(parsed, "model", config->request.served_model, err) : AS_OK;
}

static bool uses_tls(const struct run_config *config, const struct endpoint_list *endpoints)
{
    bool is_tls = config->prompt.source && strncasecmp(config->prompt.source, "https://", 8) == 0;
    for (size_t i = 0; i < endpoints->count && !is_tls; i++)
        is_tls = strncasecmp(endpoints->items[i].url, "https://", 8) == 0;
    return is_tls;
}

static uint32_t active_modes(const struct run_config *config, const struct endpoint_list *endpoints, const struct run_shape *shape)
{
    uint32_t modes = shape->is_open_loop ? RUN_OPEN : RUN_CLOSED;
    modes |= config->request.api == RUN_CHAT ? RUN_API_CHAT : RUN_API_COMPLETION;
    modes |= config->request.streaming ? RUN_STREAM : RUN_WHOLE;
    modes |= shape->is_synthetic ? RUN_SYNTHETIC : RUN_FROM_FILE;
    modes |= endpoints->count > 1 ? RUN_MANY_SERVERS : RUN_ONE_SERVER;
    modes |= uses_tls(config, endpoints) ? RUN_TLS : RUN_PLAIN;
    modes |= config->result.console == RUN_CONSOLE_VLLM ? RUN_VLLM_BLOCK : RUN_OTHER_CONSOLE;
    return modes;
}

/* One loop follows thousands of streams; more threads only where more are wanted, and never more than half of the processors. */
static as_status resolve_threads(struct run_config *config, struct opt_parsed *parsed, struct run_shape *shape, struct as_error *err)
{
    int64_t in_flight = shape->is_open_loop ? shape->max_concurrency : shape->concurrency;
    if (config->connection.threads == OPT_ABSENT) {
        int64_t processors = sysconf(_SC_NPROCESSORS_ONLN);
        int64_t most = processors / 2 > THREADS_MAX ? THREADS_MAX : processors / 2;
        int64_t wanted = 1 + in_flight / IN_FLIGHT_A_THREAD;
        as_status status = put_number(parsed, "threads", wanted > most ? (most < 1 ? 1 : most) : wanted, err);
        if (status != AS_OK)
            return status;
    }
    if (!shape->is_open_loop && config->connection.threads > in_flight)
        return error_set(err, AS_E_USAGE, "%s: more threads than the %" PRId64 " requests in flight would have nothing to do",
                         spelled(parsed, "threads"), in_flight);
    shape->threads = (uint32_t)config->connection.threads;
    return AS_OK;
}

as_status run_resolve(struct run_config *config, struct opt_parsed *parsed, const struct endpoint_list *endpoints, struct run_shape *ret,
                      struct as_error *err)
{
    struct run_shape shape = {.shard_count = 1};
    as_status status = resolve_model(config, parsed, err);
    if (status == AS_OK)
        status = resolve_loop(config, parsed, &shape, err);
    if (status == AS_OK)
        status = resolve_api(config, parsed, endpoints, err);
    if (status == AS_OK)
        status = resolve_prompts(config, parsed, &shape, err);
    if (status == AS_OK) {
        shape.modes = active_modes(config, endpoints, &shape);
        status = options_check_modes(parsed, shape.modes, err);
    }
    if (status == AS_OK)
        status = resolve_arrival(config, parsed, &shape, err);
    if (status == AS_OK)
        status = resolve_counts(config, parsed, &shape, err);
    if (status == AS_OK)
        status = resolve_threads(config, parsed, &shape, err);
    if (status == AS_OK && config->load.shard && !shard_parse(config->load.shard, &shape.shard, &shape.shard_count))
        status = error_set(err, AS_E_INTERNAL, "--shard was not checked");
    if (status == AS_OK)
        *ret = shape;
    return status;
}
