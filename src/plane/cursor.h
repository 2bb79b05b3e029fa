/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_CURSOR_H
#define ASSAY_PLANE_CURSOR_H

/*
 * Where a page ended, as a text that only this server can read: it may hold internal ids. A cursor is an object with
 * the member "scope", which names the list and order that it is of.
 */

#include "plane/call.h"

/* The query's `cursor`: *ret is its object, NULL when none is given. One of another server or scope is refused. */
as_status cursor_read(struct plane_call *call, const char *scope, const struct json_value **ret) AS_NODISCARD;
/* Seals the text of such an object; NULL (the problem is set) on a failure. Lives in the call's arena. */
const char *cursor_seal(struct plane_call *call, const struct strbuf *plain);

#endif
