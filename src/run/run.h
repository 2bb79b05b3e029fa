/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_RUN_H
#define ASSAY_RUN_RUN_H

/*
 * One benchmark run, step by step, in this order: run_configure (pure: what the command line means), run_open (result folder), run_check
 * (clock, limits), run_ask (names, model, prompts), run_measure, run_report. After run_open every way out goes through run_report, so that
 * the summary is always written, with counts of 0 when nothing was sent.
 *
 * A struct run is large, starts zeroed by run_init and belongs to the main thread. Progress and warnings go to stderr.
 */

#include "options/options.h"
#include "run/config.h"
#include "run/echo.h"
#include "run/folder.h"
#include "run/identity.h"
#include "run/plan.h"
#include "run/recording.h"
#include "run/resolve.h"
#include "run/target.h"
#include "run/tool.h"
#include "summary/run_facts.h"
#include "summary/summary.h"

/* What was run: for the summary. */
struct run_program {
    const char *version, *commit, *compiler;
};

struct run {
    const struct run_tool *tool;
    struct run_program program;
    struct arena arena;
    struct run_config config;
    struct opt_parsed parsed;
    struct run_shape shape;
    struct targets targets;
    struct run_plan plan;
    void *loaded;                 /* the tool's: what is sent */
    struct identity identity;
    struct folder folder;
    struct run_facts facts;
    struct recording *recording;
    struct request_echo echo;
    struct summary summary;
    bool has_plan, has_summary;
    const char *failure;          /* why nothing was measured, NULL = it was */
};

void run_init(struct run *run, const struct run_tool *tool, const struct run_program *program);
void run_done(struct run *run);

/* Options are read into run->config and run->parsed before. AS_E_USAGE, AS_E_INVALID, AS_E_NOTFOUND. */
as_status run_configure(struct run *run, struct as_error *err) AS_NODISCARD;
/* Makes the folder and the identity; writes command.txt. */
as_status run_open(struct run *run, int argc, char *const *argv, struct as_error *err) AS_NODISCARD;
/* AS_E_STATE when the machine or its clock refuses the run. */
as_status run_check(struct run *run, struct as_error *err) AS_NODISCARD;
as_status run_ask(struct run *run, struct as_error *err) AS_NODISCARD;
/* The part of it that asks no server: what is sent. */
as_status run_load(struct run *run, struct as_error *err) AS_NODISCARD;
as_status run_measure(struct run *run, struct as_error *err) AS_NODISCARD;
/* Makes the summary, writes all files, fills `console` with what is to be printed. */
as_status run_report(struct run *run, struct strbuf *console, struct as_error *err) AS_NODISCARD;
/* The process exit status of a run that was measured and reported. */
int run_exit_code(const struct run *run);

/* What --dry-run shows: options in effect, plan, first send times, body of a request; as JSON. */
as_status run_describe(struct run *run, struct strbuf *out, struct as_error *err) AS_NODISCARD;

/* Fills run->facts from all that is known so far; texts live in run->arena. */
as_status run_fill_facts(struct run *run, struct as_error *err) AS_NODISCARD;

#endif
