/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_TARGET_H
#define ASSAY_RUN_TARGET_H

/*
 * The servers of a run: from the options to what engine and summary take, keys included. Keys are in `secrets` (so that no
 * message repeats them), in the header lines, and nowhere else; targets_done clears both.
 */

#include "base/arena.h"
#include "engine/engine.h"
#include "fetch/fetch.h"
#include "options/options.h"
#include "run/config.h"
#include "summary/run_facts.h"
#include "workload/endpoints.h"

#include <stddef.h>

struct targets {
    struct arena arena;               /* what the members point to */
    struct endpoint_list list;
    struct net_endpoint *nets;
    struct engine_endpoint *engines;
    struct run_endpoint *facts;
    const char **secrets;             /* ends with NULL */
    size_t secret_count;
    size_t count;
    size_t given_count;               /* of them from options; the others come from a file */
    size_t open_count;                /* of nets that need net_endpoint_done */
};

void targets_init(struct targets *targets);
void targets_done(struct targets *targets);
/* The list of servers alone: --url, --endpoint, --host, --endpoints-file. */
as_status targets_list(struct targets *targets, const struct endpoint_config *config, struct as_error *err) AS_NODISCARD;
/* Parses URLs, reads keys, makes header lines. AS_E_USAGE, AS_E_INVALID, AS_E_NOTFOUND (key file). */
as_status targets_open(struct targets *targets, const struct endpoint_config *config, const struct opt_parsed *parsed, struct as_error *err)
    AS_NODISCARD;
/* Looks all names up within `timeout_ns` each; AS_E_NETWORK, AS_E_TIMEOUT. */
as_status targets_resolve(struct targets *targets, int64_t timeout_ns, struct as_error *err) AS_NODISCARD;

/*
 * A request that is not measured, to `path` under the API of server `index`: URL, key, further headers and TLS options are set; texts
 * live as long as the targets.
 */
as_status targets_fetch(struct targets *targets, size_t index, const char *path, const struct endpoint_config *config,
                        struct fetch_request *ret) AS_NODISCARD;

#endif
