/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"

#define GROUP .group = "Connections"
#define AT(field) .at = offsetof(struct connection_config, field)

static const struct opt OPTIONS[] = {
    {.name = "request-timeout", .type = OPT_DURATION, AT(request_timeout_ns), GROUP, .value = "SECONDS", .unit = "s", .initial = "120",
     .positive = true, .max = 86400, .sentence = "Longest time of a request, further tries included."},
    {.name = "connect-timeout", .type = OPT_DURATION, AT(connect_timeout_ns), GROUP, .value = "SECONDS", .unit = "s", .initial = "30",
     .positive = true, .max = 86400, .sentence = "Longest time to look up a name, and to connect with TLS."},
    {.name = "retries", .type = OPT_INT, AT(retries), GROUP, .initial = "0", .max = 15, .example = "2",
     .sentence = "Further tries of a request that failed; each is in the record, and its time counts."},
    {.name = "retry-backoff", .type = OPT_DURATION, AT(retry_backoff_ns), GROUP, .unit = "s", .initial = "500ms", .max = 30, .needs = "retries",
     .sentence = "Wait before the first further try, doubled each time; Retry-After goes before it."},
    {.name = "reuse-connections", .type = OPT_FLAG, AT(reuse), GROUP, .initial = "true",
     .sentence = "Keep connections open and use them again."},
    {.name = "idle-timeout", .type = OPT_DURATION, AT(idle_timeout_ns), GROUP, .unit = "s", .initial = "90s", .max = 86400,
     .sentence = "Do not reuse a connection that was idle for longer; 0 is no limit."},
    {.name = "max-idle-connections", .aliases = "pool-size", .type = OPT_INT, AT(max_idle), GROUP, .min = 1, .max = 1000000, .example = "64",
     .initial_note = "the concurrency", .sentence = "Most idle connections kept for one server."},
    {.name = "tcp-keepalive", .type = OPT_DURATION, AT(keepalive_ns), GROUP, .unit = "s", .initial = "60s", .max = 32767,
     .sentence = "Idle time before TCP asks whether the server is still there, in whole seconds; 0 is off."},
    {.name = "prewarm", .type = OPT_FLAG, AT(prewarm), GROUP,
     .sentence = "Open the connections before the first request, so that none pays for its own."},
    {.name = "threads", .type = OPT_INT, AT(threads), GROUP, .min = 1, .max = 256, .example = "2",
     .initial_note = "1, more from 4096 requests in flight on", .sentence = "Threads that send and receive."},
    {.name = "kernel-stamps", .type = OPT_FLAG, AT(kernel_stamps), GROUP, .initial = "true",
     .sentence = "Take the kernel's receive times; without them only this program's own, for comparison."},
    {.name = "busy-poll", .type = OPT_DURATION, AT(busy_poll_ns), GROUP, .initial = "0", .max = 1, .example = "50us",
     .sentence = "Poll without sleeping for so long before waiting; costs a core."},
};
const struct opt_table CONNECTION_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, connection));
