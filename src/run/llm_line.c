/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"
#include "run/exits.h"

#define AXIS_LOOP (RUN_CLOSED | RUN_OPEN)
#define AXIS_API (RUN_API_CHAT | RUN_API_COMPLETION)
#define AXIS_ANSWER (RUN_STREAM | RUN_WHOLE)
#define AXIS_PROMPTS (RUN_FROM_FILE | RUN_SYNTHETIC)
#define AXIS_SERVERS (RUN_ONE_SERVER | RUN_MANY_SERVERS)
#define AXIS_TLS (RUN_TLS | RUN_PLAIN)
#define AXIS_CONSOLE (RUN_VLLM_BLOCK | RUN_OTHER_CONSOLE)

static const struct opt_mode MODES[] = {
    {RUN_CLOSED, AXIS_LOOP, "a closed loop", "no --request-rate, or inf with a concurrency"},
    {RUN_OPEN, AXIS_LOOP, "an open loop", "--request-rate R"},
    {RUN_API_CHAT, AXIS_API, "chat mode", "--mode chat"},
    {RUN_API_COMPLETION, AXIS_API, "completion mode", "--mode completion"},
    {RUN_STREAM, AXIS_ANSWER, "streaming", "--streaming"},
    {RUN_WHOLE, AXIS_ANSWER, "a run without streaming", "no --streaming"},
    {RUN_FROM_FILE, AXIS_PROMPTS, "a run with a prompt file", "--prompts FILE"},
    {RUN_SYNTHETIC, AXIS_PROMPTS, "a run with generated prompts", "--synthetic-isl N"},
    {RUN_ONE_SERVER, AXIS_SERVERS, "a run with one server", "one --url"},
    {RUN_MANY_SERVERS, AXIS_SERVERS, "a run with several servers", "several --url or --endpoints-file"},
    {RUN_TLS, AXIS_TLS, "a run over TLS", "an https:// URL"},
    {RUN_PLAIN, AXIS_TLS, "a run without TLS", "no https:// URL"},
    {RUN_VLLM_BLOCK, AXIS_CONSOLE, "a run with the vLLM block", "--console vllm"},
    {RUN_OTHER_CONSOLE, AXIS_CONSOLE, "a run with another output", "--console is not vllm"},
};

const struct opt_exit RUN_EXITS[RUN_EXIT_COUNT] = {
    {0, "The run was done and its summary written, whatever the requests' outcomes."},
    {RUN_EXIT_ERRORS, "With --fail-on-error: a measured request failed, timed out or was refused."},
    {2, "The command line, environment or job file is wrong; nothing was sent."},
    {RUN_EXIT_INVALID, "With --require-valid: the run is not valid; the summary says why."},
    {RUN_EXIT_PREFLIGHT, "A check before the run refused it (clock more than 1 s off, too few descriptors or ports); the summary has counts of 0."},
    {65, "An input (prompts, endpoints file, key file) is damaged or too large."},
    {66, "A file was not found."},
    {69, "A server could not be reached before the run (model list, calibration, prompt download, name look-up)."},
    {70, "Out of memory, or an identity of the summary does not hold."},
    {73, "The result folder holds a run already."},
    {74, "A file could not be read or written."},
    {130, "Stopped by SIGINT (143: SIGTERM): the summary is marked partial. A second signal ends the run at once."},
};

static const struct opt_table *const TABLES[] = {&ENDPOINT_TABLE, &BALANCE_TABLE, &MODEL_TABLE,      &API_TABLE,     &REQUEST_TABLE,
                                                 &PROMPT_TABLE,   &LOAD_TABLE,    &CONNECTION_TABLE, &CONSOLE_TABLE, &DATA_LOG_TABLE,
                                                 &CONTENT_TABLE,  &GAPS_TABLE,    &RESULT_TABLE};

const struct opt_command LLM_LINE = {
    .name = "llm",
    .summary = "Measure text generation of OpenAI-compatible servers",
    .description =
        "Sends prompts to one or several servers in a closed loop (--concurrency) or at planned times (--request-rate), times "
        "every answer by the kernel's receive stamps, and writes a summary that says how far its numbers can be trusted.\n\n"
        "Results: requests.jsonl (a record a request), summary.json, data.jsonl (the summary in one line), run.json, command.txt and request.http (the first request "
        "as sent) in the result folder.",
    .tables = TABLES,
    .table_count = sizeof TABLES / sizeof TABLES[0],
    .foreign = RUN_FOREIGN,
    .modes = MODES,
    .mode_count = sizeof MODES / sizeof MODES[0],
    .exits = RUN_EXITS,
    .exit_count = sizeof RUN_EXITS / sizeof RUN_EXITS[0],
    .examples = "  assay llm --url http://127.0.0.1:8000 --prompts prompts.jsonl --streaming --concurrency 8 --num-requests 200\n"
                "  assay llm --url http://127.0.0.1:8000 --synthetic-isl 512 --synthetic-osl 128 --streaming --request-rate 4 --duration 60\n"
                "  assay llm --job nightly.yaml --concurrency 32\n",
};
