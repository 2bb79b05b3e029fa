/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_TOOL_H
#define ASSAY_RUN_TOOL_H

/*
 * What one benchmark tool adds to a run. Servers, load, connections, records, summary and files are the same for all
 * (run/run.h); a tool has its own options, something to send, a modality, and perhaps files of its own.
 *
 * A tool is a constant table. Its functions are called from the main thread in the order below; a NULL one does
 * nothing.
 */

#include "engine/modality.h"
#include "engine/record.h"
#include "run/resolve.h"
#include "run/source.h"

struct run;
struct run_rules;

/* What the engine is given. `sink` is the recording's unless the tool puts something between. */
struct run_work {
    const struct modality *modality;
    void *context;
    struct record_sink sink;
    void *own; /* the tool's */
};

struct run_tool {
    const char *name; /* "llm": in schemas, records, folder names */
    const struct opt_command *line;
    /*
     * What follows from the tool's own options, before anything is asked: sets its bits in shape->modes, refuses what
     * cannot be. AS_E_USAGE.
     */
    as_status (*resolve)(struct resolving *what, struct as_error *err);
    /* Loads or makes what is sent into run->loaded; the model is known, but in a dry run nothing may be asked. */
    as_status (*load)(struct run *run, struct as_error *err);
    /* Frees run->loaded, which is not NULL. */
    void (*unload)(struct run *run);
    /* Members of the open object `config`: what was loaded (run->loaded may be NULL) and a request's body; and the
     * rules of its own. */
    as_status (*tell)(struct run *run, struct json_writer *writer, struct run_rules *rules);
    /* Makes the modality's context; work->sink is the recording's. close ends it: whatever it holds back has reached
     * the sink then. */
    as_status (*open)(struct run *run, struct run_work *work, struct as_error *err);
    void (*close)(struct run *run, struct run_work *work);
    /* Files of its own, after the summary was made; the summary is written whatever comes of it. */
    as_status (*finish)(struct run *run, struct as_error *err);
};

extern const struct run_tool TOOL_LLM, TOOL_VLM, TOOL_ASR, TOOL_IMAGEGEN;

#endif
