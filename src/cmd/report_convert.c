/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "brief/convert.h"
#include "brief/schema.h"
#include "cmd/report_line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_FAILED 1
#define EXIT_USAGE  2
#define PATH_BYTES  4096

struct convert_options {
    const char *generator, *version, *description, *keywords;
    int64_t index;
    int format;
    bool overwrites, is_session, wants_schema;
};

static const char *const FORMATS[] = {"yaml", "json", NULL};
#define AT(field) .at = offsetof(struct convert_options, field)
static const struct opt CONVERT_OPTIONS[] = {
    {.name = "workload-generator", .type = OPT_STRING, AT(generator), .group = "Results", .value = "GENERATOR", .initial = "vllm-benchmark",
     .sentence = "What made the results: aiperf, guidellm, inferencemax, inference-perf, vllm-benchmark, nop or assay (also -w)."},
    {.name = "session", .type = OPT_FLAG, AT(is_session), .group = "Results",
     .sentence = "The results are a session lifecycle file of inference-perf (also -s)."},
    {.name = "index", .type = OPT_INT, AT(index), .group = "Results", .initial_note = "all", .min = -1e9, .max = 1e9,
     .sentence = "Convert only the benchmark at this index of a guidellm file (also -i)."},
    {.name = "br-version", .type = OPT_STRING, AT(version), .group = "Report", .value = "VERSION", .initial_note = "0.1; for assay 0.2.1", .example = "0.2",
     .sentence = "Version of the report: 0.1, or 0.2 and 0.2.1, which both give 0.2.1 (also -b)."},
    {.name = "run-description", .type = OPT_STRING, AT(description), .group = "Report", .initial_note = "LLMDBENCH_DESCRIPTION_TEXT, else made from model and experiment", .example = "\"my run\"",
     .sentence = "Label of the run, used as it is."},
    {.name = "run-keywords", .type = OPT_STRING, AT(keywords), .group = "Report", .initial_note = "LLMDBENCH_DESCRIPTION_KEYWORDS, else none", .example = "a,b",
     .sentence = "Tags of the run, separated by commas."},
    {.name = "force", .type = OPT_FLAG, AT(overwrites), .group = "Output", .sentence = "Overwrite an output file that exists (also -f)."},
    {.name = "format", .type = OPT_ENUM, AT(format), .group = "Output", .choices = FORMATS, .initial = "yaml",
     .sentence = "How the report is written, whatever the name of the output file."},
    {.name = "json-schema", .type = OPT_FLAG, AT(wants_schema), .group = "Output",
     .sentence = "Print the JSON Schema of the report version and do nothing else (also -j)."},
};
static const struct opt_table CONVERT_TABLE = OPT_TABLE(CONVERT_OPTIONS, 0);
static const struct opt_table *const CONVERT_TABLES[] = {&CONVERT_TABLE};
static const struct report_letter LETTERS[] = {{'w', true, "workload-generator"}, {'b', true, "br-version"}, {'i', true, "index"}, {'f', false, "force"}, {'s', false, "session"}, {'j', false, "json-schema"}, {'h', false, "help"}, {'\0', false, NULL}};
static const struct opt_exit EXITS[] = {
    {0, "Done; warnings are on stderr."},
    {1, "The results cannot be converted, the report version or generator is unknown, or an output file exists."},
    {2, "The command line is wrong, or the results file does not exist."},
};

const struct opt_command report_convert_line = {
    .name = "report convert",
    .summary = "Make benchmark reports of a load generator's results",
    .description =
        "Reads the native results file of a load generator and writes a benchmark report, to stdout when no output file is given. Members "
        "that the results lack are left out with a warning where the format allows it.\n\n"
        "A guidellm file holds several benchmarks: they are written to OUTPUT with _0, _1, … before the extension, or one after the other "
        "to stdout, each after a comment \"# Benchmark N of M\".\n\n"
        "RESULTS may be a folder (not under the name benchmark-report): every inference-perf stage and session file in it is converted to "
        "benchmark_report,_NAME.yaml (0.1) or benchmark_report_v0.2,_NAME.yaml beside it, or in the folder OUTPUT.\n\n"
        "Variables: LLMDBENCH_RUN_EXPERIMENT_ID, LLMDBENCH_RUN_EXPERIMENT_RESULTS_DIR, LLMDBENCH_DESCRIPTION_TEXT, LLMDBENCH_DESCRIPTION_KEYWORDS, "
        "LLMDBENCH_TREATMENT_NAME, LLMDBENCH_TREATMENT_GROUP, LLMDBENCH_TREATMENT_CONCURRENT_WITH; with LLMDBENCH_MAGIC_ENVAR the LLMDBENCH_HARNESS_ ones too.",
    .operands = "RESULTS [OUTPUT]",
    .tables = CONVERT_TABLES,
    .table_count = 1,
    .exits = EXITS,
    .exit_count = sizeof EXITS / sizeof EXITS[0],
    .examples = "benchmark-report -w inference-perf -b 0.2 stage_0_lifecycle_metrics.json benchmark_report_v02.yaml\n"
                "benchmark-report -w guidellm -b 0.2 -i 0 results.json benchmark_report.yaml\n"
                "assay report convert -w assay summary.json",
};

struct conversion_job {
    const char *program;
    const struct convert_options *options;
    const char *input, *output;
    bool is_session;
};

static const char *process_variable(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

/* Existing devices and pipes are written to, files are replaced whole. */
static as_status write_output(const char *path, const struct strbuf *text, struct as_error *err)
{
    struct stat facts;
    if (lstat(path, &facts) != 0 || S_ISREG(facts.st_mode))
        return file_write_atomic(path, text->data, text->len, err);
    int fd = open(path, O_WRONLY | O_CLOEXEC | (S_ISLNK(facts.st_mode) ? O_TRUNC | O_CREAT : 0), 0666);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    as_status status = file_write_all(fd, text->data, text->len);
    if (close(fd) != 0 || status != AS_OK)
        return error_set_errno(err, errno, "%s", path);
    return AS_OK;
}

/* "report.yaml" and 1 make "report_1.yaml". */
static bool numbered_path(const char *path, size_t index, char ret[PATH_BYTES])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t stem = dot && dot != name ? (size_t)(dot - path) : strlen(path);
    int len = snprintf(ret, PATH_BYTES, "%.*s_%zu%s", (int)stem, path, index, path + stem);
    return len > 0 && len < PATH_BYTES;
}

static int output_exists(const char *path)
{
    fprintf(stderr, "Output file already exists: %s\n", path);
    return EXIT_FAILED;
}

static void format_report(const struct conversion_job *job, const struct brief_report *report, struct strbuf *out)
{
    if (job->options->format == 0) {
        brief_write_yaml(report, out);
        return;
    }
    brief_write_json(report, out);
    strbuf_addc(out, '\n');
}

static int write_report(const struct conversion_job *job, const struct conversion *conversion, size_t index, bool is_one_of_many)
{
    struct strbuf text AS_AUTO_STRBUF;
    char path[PATH_BYTES];
    struct as_error err = {0};
    strbuf_init(&text, 0);
    if (!job->output && is_one_of_many && job->options->format == 0)
        strbuf_addf(&text, "# Benchmark %zu of %zu\n", index + 1, conversion->count);
    format_report(job, &conversion->reports[index], &text);
    if (!job->output) {
        strbuf_addc(&text, '\n');
        return command_print("report", &text);
    }
    bool fits = is_one_of_many ? numbered_path(job->output, index, path) : snprintf(path, sizeof path, "%s", job->output) < (int)sizeof path;
    if (!fits)
        return report_fail(job->program, EXIT_FAILED, "the name of the output file is too long");
    if (is_one_of_many && !job->options->overwrites && file_exists(path))
        return output_exists(path);
    as_status status = strbuf_status(&text);
    if (status == AS_OK)
        status = write_output(path, &text, &err);
    return status == AS_OK ? 0 : report_fail(job->program, EXIT_FAILED, "%s", err.message[0] ? err.message : status_sentence(status));
}

static const char *version_of(const struct convert_options *options)
{
    if (options->version)
        return options->version;
    return strcmp(options->generator, "assay") == 0 && !options->is_session ? "0.2.1" : "0.1";
}

/* Problems beyond the first, which the message has. */
static void print_problems(const struct conversion *conversion)
{
    for (const struct problem *problem = conversion->problems.first ? conversion->problems.first->next : NULL; problem; problem = problem->next)
        fprintf(stderr, "  %s: %s\n", problem->path, problem->message);
}

static int convert_one(const struct conversion_job *job)
{
    const struct convert_options *options = job->options;
    const struct convert_request request = {.generator = options->generator, .version = version_of(options), .path = job->input, .is_session = job->is_session,
                                            .has_index = options->index != OPT_ABSENT, .index = options->index, .description = options->description,
                                            .keywords = options->keywords, .getenv = process_variable};
    struct conversion conversion;
    struct as_error err = {0};
    int exit_code = 0;
    conversion_init(&conversion);
    as_status status = convert_file(&request, &conversion, &err);
    fputs(strbuf_text(&conversion.warnings), stderr);
    if (status != AS_OK) {
        exit_code = report_fail(job->program, EXIT_FAILED, "%s", err.message[0] ? err.message : status_sentence(status));
        print_problems(&conversion);
    }
    bool is_many = strcmp(options->generator, "guidellm") == 0 && !job->is_session && !request.has_index;
    for (size_t i = 0; i < conversion.count && status == AS_OK && exit_code == 0; i++)
        exit_code = write_report(job, &conversion, i, is_many);
    conversion_done(&conversion);
    return exit_code;
}

/* "stage_3_lifecycle_metrics.json", "x_session_lifecycle_metrics.json". */
static bool is_result_name(const char *name, bool *ret_is_session)
{
    static const char session[] = "_session_lifecycle_metrics.json", stage[] = "_lifecycle_metrics.json";
    size_t len = strlen(name);
    *ret_is_session = len > strlen(session) && strcmp(name + len - strlen(session), session) == 0;
    return *ret_is_session || (strstr(name, "stage_") && len > strlen(stage) && strcmp(name + len - strlen(stage), stage) == 0);
}

static int filter_result(const struct dirent *entry)
{
    bool is_session;
    return is_result_name(entry->d_name, &is_session);
}

static int convert_entry(const struct conversion_job *job, const char *name)
{
    char input[PATH_BYTES], output[PATH_BYTES];
    struct conversion_job one = *job;
    bool is_old = strcmp(version_of(job->options), "0.1") == 0;
    int input_len = snprintf(input, sizeof input, "%s/%s", job->input, name);
    int output_len = snprintf(output, sizeof output, "%s/benchmark_report%s,_%s.yaml", job->output ? job->output : job->input, is_old ? "" : "_v0.2", name);
    if (input_len >= PATH_BYTES || output_len >= PATH_BYTES)
        return report_fail(job->program, EXIT_FAILED, "%s: the path is too long", name);
    (void)is_result_name(name, &one.is_session);
    one.input = input;
    one.output = output;
    if (!job->options->overwrites && file_exists(output))
        return output_exists(output);
    return convert_one(&one);
}

static int convert_folder(const struct conversion_job *job)
{
    struct dirent **entries = NULL;
    int count = scandir(job->input, &entries, filter_result, alphasort), exit_code = 0;
    if (count < 0)
        return report_fail(job->program, EXIT_USAGE, "%s: %s", job->input, strerror(errno));
    if (count == 0)
        exit_code = report_fail(job->program, EXIT_FAILED, "%s: no *stage_*_lifecycle_metrics.json and no *_session_lifecycle_metrics.json in it", job->input);
    for (int i = 0; i < count; i++) {
        int one = convert_entry(job, entries[i]->d_name);
        exit_code = one > exit_code ? one : exit_code;
        free(entries[i]);
    }
    free(entries);
    return exit_code;
}

static int check_input(const struct conversion_job *job, bool *ret_is_folder)
{
    struct stat facts;
    *ret_is_folder = false;
    if (stat(job->input, &facts) != 0) {
        fprintf(stderr, "File does not exist: %s\n", job->input);
        return EXIT_USAGE;
    }
    *ret_is_folder = S_ISDIR(facts.st_mode) && strcmp(job->program, "benchmark-report") != 0;
    if (S_ISREG(facts.st_mode) || *ret_is_folder)
        return 0;
    fprintf(stderr, "Not a regular file: %s\n", job->input);
    return EXIT_USAGE;
}

static int print_schema(const char *version)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    schema_write(model_find(version), &text);
    return command_print("report", &text);
}

/* The checks in the order of the tool whose command line this is. */
static int convert_operands(const struct conversion_job *job, const struct opt_parsed *parsed)
{
    struct conversion_job own = *job;
    struct convert_options options = *job->options;
    bool is_folder;
    const char *version = version_of(job->options);
    if (!model_find(version)) {
        fprintf(stderr, "Invalid benchmark report version: %s\n", version);
        return EXIT_FAILED;
    }
    if (job->options->wants_schema)
        return print_schema(version);
    if (parsed->operand_count == 0 || parsed->operand_count > 2)
        return report_fail(job->program, EXIT_USAGE, "needs a results file and at most one output file; --help explains");
    own.input = parsed->operands[0];
    own.output = parsed->operand_count > 1 ? parsed->operands[1] : NULL;
    own.options = &options;
    int exit_code = check_input(&own, &is_folder);
    if (exit_code != 0)
        return exit_code;
    if (is_folder && !options_is_given(parsed, "workload-generator"))
        options.generator = "inference-perf";
    if (own.output && !is_folder && !options.overwrites && file_exists(own.output))
        return output_exists(own.output);
    if (!options.is_session && !convert_is_generator(options.generator)) {
        fprintf(stderr, "Unsupported workload generator: %s\nSupported:", options.generator);
        for (const char *const *name = convert_generators; *name; name++)
            fprintf(stderr, " %s", *name);
        fputc('\n', stderr);
        return EXIT_FAILED;
    }
    return is_folder ? convert_folder(&own) : convert_one(&own);
}

int report_convert(int argc, char **argv, const char *program)
{
    struct arena arena;
    struct convert_options options = {0};
    struct opt_parsed parsed;
    struct as_error err = {0};
    int exit_code = EXIT_USAGE;
    arena_init(&arena, 0, 0);
    char **words = report_long_form(&report_convert_line, LETTERS, argc, argv, &arena, &argc);
    const struct opt_input input = {argc, words, NULL, &options, &arena};
    struct conversion_job job = {program, &options, NULL, NULL, false};
    if (!words || options_read(&report_convert_line, &input, &parsed, &err) != AS_OK) {
        (void)report_fail(program, EXIT_USAGE, "%s", err.message);
    } else if (parsed.wants_help) {
        exit_code = command_print_help(&report_convert_line);
    } else {
        command_notes(&parsed);
        job.is_session = options.is_session;
        exit_code = convert_operands(&job, &parsed);
    }
    arena_done(&arena);
    return exit_code;
}
