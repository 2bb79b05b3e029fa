/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_SEED_H
#define ASSAY_PLANE_SEED_H

/*
 * The shipped catalogue (data/recipes and the codes of prompt sources) as rows of the tenant `shared`. Done once for
 * each content of the files: their digest is kept in settings. What is there is never changed but by a new revision;
 * what is missing is added.
 */

#include "plane/state.h"

as_status seed_catalogue(struct plane *plane, struct as_error *err) AS_NODISCARD;
/* The folder with the shipped recipes: as set, or beside the running program. False when there is none. */
bool seed_folder(const struct plane_settings *settings, char *ret, size_t size);

#endif
