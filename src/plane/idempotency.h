/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_IDEMPOTENCY_H
#define ASSAY_PLANE_IDEMPOTENCY_H

/*
 * Repeats of writing calls. A call with an Idempotency-Key (1 to 128 printable characters) leaves its answer in the
 * transaction of its act; a repeat by the same user gets that answer again and does nothing. The same key with another
 * request is refused. Answers are kept for 24 hours. Tokens and other texts that are shown once are not kept: such a
 * repeat is told so.
 */

#include "plane/call.h"

#define IDEMPOTENCY_LIFE_NS (INT64_C(86400) * 1000000000)

/* In the write transaction, before the handler. *ret_is_repeat: the first answer is in the call. */
as_status idempotency_find(struct plane_call *call, bool *ret_is_repeat) AS_NODISCARD;
/* After it: keeps the answer. */
as_status idempotency_keep(struct plane_call *call) AS_NODISCARD;

#endif
