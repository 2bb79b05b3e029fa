/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/internal.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writing there would lose the results. */
static bool is_same_file(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && S_ISREG(one.st_mode) && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* "report.yaml" and 1 make "report_1.yaml". */
static bool numbered_path(const char *path, size_t index, char ret[PATH_BYTES])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t stem = dot && dot != name ? (size_t)(dot - path) : strlen(path);
    int len = snprintf(ret, PATH_BYTES, "%.*s_%zu%s", (int)stem, path, index, path + stem);
    return len > 0 && len < PATH_BYTES;
}

/* The texts of a conversion's reports, one behind the other: nothing is written before all of them could be made. */
struct texts {
    const struct convert_job *job;
    bool is_many; /* the file holds as many results as it likes */
    struct strbuf all;
    size_t *ends; /* of each in `all` */
    size_t count, expected, capacity;
};

static void texts_begin(void *context, size_t count)
{
    struct texts *texts = context;
    strbuf_reset(&texts->all);
    texts->count = 0;
    texts->expected = count;
}

static as_status texts_take(void *context, const struct brief_report *report, struct as_error *err)
{
    struct texts *texts = context;
    if (texts->count == texts->capacity) {
        size_t capacity = texts->capacity ? 2 * texts->capacity : 16;
        size_t *ends = realloc(texts->ends, capacity * sizeof *ends);
        if (!ends)
            return error_set(err, AS_E_NOMEM, "out of memory");
        texts->ends = ends;
        texts->capacity = capacity;
    }
    bool is_yaml = texts->job->options->format == 0, is_printed = !texts->job->output;
    if (is_printed && is_yaml && texts->is_many)
        strbuf_addf(&texts->all, "# Benchmark %zu of %zu\n", texts->count + 1, texts->expected);
    if (is_yaml) {
        brief_write_yaml(report, &texts->all);
    } else {
        brief_write_json(report, &texts->all);
        strbuf_addc(&texts->all, '\n');
    }
    if (is_printed)
        strbuf_addc(&texts->all, '\n');
    texts->ends[texts->count++] = texts->all.len;
    as_status status = strbuf_status(&texts->all);
    return status == AS_OK ? AS_OK : error_set(err, status, "%s", status_sentence(status));
}

static void texts_done(struct texts *texts)
{
    strbuf_done(&texts->all);
    free(texts->ends);
}

static struct read_parts text_at(const struct texts *texts, size_t index)
{
    size_t begin = index > 0 ? texts->ends[index - 1] : 0;
    return (struct read_parts){strbuf_text(&texts->all) + begin, texts->ends[index] - begin, NULL};
}

static int print_reports(struct texts *texts)
{
    struct reports_call *call = texts->job->call;
    if (call->out.len == 0) {
        struct strbuf empty = call->out;
        call->out = texts->all;
        texts->all = empty;
        return 0;
    }
    strbuf_add(&call->out, strbuf_text(&texts->all), texts->all.len);
    as_status status = strbuf_status(&call->out);
    return status == AS_OK ? 0 : reports_fail(call, REPORTS_EXIT_FAILED, "%s", status_sentence(status));
}

static int write_report(const struct texts *texts, size_t index)
{
    const struct convert_job *job = texts->job;
    struct read_parts text = text_at(texts, index);
    char path[PATH_BYTES];
    struct as_error err = {0};
    bool fits = texts->is_many ? numbered_path(job->output, index, path)
                               : snprintf(path, sizeof path, "%s", job->output) < (int)sizeof path;
    if (!fits)
        return reports_fail(job->call, REPORTS_EXIT_FAILED, "the name of the output file is too long");
    if (texts->is_many && !job->options->overwrites && file_exists(path))
        return reports_output_exists(job->call, path);
    if (is_same_file(job->input, path))
        return reports_fail(job->call, REPORTS_EXIT_FAILED, "%s: is the results file; name another output file", path);
    as_status status = file_write_atomic(path, text.text, text.len, &err);
    return status == AS_OK ? 0
                           : reports_fail(job->call, REPORTS_EXIT_FAILED, "%s",
                                          err.message[0] ? err.message : status_sentence(status));
}

static int write_reports(struct texts *texts)
{
    int exit_code = 0;
    if (!texts->job->output)
        return print_reports(texts);
    for (size_t i = 0; i < texts->count && exit_code == 0; i++)
        exit_code = write_report(texts, i);
    return exit_code;
}

/* Problems beyond the first, which the message has. */
static void put_problems(const struct conversion *conversion, struct strbuf *out)
{
    for (const struct problem *problem = conversion->problems.first ? conversion->problems.first->next : NULL; problem;
         problem = problem->next)
        strbuf_addf(out, "  %s: %s\n", problem->path, problem->message);
}

int reports_convert_file(const struct convert_job *job)
{
    const struct convert_options *options = job->options;
    const struct convert_request request = {.generator = options->generator,
                                            .version = reports_version(options),
                                            .path = job->input,
                                            .is_session = job->is_session,
                                            .has_index = options->index != OPT_ABSENT,
                                            .index = options->index,
                                            .description = options->description,
                                            .keywords = options->keywords,
                                            .getenv = job->call->getenv,
                                            .context = job->call->context};
    struct conversion conversion;
    struct texts texts = {
        .job = job, .is_many = strcmp(options->generator, "guidellm") == 0 && !job->is_session && !request.has_index};
    const struct convert_taker taker = {texts_take, texts_begin, &texts};
    struct as_error err = {0};
    int exit_code;
    strbuf_init(&texts.all, 0);
    conversion_init(&conversion);
    as_status status = convert_file_each(&request, &taker, &conversion, &err);
    if (status == AS_OK) {
        strbuf_adds(&job->call->err, strbuf_text(&conversion.warnings));
        exit_code = write_reports(&texts);
    } else {
        exit_code =
            reports_fail(job->call, REPORTS_EXIT_FAILED, "%s", err.message[0] ? err.message : status_sentence(status));
        put_problems(&conversion, &job->call->err);
    }
    struct strbuf warnings = conversion.warnings;
    strbuf_init(&conversion.warnings, 0);
    conversion_done(&conversion);
    /* Of results of another generator the warnings are about members that those do not have. */
    if (status != AS_OK && (status != AS_E_INVALID || !reports_hint(job)))
        strbuf_adds(&job->call->err, strbuf_text(&warnings));
    strbuf_done(&warnings);
    texts_done(&texts);
    return exit_code;
}
