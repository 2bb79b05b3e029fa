/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_FIRST_H
#define ASSAY_PLANE_FIRST_H

/* The first start: the first tenant, its administrator and a token that is shown once; the shipped catalogue. */

#include "plane/state.h"

/* Does what is missing; also notes the shared tenant's id. Later starts only read. */
as_status first_start(struct plane *plane, struct strbuf *notice, struct as_error *err) AS_NODISCARD;
/* A call without an exchange, by nobody, for a tenant: for statements outside of requests. */
struct plane_call *first_call_new(struct plane *plane, int64_t tenant_id);
/* A new token for the first tenant's administrator, who is made when there is none. */
as_status first_token(struct plane *plane, struct strbuf *ret, struct as_error *err) AS_NODISCARD;

#endif
