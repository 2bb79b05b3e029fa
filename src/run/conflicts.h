/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_CONFLICTS_H
#define ASSAY_RUN_CONFLICTS_H

/*
 * Options that are fine by themselves and cannot be, or have nothing to act on, beside each other; those that a mode of the run
 * leaves without effect are refused by options_check_modes.
 */

#include "run/resolve.h"

/* Everything is resolved but what is measured before the run. AS_E_USAGE: the sentence names the options and the cure. */
as_status conflicts_check(const struct resolving *what, struct as_error *err) AS_NODISCARD;
/* For a tool that fetches nothing but its prompts: --proxy where no server and no prompts are reached by TCP. */
as_status conflicts_check_proxy(const struct resolving *what, struct as_error *err) AS_NODISCARD;

#endif
