/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_LAST_WORDS_H
#define ASSAY_RUN_LAST_WORDS_H

/*
 * What a signal leaves of a run that has not begun: while servers are asked for the time, the model or the length of prompts, a
 * signal ends the process at once, and the summary (partial, counts of 0) must be there all the same. Its text is made beforehand,
 * so that the signal's handler only writes.
 */

#include "run/run.h"

/* Makes the texts anew from run->facts and gives them to run/signals.h; without memory there are none. */
void last_words_prepare(struct run *run);

#endif
