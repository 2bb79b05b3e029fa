/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"
#include "workload/imagegen_prompts.h"

static as_status check_size(const char *text, struct as_error *err)
{
    return imagegen_size_is_sound(text) ? AS_OK : error_set(err, AS_E_USAGE, "is neither WIDTHxHEIGHT nor auto");
}

static as_status check_text(const char *text, struct as_error *err)
{
    return *text ? AS_OK : error_set(err, AS_E_USAGE, "is empty");
}

static as_status check_path(const char *text, struct as_error *err)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= 0x20 || *at == 0x7f)
            return error_set(err, AS_E_USAGE, "holds white space or a control character");
    return text[0] == '/' ? AS_OK : error_set(err, AS_E_USAGE, "does not begin with /");
}

static const char *const FORMATS[] = {"b64_json", "url", NULL};
static const char *const SEED_MODES[] = {"increment", "fixed", "prompt", NULL};

#define AT(field) .at = offsetof(struct imagegen_config, field)
#define GROUP     .group = "Requests"

static const struct opt OPTIONS[] = {
    {.name = "images-per-request",
     .aliases = "n",
     .type = OPT_INT,
     AT(count),
     GROUP,
     .initial = "1",
     .min = 1,
     .max = 1024,
     .sentence = "Images asked for in one request (n); a line's own n goes before it."},
    {.name = "size",
     .type = OPT_STRING,
     AT(size),
     GROUP,
     .value = "WxH",
     .initial = "1024x1024",
     .check = check_size,
     .allowed = "WIDTHxHEIGHT, or auto",
     .example = "512x512",
     .sentence = "Size asked for; a line's own size goes before it."},
    {.name = "response-format",
     .type = OPT_ENUM,
     AT(format),
     GROUP,
     .choices = FORMATS,
     .initial = "b64_json",
     .sentence = "How images are to come: in the answer, or as links, which are counted and not fetched."},
    {.name = "negative-prompt",
     .type = OPT_STRING,
     AT(negative_prompt),
     GROUP,
     .value = "TEXT",
     .example = "\"blurred, text\"",
     .initial_note = "not sent",
     .sentence = "What the images are not to show; a line's own goes before it."},
    {.name = "num-inference-steps",
     .type = OPT_INT,
     AT(steps),
     GROUP,
     .min = 1,
     .max = 100000,
     .example = "28",
     .initial_note = "not sent: the server decides",
     .sentence = "Denoising steps."},
    {.name = "guidance-scale",
     .type = OPT_DOUBLE,
     AT(guidance_scale),
     GROUP,
     .min = 0,
     .max = 1000,
     .example = "3.5",
     .initial_note = "not sent: the server decides",
     .sentence = "Weight of the prompt."},
    {.name = "request-seed",
     .type = OPT_INT,
     AT(seed),
     GROUP,
     .example = "1",
     .min = -9007199254740991,
     .max = 9007199254740991,
     .initial_note = "not sent",
     .sentence = "Seed of the server's generation, see --seed-mode; a line's own seed goes before it."},
    {.name = "seed-mode",
     .type = OPT_ENUM,
     AT(seed_mode),
     GROUP,
     .choices = SEED_MODES,
     .initial = "increment",
     .needs = "request-seed",
     .sentence = "Seed of each request: increment adds the number of the request, fixed sends the same one, prompt "
                 "adds the number of the "
                 "prompt in its file."},
    {.name = "extra-body",
     .type = OPT_JSON,
     AT(extra_body),
     GROUP,
     .sentence = "JSON object whose members are added to every body, in place of ours of the same name."},
    {.name = "endpoint-health-check",
     .type = OPT_FLAG,
     AT(health_check),
     .group = "Checks",
     .sentence =
         "Ask every server for --endpoint-health-path before the run; one that does not answer 2xx refuses it."},
    {.name = "endpoint-health-path",
     .type = OPT_STRING,
     AT(health_path),
     .group = "Checks",
     .value = "PATH",
     .initial = "/health",
     .check = check_path,
     .allowed = "a path that begins with /",
     .example = "/v1/models",
     .needs = "endpoint-health-check",
     .sentence = "Path on the server that is asked, from its root."},
};
const struct opt_table IMAGEGEN_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, imagegen));

static const struct opt TEXT_OPTIONS[] = {
    {.name = "prompt",
     .type = OPT_STRING,
     AT(prompt),
     .group = "Prompts",
     .value = "TEXT",
     .check = check_text,
     .allowed = "a text",
     .example = "\"a lighthouse\"",
     .conflicts = "prompts",
     .sentence = "One prompt for all requests."},
};
const struct opt_table IMAGEGEN_TEXT_TABLE = OPT_TABLE(TEXT_OPTIONS, offsetof(struct run_config, imagegen));

static const struct opt PROMPT_OPTIONS[] = {
    {.name = "prompts",
     .type = OPT_FILE,
     .at = offsetof(struct prompt_config, source),
     .group = "Prompts",
     .value = "FILE|URL",
     .secrecy = OPT_URL,
     .example = "prompts.jsonl",
     .sentence = "JSONL file or http(s) URL, - for standard input: `prompt` a line, optional `id`, `size`, "
                 "`negative_prompt`, `seed` and `n`. "
                 "Shuffled with --seed, then taken in a cycle."},
    {.name = "skip-bad-lines",
     .type = OPT_FLAG,
     .at = offsetof(struct prompt_config, skip_bad_lines),
     .group = "Prompts",
     .needs = "prompts",
     .sentence = "Count and report lines that cannot be used instead of refusing the file."},
};
const struct opt_table IMAGEGEN_PROMPT_TABLE = OPT_TABLE(PROMPT_OPTIONS, offsetof(struct run_config, prompt));

#undef GROUP
#define GROUP .group = "Results"

static const struct opt ARTIFACT_OPTIONS[] = {
    {.name = "data-log",
     .type = OPT_FILE,
     AT(data_log),
     GROUP,
     .example = "requests.jsonl",
     .sentence = "Append the records, one line a request, to this file too."},
    {.name = "summary",
     .type = OPT_FILE,
     AT(summary),
     GROUP,
     .example = "summary.json",
     .sentence = "Write the summary to this file too, in place of an older one."},
    {.name = "artifact-dir",
     .type = OPT_FILE,
     AT(folder),
     GROUP,
     .value = "FOLDER",
     .example = "images",
     .initial_note = "artifacts in the result folder",
     .modes = RUN_KEPT_FILES,
     .sentence = "Folder for images and answers; it must be empty or new."},
    {.name = "save-images",
     .type = OPT_FLAG,
     AT(save_images),
     GROUP,
     .initial = "true",
     .sentence = "Save every image. Without it they are decoded, measured and hashed all the same."},
    {.name = "save-response-json",
     .type = OPT_FLAG,
     AT(save_responses),
     GROUP,
     .sentence = "Save every answer as it came, those of failed requests up to 64 KiB."},
    {.name = "overwrite-artifacts",
     .type = OPT_FLAG,
     AT(overwrite),
     GROUP,
     .modes = RUN_KEPT_FILES,
     .sentence = "Use an artifact folder that is not empty, and replace files of the same name."},
    {.name = "artifact-threads",
     .type = OPT_INT,
     AT(threads),
     GROUP,
     .min = 1,
     .max = 64,
     .example = "2",
     .initial_note = "half of the processors, at most 8",
     .sentence = "Threads that decode, check and save images, beside those that send."},
    {.name = "artifact-memory",
     .type = OPT_SIZE,
     AT(memory_bytes),
     GROUP,
     .initial = "512MiB",
     .min = 1,
     .max = 1e13,
     .sentence =
         "Memory for answers that wait to be decoded. When it is full, sending waits, and the run is not valid."},
    {.name = "max-answer-bytes",
     .type = OPT_SIZE,
     AT(max_answer_bytes),
     GROUP,
     .initial = "256MiB",
     .min = 1024,
     .max = 4e9,
     .sentence = "Largest answer that is read; a larger one fails its request."},
    {.name = "max-image-pixels",
     .type = OPT_INT,
     AT(max_pixels),
     GROUP,
     .initial = "100000000",
     .min = 1,
     .max = 1e9,
     .sentence = "Largest image that is decoded, width × height."},
};
const struct opt_table ARTIFACT_TABLE = OPT_TABLE(ARTIFACT_OPTIONS, offsetof(struct run_config, imagegen));
