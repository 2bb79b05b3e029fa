/* SPDX-License-Identifier: Apache-2.0 */
#include "run/summarize_options.h"

#include "run/exits.h"

static const char *const CONSOLES[] = {"table", "json", "none", "vllm", NULL};
#define AT(field) .at = offsetof(struct summarize_config, field), .group = "Results"
static const struct opt OPTIONS[] = {
    {.name = "output", .type = OPT_FILE, AT(output), .example = "summary.json", 
     .sentence = "Write the summary as JSON to this file, in place of an older one; - is standard output, in place of what --console prints."},
    {.name = "data-log", .type = OPT_FILE, AT(data_log), .example = "results.jsonl", 
     .sentence = "Append the one-line summary to this file; - is standard output, in place of what --console prints."},
    {.name = "console", .type = OPT_ENUM, AT(console), .choices = CONSOLES, .initial = "table",
     .sentence = "What to print: a table, the block of vLLM's benchmark, the summary as JSON, nothing."},
    {.name = "fail-on-error", .type = OPT_FLAG, AT(fail_on_error), .sentence = "Exit status 1 when a measured request failed."},
    {.name = "require-valid", .type = OPT_FLAG, AT(require_valid), .sentence = "Exit status 3 when the run is not valid."},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_exit EXITS[] = {
    {0, "The summary was made."},
    {RUN_EXIT_ERRORS, "With --fail-on-error: a measured request failed, timed out or was refused."},
    {2, "The command line is wrong."},
    {RUN_EXIT_INVALID, "With --require-valid: the run is not valid; the summary says why."},
    {65, "A record or run.json is damaged; file and line are named."},
    {66, "There is no such file, or no records in the folder."},
    {74, "A file could not be read or written."},
};
const struct opt_command SUMMARIZE_LINE = {
    .name = "summarize",
    .summary = "Make a summary again from records: after a crash, or of several shards",
    .description = "Reads requests.jsonl files, or result folders with what a killed run left in its journal, and makes the summary that the run "
                   "itself makes. Several inputs are shards of one plan. Nothing that was read is changed.",
    .operands = "FILE|FOLDER…",
    .tables = TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  assay summarize assay-results/llm-20261130T190533Z-quiet-otter-3f2a\n"
                "  assay summarize shard-0/requests.jsonl shard-1/requests.jsonl --output summary.json\n",
};
