/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_QUERY_H
#define ASSAY_PLANE_QUERY_H

/* The query of a call. Refusals are told in its problem with the pointer "?name". */

#include "plane/call.h"
#include "plane/shape.h"

/* The decoded value, NULL when absent; given twice is refused. */
as_status call_query(struct plane_call *call, const char *name, const char **ret) AS_NODISCARD;
/* Refuses parameters that are not among `names`. */
as_status call_query_check(struct plane_call *call, const char *const *names, size_t count) AS_NODISCARD;
/* An integer from 1 to max; *ret is kept when the parameter is absent. */
as_status call_query_int(struct plane_call *call, const char *name, int64_t max, int64_t *ret) AS_NODISCARD;
/* The text of a filter as a value of the field's column; it lives as long as the text. */
as_status call_query_value(struct plane_call *call, const struct field *field, const char *text,
                           struct store_value *ret) AS_NODISCARD;

#endif
