/* SPDX-License-Identifier: Apache-2.0 */
#include "run/health.h"

#include <stdio.h>
#include <string.h>

#define HEALTH_TIMEOUT_NS (INT64_C(10) * NS_PER_S)
#define HEALTH_MAX_BYTES  ((size_t)1024 * 1024)

/* "" when the server is well, else why not. */
static as_status ask(struct targets *targets, size_t i, const struct endpoint_config *config, const char *path,
                     char why[160])
{
    const struct net_endpoint *net = &targets->nets[i];
    struct fetch_request request;
    struct fetch_reply reply;
    struct as_error err = {.message = ""};
    as_status status = targets_fetch(targets, i, "", config, &request);
    if (status != AS_OK)
        return status;
    request.url = arena_printf(&targets->arena, "%s://%s%s%s", net->is_tls ? "https" : "http",
                               net->unix_path ? "localhost" : net->host_header, path,
                               strchr(path, '?') ? "" : net->query);
    request.timeout_ns = HEALTH_TIMEOUT_NS;
    request.max_bytes = HEALTH_MAX_BYTES;
    if (!request.url)
        return AS_E_NOMEM;
    why[0] = '\0';
    status = fetch_run(&request, &reply, &err);
    if (status == AS_E_NOMEM)
        return status;
    if (status != AS_OK) {
        snprintf(why, 160, "%.150s", err.message);
        return AS_OK;
    }
    if (reply.status / 100 != 2)
        snprintf(why, 160, "status %d", reply.status);
    fetch_reply_done(&reply);
    return AS_OK;
}

as_status health_check(struct targets *targets, const struct endpoint_config *config, const char *path,
                       struct as_error *err)
{
    char list[360] = "", why[160];
    size_t ill = 0;
    for (size_t i = 0; i < targets->count; i++) {
        as_status status = ask(targets, i, config, path, why);
        if (status != AS_OK)
            return error_set(err, status, "out of memory");
        if (!why[0])
            continue;
        size_t used = strlen(list);
        if (used < sizeof list - 1)
            snprintf(list + used, sizeof list - used, "%s%.80s (%s)", ill ? ", " : "", targets->facts[i].name, why);
        ill++;
    }
    return ill ? error_set(err, AS_E_NETWORK, "%zu of %zu servers are not well (GET %.60s): %s", ill, targets->count,
                           path, list)
               : AS_OK;
}
