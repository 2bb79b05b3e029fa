/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_VERSION_H
#define ASSAY_RECIPE_VERSION_H

/*
 * Version texts of serving frameworks: "0.24.0", "v0.5.15.post1", "0.11.0rc2", "0.12.0.dev3+cu130", "nightly", as PEP
 * 440 orders them: dev < a < b < rc < release < post; missing parts are 0 (0.24 = 0.24.0); a local part (+cu130) does
 * not count. "nightly", "main" and "latest" are newer than every number and equal to each other. Pure; any thread.
 */

#include <stdbool.h>

/* True when the text is a version as above. */
bool recipe_version_is_valid(const char *text);
/* Below 0, 0 or above 0 as `a` is older, equal or newer than `b`. A text that is no version is older than all versions.
 */
int recipe_version_compare(const char *a, const char *b);
/* True when `version` is no older than `since` and older than `until`; NULL is no bound. */
bool recipe_version_within(const char *version, const char *since, const char *until);

#endif
