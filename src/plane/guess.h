/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_GUESS_H
#define ASSAY_PLANE_GUESS_H

/*
 * Wrong passwords and tokens, counted per account and address: after GUESS_MAX of them within GUESS_WINDOW_NS that
 * account is closed to that address until the window has passed; others are not touched. Kept in memory, in a table of
 * fixed size whose oldest entries give way. Any thread.
 */

#include "base/clock.h"
#include "base/status.h"

#include <stdbool.h>

#define GUESS_MAX       10
#define GUESS_WINDOW_NS (15 * 60 * NS_PER_S)

struct guess;

as_status guess_new(struct guess **ret) AS_NODISCARD;
void guess_free(struct guess *guess);

/* Seconds until another try is allowed, 0 = now. */
int guess_wait_s(struct guess *guess, const char *account, const char *address, struct mono now);
/* A wrong try. */
void guess_failed(struct guess *guess, const char *account, const char *address, struct mono now);
/* A right one: forgets the wrong ones. */
void guess_succeeded(struct guess *guess, const char *account, const char *address);

#endif
