/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SIGNALS_H
#define ASSAY_RUN_SIGNALS_H

/*
 * SIGINT and SIGTERM. While an engine is set, the first one stops it (no new requests, those in flight drain) and a second one ends
 * the process at once with 128 + its number: records are in the journal then, `assay summarize` reads them. Before an engine is set
 * the first ends the process, after writing what is prepared for that case; once the run is over it is only noted, so that the
 * results are written, and a second one ends the process. One run a process.
 */

#include "engine/engine.h"

#include <stddef.h>

struct signals_file {
    const char *path, *text;
    size_t len;
    bool appends; /* else an older one is replaced */
};

/* What a signal before the run leaves behind. */
struct signals_words {
    struct signals_file *files;
    size_t count;
    const char *sentence; /* for stderr */
};

/* Installs the handlers and ignores SIGPIPE. */
void signals_install(void);
/* NULL = none. `drain_text` is written to stderr at the first signal, `cut_text` at the second; all are kept. */
void signals_set_engine(struct engine *engine, const char *drain_text, const char *cut_text);
/* From the main thread; kept. NULL = none. */
void signals_set_last_words(const struct signals_words *words);
/* The run is over, what remains is to write its results. */
void signals_set_finishing(void);
/* The first signal that came, 0 = none. */
int signals_caught(void);

#endif
