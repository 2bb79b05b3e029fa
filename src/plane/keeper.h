/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_KEEPER_H
#define ASSAY_PLANE_KEEPER_H

/*
 * A thread that does what time alone brings about: servers that nothing is heard of are shown as silent, and as online
 * when they are heard again; leases that nobody renews are taken back. It looks once a second, by the monotonic clock;
 * a look that fails is tried again by the next.
 */

#include "base/status.h"

struct keeper;
struct plane;

/* Starts it, once the plane's store is open. */
as_status keeper_new(struct plane *plane, struct keeper **ret) AS_NODISCARD;
/* Ends it and waits for it; NULL does nothing. Before the store is closed. */
void keeper_free(struct keeper *keeper);

#endif
