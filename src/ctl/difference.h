/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_DIFFERENCE_H
#define ASSAY_CTL_DIFFERENCE_H

/* Whether a thing that is there is what is wanted. Pure. */

#include "base/json.h"

/*
 * True when `wanted` is already so. Objects have the same members with the same values, null being the same as absent;
 * but objects in lists (GPUs of a server, arguments of a set) may have more members than wanted. Numbers by value.
 */
bool difference_is_same(const struct json_value *wanted, const struct json_value *current);

#endif
