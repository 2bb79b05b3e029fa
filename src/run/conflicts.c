/* SPDX-License-Identifier: Apache-2.0 */
#include "run/conflicts.h"

#include "base/json.h"
#include "modality/llm.h"
#include "run/slo.h"

#include <inttypes.h>
#include <string.h>

static bool is_given(const struct resolving *what, const char *name)
{
    return options_is_given(what->parsed, name);
}

static as_status check_connections(const struct resolving *what, struct as_error *err)
{
    const struct connection_config *connection = &what->config->connection;
    static const char *const pool[] = {"max-idle-connections", "idle-timeout"};
    if (connection->retries == 0 && is_given(what, "retry-backoff"))
        return error_set(err, AS_E_USAGE, "%s has no effect without further tries (--retries N)", resolve_spelled(what, "retry-backoff"));
    for (size_t i = 0; i < sizeof pool / sizeof pool[0] && !connection->reuse; i++)
        if (is_given(what, pool[i]))
            return resolve_both(what, pool[i], "reuse-connections", "without reuse no connection is kept", err);
    if (connection->prewarm && what->shape->is_open_loop && what->shape->max_concurrency == 0)
        return error_set(err, AS_E_USAGE, "%s has no effect without a limit of what is in flight, which says how many to open (--max-concurrency N)",
                         resolve_spelled(what, "prewarm"));
    if (connection->keepalive_ns % NS_PER_S)
        return error_set(err, AS_E_USAGE, "%s takes whole seconds, for example 60s", resolve_spelled(what, "tcp-keepalive"));
    if (connection->busy_poll_ns > 0 && connection->busy_poll_ns < NS_PER_US)
        return error_set(err, AS_E_USAGE, "%s is less than 1us, which is nothing; give 1us or more, or 0", resolve_spelled(what, "busy-poll"));
    return AS_OK;
}

static as_status check_lengths(const struct resolving *what, struct as_error *err)
{
    const struct request_config *request = &what->config->request;
    if (what->config->prompt.osl) {
        int64_t least = what->shape->output.mean - what->shape->output.spread;
        if (is_given(what, "max-tokens"))
            return resolve_both(what, "max-tokens", "synthetic-osl", "each request's limit is the length of --synthetic-osl", err);
        if (request->min_tokens != OPT_ABSENT && request->min_tokens > least)
            return error_set(err, AS_E_USAGE, "%s %" PRId64 " is above the shortest answer of --synthetic-osl, %" PRId64 ": lower it",
                             resolve_spelled(what, "min-tokens"), request->min_tokens, least);
        return AS_OK;
    }
    if (request->min_tokens != OPT_ABSENT && request->min_tokens > request->max_tokens)
        return error_set(err, AS_E_USAGE, "%s %" PRId64 " is above --max-tokens %" PRId64 ": raise --max-tokens, or lower it",
                         resolve_spelled(what, "min-tokens"), request->min_tokens, request->max_tokens);
    return AS_OK;
}

static as_status check_body(const struct resolving *what, struct as_error *err)
{
    const char *text = what->config->request.extra_body;
    const struct json_value *extra;
    struct arena arena;
    if (!text)
        return AS_OK;
    arena_init(&arena, 0, 0);
    as_status status = json_parse(text, strlen(text), NULL, &arena, &extra, err);
    if (status == AS_OK)
        status = llm_check_extra(extra, err);
    else
        error_prefix(err, "--extra-body");
    arena_done(&arena);
    return status;
}

/* Only a stream has a first token and gaps. */
static as_status check_objectives(const struct resolving *what, struct as_error *err)
{
    struct run_slo slo;
    if (!(what->shape->modes & RUN_WHOLE) || slo_read(&what->config->result.goodput, &slo, NULL) != AS_OK)
        return AS_OK;
    const char *name = slo.ttft_ns >= 0 ? "ttft" : slo.tpot_ns >= 0 ? "tpot" : slo.itl_ns >= 0 ? "itl" : NULL;
    return name ? error_set(err, AS_E_USAGE, "--goodput: %s has no value without --streaming; give it, or an objective of e2e:MS alone", name) : AS_OK;
}

as_status conflicts_check(const struct resolving *what, struct as_error *err)
{
    as_status status = check_connections(what, err);
    if (status == AS_OK)
        status = check_lengths(what, err);
    if (status == AS_OK)
        status = check_body(what, err);
    return status == AS_OK ? check_objectives(what, err) : status;
}

static bool is_unix(const char *url)
{
    return strncmp(url, "unix:", 5) == 0 || strncmp(url, "http+unix:", 10) == 0;
}

as_status conflicts_check_proxy(const struct resolving *what, struct as_error *err)
{
    const char *source = what->config->prompt.source;
    bool is_used = source && strncmp(source, "http", 4) == 0 && strstr(source, "://");
    for (size_t i = 0; i < what->endpoints->count && !is_used; i++)
        is_used = !is_unix(what->endpoints->items[i].url);
    if (is_used || !is_given(what, "proxy"))
        return AS_OK;
    return error_set(err, AS_E_USAGE, "%s has no effect: every server is a unix socket, which no proxy reaches", resolve_spelled(what, "proxy"));
}
