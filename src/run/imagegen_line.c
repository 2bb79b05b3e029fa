/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"

static const struct opt_mode MODES[] = {
    {RUN_CLOSED, RUN_CLOSED | RUN_OPEN, "a closed loop", "no --request-rate, or inf with a concurrency"},
    {RUN_OPEN, RUN_CLOSED | RUN_OPEN, "an open loop", "--request-rate R"},
    {RUN_ONE_SERVER, RUN_ONE_SERVER | RUN_MANY_SERVERS, "a run with one server", "one --url"},
    {RUN_MANY_SERVERS, RUN_ONE_SERVER | RUN_MANY_SERVERS, "a run with several servers",
     "several --url or --endpoints-file"},
    {RUN_TLS, RUN_TLS | RUN_PLAIN, "a run over TLS", "an https:// URL"},
    {RUN_PLAIN, RUN_TLS | RUN_PLAIN, "a run without TLS", "no https:// URL"},
    {RUN_KEPT_FILES, RUN_KEPT_FILES | RUN_NO_FILES, "a run that saves images or answers",
     "no --no-save-images, or --save-response-json"},
    {RUN_NO_FILES, RUN_KEPT_FILES | RUN_NO_FILES, "a run that saves neither images nor answers",
     "--no-save-images without --save-response-json"},
};

static const struct opt_table *const TABLES[] = {&ENDPOINT_TABLE,      &EVEN_BALANCE_TABLE,    &MODEL_TABLE,
                                                 &IMAGEGEN_TEXT_TABLE, &IMAGEGEN_PROMPT_TABLE, &IMAGEGEN_TABLE,
                                                 &LOAD_TABLE,          &CONNECTION_TABLE,      &PLAIN_CONSOLE_TABLE,
                                                 &ARTIFACT_TABLE,      &RESULT_TABLE};

const struct opt_command IMAGEGEN_LINE = {
    .name = "imagegen",
    .summary = "Measure image generation of OpenAI-compatible servers",
    .description =
        "Asks one or several servers for images in a closed loop (--concurrency) or at planned times (--request-rate). "
        "Images are decoded, "
        "checked, hashed and saved by threads of their own after a request has ended: no latency holds any of it.\n\n"
        "Results: requests.jsonl (a record a request), summary.json, data.jsonl (the summary in one line), run.json, "
        "command.txt, request.http (the first request as sent) and the "
        "folder artifacts in the result folder; the summary and each record have a block `imagegen`.\n\n"
        "`assay imagegen verify FOLDER` hashes the images of a run again, `assay imagegen compare A B` says which "
        "images two runs share; each "
        "explains itself with --help.",
    .tables = TABLES,
    .table_count = sizeof TABLES / sizeof TABLES[0],
    .foreign = RUN_FOREIGN_COMMON,
    .modes = MODES,
    .mode_count = sizeof MODES / sizeof MODES[0],
    .exits = RUN_EXITS,
    .exit_count = RUN_EXIT_COUNT,
    .examples = "  assay imagegen --url http://127.0.0.1:8000 --model flux --prompt \"a lighthouse\" --size 512x512 "
                "--num-requests 8\n"
                "  assay imagegen --endpoint http://gpu-0:8000 --endpoint http://gpu-1:8000 --load-balancer "
                "least-inflight --concurrency 4 \\\n"
                "    --model flux --prompts prompts.jsonl --request-seed 1 --retries 2 --endpoint-health-check\n",
};
