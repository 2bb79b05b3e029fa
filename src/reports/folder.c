/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/internal.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "stage_3_lifecycle_metrics.json", "x_session_lifecycle_metrics.json". */
static bool is_result_name(const char *name, bool *ret_is_session)
{
    static const char session[] = "_session_lifecycle_metrics.json", stage[] = "_lifecycle_metrics.json";
    size_t len = strlen(name);
    *ret_is_session = len > strlen(session) && strcmp(name + len - strlen(session), session) == 0;
    return *ret_is_session ||
           (strstr(name, "stage_") && len > strlen(stage) && strcmp(name + len - strlen(stage), stage) == 0);
}

static int filter_result(const struct dirent *entry)
{
    bool is_session;
    return is_result_name(entry->d_name, &is_session);
}

static int convert_entry(const struct convert_job *job, const char *name)
{
    char input[PATH_BYTES], output[PATH_BYTES];
    struct convert_job one = *job;
    bool is_old = strcmp(reports_version(job->options), "0.1") == 0;
    int input_len = snprintf(input, sizeof input, "%s/%s", job->input, name);
    int output_len = snprintf(output, sizeof output, "%s/benchmark_report%s,_%s.yaml",
                              job->output ? job->output : job->input, is_old ? "" : "_v0.2", name);
    if (input_len >= PATH_BYTES || output_len >= PATH_BYTES)
        return reports_fail(job->call, REPORTS_EXIT_FAILED, "%s: the path is too long", name);
    (void)is_result_name(name, &one.is_session);
    one.input = input;
    one.output = output;
    if (!job->options->overwrites && file_exists(output))
        return reports_output_exists(job->call, output);
    return reports_convert_file(&one);
}

int reports_convert_folder(const struct convert_job *job)
{
    struct dirent **entries = NULL;
    int count = scandir(job->input, &entries, filter_result, alphasort), exit_code = 0;
    if (count < 0)
        return reports_fail(job->call, REPORTS_EXIT_USAGE, "%s: %s", job->input, strerror(errno));
    if (count == 0)
        exit_code = reports_fail(
            job->call, REPORTS_EXIT_FAILED,
            "%s: no *stage_*_lifecycle_metrics.json, no *_session_lifecycle_metrics.json and no summary.json in it",
            job->input);
    for (int i = 0; i < count; i++) {
        int one = convert_entry(job, entries[i]->d_name);
        exit_code = one > exit_code ? one : exit_code;
        free(entries[i]);
    }
    free(entries);
    return exit_code;
}
