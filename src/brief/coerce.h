/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_COERCE_H
#define ASSAY_BRIEF_COERCE_H

#include "brief/model.h"
#include "brief/value.h"

/*
 * A single value as a field's type, lenient where the format is: numeric text for numbers, whole floats for integers,
 * yes/no for booleans, Unix seconds for times. NULL when it does not fit; *ret_reason then says why (NULL without
 * memory). Only scalar types, FIELD_ANY, FIELD_ARGS and FIELD_TEXT_PAIRS.
 */
struct value *coerce(struct tree *tree, const struct model_field *field, const struct value *in,
                     const char **ret_reason);

/* Free content: YAML times become text. */
struct value *coerce_free(struct tree *tree, const struct value *in);

#endif
