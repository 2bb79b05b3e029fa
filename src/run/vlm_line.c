/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"

static const struct opt_mode MODES[] = {
    {RUN_CLOSED, RUN_CLOSED | RUN_OPEN, "a closed loop", "no --request-rate, or inf with a concurrency"},
    {RUN_OPEN, RUN_CLOSED | RUN_OPEN, "an open loop", "--request-rate R"},
    {RUN_STREAM, RUN_STREAM | RUN_WHOLE, "streaming", "--streaming"},
    {RUN_WHOLE, RUN_STREAM | RUN_WHOLE, "a run without streaming", "no --streaming"},
    {RUN_ONE_SERVER, RUN_ONE_SERVER | RUN_MANY_SERVERS, "a run with one server", "one --url"},
    {RUN_MANY_SERVERS, RUN_ONE_SERVER | RUN_MANY_SERVERS, "a run with several servers",
     "several --url or --endpoints-file"},
    {RUN_TLS, RUN_TLS | RUN_PLAIN, "a run over TLS", "an https:// URL"},
    {RUN_PLAIN, RUN_TLS | RUN_PLAIN, "a run without TLS", "no https:// URL"},
    {RUN_VLLM_BLOCK, RUN_VLLM_BLOCK | RUN_OTHER_CONSOLE, "a run with the vLLM block", "--console vllm"},
    {RUN_OTHER_CONSOLE, RUN_VLLM_BLOCK | RUN_OTHER_CONSOLE, "a run with another output", "--console is not vllm"},
    {RUN_LOSSY_IMAGES, RUN_LOSSY_IMAGES | RUN_PLAIN_IMAGES, "a run that may encode JPEG or WebP",
     "--image-format jpeg or webp, or --max-image-dimension"},
    {RUN_PLAIN_IMAGES, RUN_LOSSY_IMAGES | RUN_PLAIN_IMAGES, "a run that encodes neither JPEG nor WebP",
     "no --max-image-dimension, or --image-format png"},
};

static const struct opt_table *const TABLES[] = {
    &ENDPOINT_TABLE,   &BALANCE_TABLE, &MODEL_TABLE,    &REQUEST_TABLE, &IMAGE_PROMPT_TABLE, &IMAGE_TABLE, &LOAD_TABLE,
    &CONNECTION_TABLE, &CONSOLE_TABLE, &DATA_LOG_TABLE, &CONTENT_TABLE, &GAPS_TABLE,         &RESULT_TABLE};

const struct opt_command VLM_LINE = {
    .name = "vlm",
    .summary = "Measure text generation about images of OpenAI-compatible servers",
    .description = "As `assay llm`, with one or several images in every request. Images are read, checked, resized "
                   "where asked for and encoded before "
                   "the run, by several threads; a latency never holds any of it.\n\n"
                   "An image that cannot be used (missing, no image, cut, too large) refuses the requests that need "
                   "it, with its reason in their records; "
                   "the run goes on.\n\n"
                   "Results: those of `assay llm`; the summary and each record have a block `vlm`.",
    .tables = TABLES,
    .table_count = sizeof TABLES / sizeof TABLES[0],
    .foreign = RUN_FOREIGN_CHAT,
    .modes = MODES,
    .mode_count = sizeof MODES / sizeof MODES[0],
    .exits = RUN_EXITS,
    .exit_count = RUN_EXIT_COUNT,
    .examples = "  assay vlm --url http://127.0.0.1:8000 --prompts prompts.jsonl --streaming --concurrency 8 "
                "--num-requests 200\n"
                "  assay vlm --url http://127.0.0.1:8000 --prompts prompts.jsonl --max-image-dimension 1024 "
                "--image-detail low --streaming\n"
                "  assay vlm --url http://127.0.0.1:8000 --prompts urls.jsonl --server-side-download --request-rate 2 "
                "--duration 60\n",
};
