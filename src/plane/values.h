/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_VALUES_H
#define ASSAY_PLANE_VALUES_H

/* What was sent, as columns of a row: checked against the shape, defaults filled in, references resolved. */

#include "plane/resource.h"

/* All that is wrong is told in the call's problem. */
as_status values_read(struct plane_call *call, const struct resource *resource, const struct json_value *input,
                      enum shape_mode mode, struct row_values *row) AS_NODISCARD;
/* The default of a text member; NULL when it has none. */
const char *values_initial(struct plane_call *call, const struct field *field);
/* Compact JSON, in the arena; NULL without memory (the problem is set). */
const char *values_json(struct plane_call *call, const struct json_value *value);

#endif
