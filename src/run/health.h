/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_HEALTH_H
#define ASSAY_RUN_HEALTH_H

/* Asks all servers of a run whether they are well, before it. */

#include "run/target.h"

/* GET `path` from the root of each, with its key and headers, one after the other. AS_E_NETWORK names those that did
 * not answer 2xx. */
as_status health_check(struct targets *targets, const struct endpoint_config *config, const char *path,
                       struct as_error *err) AS_NODISCARD;

#endif
