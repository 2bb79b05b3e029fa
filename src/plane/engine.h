/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_ENGINE_H
#define ASSAY_PLANE_ENGINE_H

/*
 * Engine-argument sets and command templates: things whose content is kept in revisions that never change. Sending
 * content makes the next one; content equal to the newest one makes none. Content is held against recipe/ before it is
 * kept.
 */

#include "plane/parts.h"

extern const struct shape shape_engine_arg;
extern const struct part engine_set_parts[1];

as_status engine_set_finish(struct plane_call *call, int64_t id, const struct row_values *row) AS_NODISCARD;
as_status engine_set_put(struct plane_call *call, int64_t id) AS_NODISCARD;

as_status engine_template_prepare(struct plane_call *call, int64_t id, struct row_values *row) AS_NODISCARD;
as_status engine_template_finish(struct plane_call *call, int64_t id, const struct row_values *row) AS_NODISCARD;
as_status engine_template_put(struct plane_call *call, int64_t id) AS_NODISCARD;

#endif
