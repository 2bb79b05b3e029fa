/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_PARTS_H
#define ASSAY_PLANE_PARTS_H

/*
 * Lists inside a thing that are rows of a table of their own: a model's precisions, a server's GPUs. Sending the list
 * replaces all of it.
 */

#include "plane/resource.h"

struct part {
    const char *member; /* "precisions" */
    const char *table;  /* "model_precisions" */
    const char *column; /* holds the thing's id */
    const struct shape *shape;
    const struct reference *references; /* members of the shape that name rows elsewhere */
    size_t reference_count;
    const char *order; /* column */
};

/* Writes the lists that the call's input holds. */
as_status parts_write(struct plane_call *call, const struct part *parts, size_t count, int64_t id) AS_NODISCARD;
/* Adds all of them to the open object of the call's answer. */
as_status parts_put(struct plane_call *call, const struct part *parts, size_t count, int64_t id) AS_NODISCARD;

#endif
