/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/internal.h"

#include "base/file.h"
#include "brief/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const FORMATS[] = {"yaml", "json", NULL};
#define AT(field) .at = offsetof(struct convert_options, field)
static const struct opt CONVERT_OPTIONS[] = {
    {.name = "workload-generator",
     .type = OPT_STRING,
     AT(generator),
     .group = "Results",
     .value = "GENERATOR",
     .initial = "vllm-benchmark",
     .initial_note = "assay report convert recognises what made the results",
     .sentence = "What made the results: aiperf, guidellm, inferencemax, inference-perf, vllm-benchmark, nop or assay "
                 "(also -w)."},
    {.name = "session",
     .type = OPT_FLAG,
     AT(is_session),
     .group = "Results",
     .sentence = "The results are a session lifecycle file of inference-perf (also -s)."},
    {.name = "index",
     .type = OPT_INT,
     AT(index),
     .group = "Results",
     .initial_note = "all",
     .min = -1e9,
     .max = 1e9,
     .sentence = "Convert only the benchmark at this index of a guidellm file (also -i)."},
    {.name = "br-version",
     .type = OPT_STRING,
     AT(version),
     .group = "Report",
     .value = "VERSION",
     .initial_note = "0.1; for assay 0.2.1",
     .example = "0.2",
     .sentence = "Version of the report: 0.1, or 0.2 and 0.2.1, which both give 0.2.1 (also -b)."},
    {.name = "run-description",
     .type = OPT_STRING,
     AT(description),
     .group = "Report",
     .initial_note = "LLMDBENCH_DESCRIPTION_TEXT, else made from model and experiment",
     .example = "\"my run\"",
     .sentence = "Label of the run, used as it is."},
    {.name = "run-keywords",
     .type = OPT_STRING,
     AT(keywords),
     .group = "Report",
     .initial_note = "LLMDBENCH_DESCRIPTION_KEYWORDS, else none",
     .example = "a,b",
     .sentence = "Tags of the run, separated by commas."},
    {.name = "force",
     .type = OPT_FLAG,
     AT(overwrites),
     .group = "Output",
     .sentence = "Overwrite an output file that exists (also -f)."},
    {.name = "format",
     .type = OPT_ENUM,
     AT(format),
     .group = "Output",
     .choices = FORMATS,
     .initial = "yaml",
     .sentence = "How the report is written, whatever the name of the output file."},
    {.name = "json-schema",
     .type = OPT_FLAG,
     AT(wants_schema),
     .group = "Output",
     .sentence = "Print the JSON Schema of the report version and do nothing else (also -j)."},
};
static const struct opt_table CONVERT_TABLE = OPT_TABLE(CONVERT_OPTIONS, 0);
static const struct opt_table *const CONVERT_TABLES[] = {&CONVERT_TABLE};
static const struct reports_letter LETTERS[] = {
    {'w', true, "workload-generator"}, {'b', true, "br-version"},   {'i', true, "index"}, {'f', false, "force"},
    {'s', false, "session"},           {'j', false, "json-schema"}, {'h', false, "help"}, {'\0', false, NULL}};
static const struct opt_exit EXITS[] = {
    {0, "Done; warnings are on stderr."},
    {1, "The results cannot be converted, the report version or generator is unknown, or an output file exists."},
    {2, "The command line is wrong, or the results file does not exist."},
};

const struct opt_command reports_convert_line = {
    .name = "report convert",
    .summary = "Make benchmark reports of a load generator's results",
    .description =
        "Reads the native results file of a load generator and writes a benchmark report, to stdout when no output "
        "file is given. Members "
        "that the results lack are left out with a warning where the format allows it.\n\n"
        "A guidellm file holds several benchmarks: they are written to OUTPUT with _0, _1, … before the extension, or "
        "one after the other "
        "to stdout, each after a comment \"# Benchmark N of M\".\n\n"
        "Not under the name benchmark-report: without -w what made the results is recognised, and RESULTS may be a "
        "folder. That of one of our runs stands for the summary.json in it; else every inference-perf stage and "
        "session "
        "file in it is converted to benchmark_report,_NAME.yaml (0.1) or benchmark_report_v0.2,_NAME.yaml beside it, "
        "or in "
        "the folder OUTPUT.\n\n"
        "Variables: LLMDBENCH_RUN_EXPERIMENT_ID, LLMDBENCH_RUN_EXPERIMENT_RESULTS_DIR, LLMDBENCH_DESCRIPTION_TEXT, "
        "LLMDBENCH_DESCRIPTION_KEYWORDS, "
        "LLMDBENCH_TREATMENT_NAME, LLMDBENCH_TREATMENT_GROUP, LLMDBENCH_TREATMENT_CONCURRENT_WITH; with "
        "LLMDBENCH_MAGIC_ENVAR the LLMDBENCH_HARNESS_ ones too.",
    .operands = "RESULTS [OUTPUT]",
    .tables = CONVERT_TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "  benchmark-report -w inference-perf -b 0.2 stage_0_lifecycle_metrics.json benchmark_report_v02.yaml\n"
                "  benchmark-report -w guidellm -b 0.2 -i 0 results.json benchmark_report.yaml\n"
                "  assay report convert -w assay summary.json\n",
    .is_command_line_only = true,
};

void reports_call_init(struct reports_call *call, int argc, char **argv, const char *program)
{
    *call = (struct reports_call){.argc = argc, .argv = argv, .program = program};
    strbuf_init(&call->out, 0);
    strbuf_init(&call->err, 0);
}

void reports_call_done(struct reports_call *call)
{
    strbuf_done(&call->out);
    strbuf_done(&call->err);
}

int reports_fail(struct reports_call *call, int code, const char *fmt, ...)
{
    char line[1200];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    text_one_line(line);
    strbuf_addf(&call->err, "%s: %s\n", call->program, line);
    return code;
}

int reports_output_exists(struct reports_call *call, const char *path)
{
    strbuf_addf(&call->err, "Output file already exists: %s\n", path);
    return REPORTS_EXIT_FAILED;
}

const char *reports_version(const struct convert_options *options)
{
    if (options->version)
        return options->version;
    return strcmp(options->generator, "assay") == 0 && !options->is_session ? "0.2.1" : "0.1";
}

static struct opt_command upstream_line(void)
{
    struct opt_command line = reports_convert_line;
    line.name = REPORTS_UPSTREAM_NAME;
    line.is_own_program = true;
    return line;
}

void reports_man(const char *version, struct strbuf *out)
{
    const struct opt_command line = upstream_line();
    options_man(&line, version, out);
}

static int check_input(const struct convert_job *job, bool *ret_is_folder)
{
    struct stat facts;
    *ret_is_folder = false;
    if (stat(job->input, &facts) != 0) {
        strbuf_addf(&job->call->err, "File does not exist: %s\n", job->input);
        return REPORTS_EXIT_USAGE;
    }
    *ret_is_folder = S_ISDIR(facts.st_mode) && strcmp(job->call->program, REPORTS_UPSTREAM_NAME) != 0;
    if (S_ISREG(facts.st_mode) || *ret_is_folder)
        return 0;
    strbuf_addf(&job->call->err, "Not a regular file: %s\n", job->input);
    return REPORTS_EXIT_USAGE;
}

bool reports_hint(const struct convert_job *job)
{
    const struct convert_kind kind = convert_recognise(job->input);
    const char *asked = job->is_session ? "inference-perf" : job->options->generator;
    if (!kind.generator || (kind.is_session == job->is_session && strcmp(kind.generator, asked) == 0))
        return false;
    strbuf_addf(&job->call->err, "  the results look like those of another generator: -w %s%s\n", kind.generator,
                kind.is_session ? " -s" : "");
    return true;
}

/* Without -w (but under the other tool's name) what made the results is recognised, where it can be. */
static void choose_generator(struct convert_job *job, struct convert_options *options)
{
    if (options->has_generator || options->is_session || strcmp(job->call->program, REPORTS_UPSTREAM_NAME) == 0)
        return;
    const struct convert_kind kind = convert_recognise(job->input);
    if (!kind.generator)
        return;
    options->generator = kind.generator;
    options->is_session = job->is_session = kind.is_session;
}

/* The folder of one of our runs stands for the summary in it: ret_path is that, "" when it is no such folder. */
static void find_summary(const struct convert_job *job, const struct convert_options *options,
                         char ret_path[PATH_BYTES])
{
    bool is_ours = strcmp(options->generator, "assay") == 0;
    int len = snprintf(ret_path, PATH_BYTES, "%s/summary.json", job->input);
    if (len < 0 || len >= PATH_BYTES || (options->has_generator && !is_ours) || !file_exists(ret_path))
        ret_path[0] = '\0';
}

static int convert_input(struct convert_job *job, struct convert_options *options, bool is_folder)
{
    if (!is_folder)
        choose_generator(job, options);
    if (job->output && !is_folder && !options->overwrites && file_exists(job->output))
        return reports_output_exists(job->call, job->output);
    if (!options->is_session && !convert_is_generator(options->generator)) {
        strbuf_addf(&job->call->err, "Unsupported workload generator: %s\nSupported:", options->generator);
        for (const char *const *name = convert_generators; *name; name++)
            strbuf_addf(&job->call->err, " %s", *name);
        strbuf_addc(&job->call->err, '\n');
        return REPORTS_EXIT_FAILED;
    }
    if (is_folder && strcmp(options->generator, "inference-perf") != 0)
        return reports_fail(job->call, REPORTS_EXIT_FAILED,
                            strcmp(options->generator, "assay") == 0
                                ? "%s: no summary.json of a run in it"
                                : "%s: is a folder; of %s results the file has to be named",
                            job->input, options->generator);
    return is_folder ? reports_convert_folder(job) : reports_convert_file(job);
}

/* The checks in the order of the tool whose command line this is. */
static int convert_operands(const struct convert_job *job, const struct opt_parsed *parsed)
{
    struct convert_job own = *job;
    struct convert_options options = *job->options;
    char summary[PATH_BYTES];
    bool is_folder;
    const char *version = reports_version(job->options);
    if (!model_find(version)) {
        strbuf_addf(&job->call->err, "Invalid benchmark report version: %s\n", version);
        return REPORTS_EXIT_FAILED;
    }
    if (job->options->wants_schema) {
        schema_write(model_find(version), &job->call->out);
        return 0;
    }
    if (parsed->operand_count == 0 || parsed->operand_count > 2)
        return reports_fail(job->call, REPORTS_EXIT_USAGE,
                            "needs a results file and at most one output file; --help explains");
    own.input = parsed->operands[0];
    own.output = parsed->operand_count > 1 ? parsed->operands[1] : NULL;
    own.options = &options;
    options.has_generator = options_is_given(parsed, "workload-generator");
    int exit_code = check_input(&own, &is_folder);
    if (exit_code != 0)
        return exit_code;
    if (is_folder)
        find_summary(&own, &options, summary);
    if (is_folder && summary[0]) {
        own.input = summary;
        is_folder = false;
    } else if (is_folder && !options.has_generator) {
        options.generator = "inference-perf";
    }
    return convert_input(&own, &options, is_folder);
}

int reports_convert(struct reports_call *call)
{
    struct arena arena;
    struct convert_options options = {0};
    struct opt_parsed parsed;
    struct as_error err = {0};
    int exit_code = 0;
    arena_init(&arena, 0, 0);
    bool is_rewritten = reports_long_form(call, &reports_convert_line, LETTERS, &arena);
    const struct opt_input input = {call->argc, call->argv, NULL, &options, &arena};
    const struct opt_command line =
        strcmp(call->program, REPORTS_UPSTREAM_NAME) == 0 ? upstream_line() : reports_convert_line;
    struct convert_job job = {call, &options, NULL, NULL, false};
    if (!is_rewritten || options_read(&line, &input, &parsed, &err) != AS_OK) {
        exit_code = reports_fail(call, REPORTS_EXIT_USAGE, "%s", err.message);
    } else if (parsed.wants_help) {
        call->help = &reports_convert_line;
    } else {
        job.is_session = options.is_session;
        exit_code = convert_operands(&job, &parsed);
    }
    arena_done(&arena);
    return exit_code;
}
