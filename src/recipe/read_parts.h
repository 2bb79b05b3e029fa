/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_READ_PARTS_H
#define ASSAY_RECIPE_READ_PARTS_H

/* What the readers of the files share. Private to the module. */

#include "recipe/reader.h"

/* The optional array "sources" of the top level, added to those of *data; one with a known code is left out. */
as_status read_sources(struct reader *reader, const struct json_value *root, struct recipe_data *data) AS_NODISCARD;

#endif
