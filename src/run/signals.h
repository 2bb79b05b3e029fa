/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SIGNALS_H
#define ASSAY_RUN_SIGNALS_H

/*
 * SIGINT and SIGTERM. While an engine is set, the first one stops it (no new requests, those in flight drain) and a second one ends
 * the process at once with 128 + its number: records are in the journal then, `assay summarize` reads them. Without an engine the
 * first ends the process. One run a process.
 */

#include "engine/engine.h"

/* Installs the handlers and ignores SIGPIPE. */
void signals_install(void);
/* NULL = none. `drain_text` is written to stderr at the first signal; both are kept. */
void signals_set_engine(struct engine *engine, const char *drain_text);
/* The first signal that came, 0 = none. */
int signals_caught(void);

#endif
