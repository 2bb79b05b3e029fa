/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_EXTRA_INPUTS_H
#define ASSAY_RUN_EXTRA_INPUTS_H

/*
 * --extra-inputs: members of the request's body as AIPerf writes them, "top_p:0.9" or one JSON object an item. A value that is JSON
 * keeps its type, any other one is a string.
 */

#include "base/arena.h"
#include "base/status.h"
#include "options/options.h"

/*
 * The items and the members of `body` (text of a JSON object, NULL = none) as one JSON object in the arena. AS_E_USAGE: an item without
 * a name or value, one that begins with { and is no object, or a name that stands twice; the message begins with the option's name.
 */
as_status extra_inputs_join(const struct opt_list *items, const char *body, struct arena *arena, const char **ret,
                            struct as_error *err) AS_NODISCARD;
/* NULL-safe check of one item; err->message is only the reason. */
as_status extra_inputs_check(const char *item, struct as_error *err) AS_NODISCARD;

#endif
