/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_WATCH_H
#define ASSAY_PLANE_WATCH_H

/*
 * When each of many things was last heard of, by this process's monotonic clock: neither a stepped wall clock nor the
 * time that the server was down makes something look silent. Held in memory only: a thing that is asked about for the
 * first time counts as heard then. Any thread may call.
 */

#include "base/clock.h"
#include "base/status.h"

#include <stdbool.h>

struct watch;

as_status watch_new(struct watch **ret) AS_NODISCARD;
void watch_free(struct watch *watch);
/* The row `id` was heard of at `now`. */
as_status watch_heard(struct watch *watch, int64_t id, struct mono now) AS_NODISCARD;
/* Nanoseconds since it was; 0 and heard now when it is not known yet. */
as_status watch_age_ns(struct watch *watch, int64_t id, struct mono now, int64_t *ret) AS_NODISCARD;
/* Whether it was heard of, not only asked about. */
bool watch_has_heard(struct watch *watch, int64_t id);
/* It is watched no more. */
void watch_forget(struct watch *watch, int64_t id);

#endif
