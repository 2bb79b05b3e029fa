/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/internal.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

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

static void format_report(const struct convert_job *job, const struct brief_report *report, struct strbuf *out)
{
    if (job->options->format == 0) {
        brief_write_yaml(report, out);
        return;
    }
    brief_write_json(report, out);
    strbuf_addc(out, '\n');
}

static int print_report(const struct convert_job *job, const struct conversion *conversion, size_t index,
                        bool is_one_of_many)
{
    struct strbuf *out = &job->call->out;
    if (is_one_of_many && job->options->format == 0)
        strbuf_addf(out, "# Benchmark %zu of %zu\n", index + 1, conversion->count);
    format_report(job, &conversion->reports[index], out);
    strbuf_addc(out, '\n');
    as_status status = strbuf_status(out);
    return status == AS_OK ? 0 : reports_fail(job->call, REPORTS_EXIT_FAILED, "%s", status_sentence(status));
}

static int write_report(const struct convert_job *job, const struct conversion *conversion, size_t index,
                        bool is_one_of_many)
{
    struct strbuf text AS_AUTO_STRBUF;
    char path[PATH_BYTES];
    struct as_error err = {0};
    if (!job->output)
        return print_report(job, conversion, index, is_one_of_many);
    strbuf_init(&text, 0);
    format_report(job, &conversion->reports[index], &text);
    bool fits = is_one_of_many ? numbered_path(job->output, index, path)
                               : snprintf(path, sizeof path, "%s", job->output) < (int)sizeof path;
    if (!fits)
        return reports_fail(job->call, REPORTS_EXIT_FAILED, "the name of the output file is too long");
    if (is_one_of_many && !job->options->overwrites && file_exists(path))
        return reports_output_exists(job->call, path);
    as_status status = strbuf_status(&text);
    if (status == AS_OK)
        status = write_output(path, &text, &err);
    return status == AS_OK ? 0
                           : reports_fail(job->call, REPORTS_EXIT_FAILED, "%s",
                                          err.message[0] ? err.message : status_sentence(status));
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
    struct as_error err = {0};
    int exit_code = 0;
    conversion_init(&conversion);
    as_status status = convert_file(&request, &conversion, &err);
    strbuf_adds(&job->call->err, strbuf_text(&conversion.warnings));
    if (status != AS_OK) {
        exit_code =
            reports_fail(job->call, REPORTS_EXIT_FAILED, "%s", err.message[0] ? err.message : status_sentence(status));
        put_problems(&conversion, &job->call->err);
    }
    bool is_many = strcmp(options->generator, "guidellm") == 0 && !job->is_session && !request.has_index;
    for (size_t i = 0; i < conversion.count && status == AS_OK && exit_code == 0; i++)
        exit_code = write_report(job, &conversion, i, is_many);
    conversion_done(&conversion);
    return exit_code;
}
