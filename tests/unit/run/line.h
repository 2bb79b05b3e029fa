/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_UNIT_RUN_LINE_H
#define ASSAY_TESTS_UNIT_RUN_LINE_H

/* Reads a command line of `assay llm` and works out what it means, without asking anybody. */

#include "run/config.h"
#include "run/plan.h"
#include "run/resolve.h"
#include "run/target.h"
#include "run/tool.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    struct run_config config;
    struct opt_parsed parsed;
    struct arena arena;
    struct targets targets;
    struct run_shape shape;
    struct as_error err;
    as_status status;
};

#define WORDS(...) ((char *const[]){"llm", __VA_ARGS__, NULL})
/* A server and prompts, and what is to be tried. */
#define BASE "--url", "http://127.0.0.1:8000", "--prompts", "p.jsonl"

static inline void line_read(struct line *line, char *const *words)
{
    int argc = 0;
    while (words[argc])
        argc++;
    memset(line, 0, sizeof *line);
    arena_init(&line->arena, 0, 0);
    targets_init(&line->targets);
    struct resolving what = {&line->config, &line->parsed, &line->targets.list, &line->shape};
    struct opt_input input = {argc, words, NULL, &line->config, &line->arena};
    line->status = options_read(&LLM_LINE, &input, &line->parsed, &line->err);
    if (line->status == AS_OK)
        line->status = targets_list(&line->targets, &line->config.endpoint, &line->err);
    if (line->status == AS_OK)
        line->status = run_resolve(&TOOL_LLM, &what, &line->err);
}

static inline void line_done(struct line *line)
{
    targets_done(&line->targets);
    arena_done(&line->arena);
}

static inline void line_accept(struct line *line, char *const *words)
{
    line_read(line, words);
    if (line->status != AS_OK)
        fail_msg("refused: %s", line->err.message);
}

static inline void line_refuse(char *const *words, const char *sentence)
{
    struct line line;
    line_read(&line, words);
    assert_int_equal(line.status, AS_E_USAGE);
    assert_string_equal(line.err.message, sentence);
    line_done(&line);
}

#endif
