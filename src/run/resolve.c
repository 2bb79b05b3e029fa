/* SPDX-License-Identifier: Apache-2.0 */
#include "run/resolve.h"

#include "fetch/fetch.h"
#include "run/conflicts.h"
#include "run/extra_inputs.h"
#include "run/shard.h"
#include "run/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

/* --extra-inputs is --extra-body in another form. */
static as_status resolve_body(struct run_config *config, struct opt_parsed *parsed, struct as_error *err)
{
    struct request_config *request = &config->request;
    const char *body;
    if (request->extra_inputs.count == 0)
        return AS_OK;
    as_status status = extra_inputs_join(&request->extra_inputs, request->extra_body, parsed->arena, &body, err);
    return status == AS_OK ? options_put(parsed, "extra-body", body, err) : status;
}

static as_status resolve_model(struct run_config *config, struct opt_parsed *parsed, struct as_error *err)
{
    return config->request.served_model ? options_put(parsed, "model", config->request.served_model, err) : AS_OK;
}

static bool is_https(const char *url)
{
    return url && strncasecmp(url, "https://", 8) == 0;
}

static bool uses_tls(const struct run_config *config, const struct endpoint_list *endpoints)
{
    bool is_tls = is_https(config->prompt.source);
    for (size_t i = 0; i < endpoints->count && !is_tls; i++)
        is_tls = is_https(endpoints->items[i].url);
    return is_tls;
}

static uint32_t common_modes(const struct resolving *what)
{
    uint32_t modes = what->shape->is_open_loop ? RUN_OPEN : RUN_CLOSED;
    modes |= what->endpoints->count > 1 ? RUN_MANY_SERVERS : RUN_ONE_SERVER;
    modes |= uses_tls(what->config, what->endpoints) ? RUN_TLS : RUN_PLAIN;
    modes |= what->config->result.console == RUN_CONSOLE_VLLM ? RUN_VLLM_BLOCK : RUN_OTHER_CONSOLE;
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

static as_status resolve_tool(const struct run_tool *tool, struct resolving *what, struct as_error *err)
{
    what->shape->modes = common_modes(what);
    as_status status = tool->resolve ? tool->resolve(what, err) : AS_OK;
    return status == AS_OK ? options_check_modes(what->parsed, what->shape->modes, err) : status;
}

as_status run_resolve(const struct run_tool *tool, struct resolving *what, struct as_error *err)
{
    struct run_config *config = what->config;
    struct opt_parsed *parsed = what->parsed;
    struct run_shape *shape = what->shape;
    *shape = (struct run_shape){.shard_count = 1};
    as_status status = resolve_model(config, parsed, err);
    if (status == AS_OK)
        status = resolve_loop(config, parsed, shape, err);
    if (status == AS_OK)
        status = resolve_tool(tool, what, err);
    if (status == AS_OK)
        status = resolve_arrival(config, parsed, shape, err);
    if (status == AS_OK)
        status = resolve_counts(config, parsed, shape, err);
    if (status == AS_OK)
        status = resolve_body(config, parsed, err);
    if (status == AS_OK)
        status = conflicts_check(what, err);
    if (status == AS_OK)
        status = resolve_threads(config, parsed, shape, err);
    if (status == AS_OK && config->load.shard && !shard_parse(config->load.shard, &shape->shard, &shape->shard_count))
        status = error_set(err, AS_E_INTERNAL, "--shard was not checked");
    return status;
}

const char *resolve_spelled(const struct resolving *what, const char *name)
{
    return spelled(what->parsed, name);
}

as_status resolve_both(const struct resolving *what, const char *a, const char *b, const char *remedy, struct as_error *err)
{
    return both(what->parsed, a, b, remedy, err);
}
