/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_PROBLEM_H
#define ASSAY_CTL_PROBLEM_H

/* A refusal (RFC 9457 problem document, or whatever a proxy sent) as a status and one sentence. Pure. */

#include "base/json.h"

/* `body` may be NULL. The sentence names each wrong member as a path: "gpus.0.gpu_index must be …". */
as_status problem_status(long http_status, const struct json_value *body, struct as_error *err) AS_NODISCARD;

#endif
