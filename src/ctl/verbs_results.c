/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/shell.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS                                                                                                        \
    "job_code workload_code scenario_code scenario_concurrency requests_ok requests_per_second "                       \
    "completion_tokens_per_second ttft_ms_p50 ttft_ms_p99 response_time_ms_p99"

as_status verb_results_list(struct shell *shell)
{
    const struct json_value *rows = NULL;
    as_status status = shell_list(shell, "/api/v1/results", &rows);
    if (status != AS_OK)
        return status;
    return shell->settings->is_json ? shell_write_json(shell, rows) : shell_write_table(shell, rows, COLUMNS);
}

/* GET of a path with this query member made of words, "," between them. */
static as_status ask(struct shell *shell, const char *path, size_t from, struct client_answer *ret)
{
    struct strbuf url AS_AUTO_STRBUF;
    bool is_first = false;
    strbuf_init(&url, 0);
    strbuf_addf(&url, "%s?job_code=", path);
    for (size_t i = from; i < shell->count; i++) {
        strbuf_adds(&url, i > from ? "," : "");
        kind_add_escaped(&url, shell->words[i]);
    }
    as_status status = shell_add_filters(shell, &url, &is_first);
    return status == AS_OK ? client_run(&shell->client, &(struct client_call){.path = url.data}, ret, shell->err)
                           : status;
}

as_status verb_results_show(struct shell *shell)
{
    struct client_answer answer = {0};
    as_status status = ask(shell, "/api/v1/results", 1, &answer);
    const struct json_value *items = status == AS_OK ? json_get(answer.json, "items") : NULL;
    if (status != AS_OK)
        return status;
    if (!items || !items->first)
        return error_set(shell->err, AS_E_NOTFOUND, "job %.100s has no result", shell->words[1]);
    for (const struct json_value *item = items->first; item && status == AS_OK; item = item->next)
        status = shell_write_object(shell, item);
    return status;
}

/* ---- compare ---- */

/* A row: the figure, its unit, each job's value and, from the second on, how many times the first it is. */
static void put_row(struct json_writer *rows, const struct json_value *jobs, const struct json_value *figure)
{
    const struct json_value *value = json_get(figure, "values")->first, *ratio = json_get(figure, "ratios")->first,
                            *verdicts = json_get(figure, "verdicts"), *verdict = verdicts ? verdicts->first : NULL;
    json_open_object(rows);
    json_key(rows, "member");
    json_put_value(rows, json_get(figure, "member"));
    json_key(rows, "unit");
    json_put_value(rows, json_get(figure, "unit"));
    for (const struct json_value *job = jobs->first; job && value && ratio; job = job->next) {
        char text[64] = "";
        const char *word = NULL;
        double times;
        json_keyn(rows, job->text, job->len);
        json_put_value(rows, value);
        if (verdict && !json_string(verdict, &word))
            word = NULL;
        if (job != jobs->first && json_double(ratio, &times))
            (void)snprintf(text, sizeof text, "%.4g%s%s", times, word ? " " : "", word ? word : "");
        if (job != jobs->first) {
            char key[160];
            (void)snprintf(key, sizeof key, "×_%.*s", (int)(job->len < 100 ? job->len : 100), job->text);
            json_member_string(rows, key, text[0] ? text : NULL);
        }
        value = value->next;
        ratio = ratio->next;
        verdict = verdict ? verdict->next : NULL;
    }
    json_close_object(rows);
}

static as_status write_figures(struct shell *shell, const struct json_value *answer)
{
    struct strbuf text AS_AUTO_STRBUF, columns AS_AUTO_STRBUF;
    struct json_writer writer;
    const struct json_value *rows = NULL, *jobs = json_get(answer, "jobs"), *figures = json_get(answer, "figures");
    strbuf_init(&text, 0);
    strbuf_init(&columns, 0);
    strbuf_adds(&columns, "member unit");
    for (const struct json_value *job = jobs->first; job; job = job->next) {
        strbuf_addf(&columns, " %s", job->text);
        if (job != jobs->first)
            strbuf_addf(&columns, " ×_%s", job->text);
    }
    json_writer_init(&writer, &text, 0);
    json_open_array(&writer);
    for (const struct json_value *figure = figures->first; figure; figure = figure->next)
        put_row(&writer, jobs, figure);
    json_close_array(&writer);
    char *copy = json_writer_status(&writer) == AS_OK ? arena_strndup(shell->arena, text.data, text.len) : NULL;
    if (!copy || strbuf_status(&columns) != AS_OK)
        return shell_no_memory(shell);
    as_status status = json_parse(copy, text.len, NULL, shell->arena, &rows, shell->err);
    return status == AS_OK ? shell_write_table(shell, rows, columns.data) : status;
}

/* Why there is no verdict, and what they are of, as notes. */
static void note_all(const struct shell *shell, const struct json_value *list, const char *name, const char *begins)
{
    for (const struct json_value *item = list ? list->first : NULL; item; item = item->next) {
        struct strbuf text AS_AUTO_STRBUF;
        const char *word = "", *detail = "";
        strbuf_init(&text, 0);
        (void)json_string(json_get(item, name), &word);
        (void)json_string(json_get(item, "detail"), &detail);
        strbuf_addf(&text, "%s%s%s%s: ", begins, word, *detail ? ": " : "", detail);
        for (const struct json_value *value = json_get(item, "values")->first; value; value = value->next) {
            table_add_value(&text, value);
            strbuf_adds(&text, value->next ? ", " : "");
        }
        shell_note(shell, "%.480s", strbuf_text(&text));
    }
}

as_status verb_results_compare(struct shell *shell)
{
    struct client_answer answer = {0};
    bool is_comparable = false;
    as_status status = ask(shell, "/api/v1/results/compare", 1, &answer);
    if (status != AS_OK)
        return status;
    static const char *const lists[] = {"jobs", "reasons", "differences", "figures"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (!json_get(answer.json, lists[i]) || json_get(answer.json, lists[i])->type != JSON_ARRAY)
            return error_set(shell->err, AS_E_NETWORK, "the server's answer is no comparison");
    (void)json_bool(json_get(answer.json, "is_comparable"), &is_comparable);
    if (shell->settings->is_json)
        return shell_write_json(shell, answer.json);
    note_all(shell, json_get(answer.json, "reasons"), "code", "no verdict: ");
    note_all(shell, json_get(answer.json, "differences"), "member", is_comparable ? "differs: " : "also differs: ");
    return write_figures(shell, answer.json);
}

/* ---- export ---- */

static as_status write_piece(void *context, const char *data, size_t len)
{
    const struct shell *shell = context;
    return shell->output->write(shell->output->context, data, len);
}

as_status verb_results_export(struct shell *shell)
{
    static const char *const suffixes[] = {"csv", "json", "yaml", "json"};
    struct strbuf url AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    const struct client_sink sink = {.context = shell, .write = write_piece};
    const char *job = shell->count > 1 ? shell->words[1] : NULL;
    bool is_first = true;
    strbuf_init(&url, 0);
    if (shell->settings->format >= CTL_REPORT) {
        if (!job)
            return error_set(shell->err, AS_E_USAGE, "a report is of one job: results export JOB --format %s",
                             shell->settings->format == CTL_REPORT ? "report" : "report-json");
        strbuf_adds(&url, "/api/v1/jobs/");
        kind_add_escaped(&url, job);
        strbuf_addf(&url, "/report.%s", suffixes[shell->settings->format]);
    } else {
        strbuf_addf(&url, "/api/v1/results.%s", suffixes[shell->settings->format]);
        if (job) {
            strbuf_adds(&url, "?job_code=");
            kind_add_escaped(&url, job);
            is_first = false;
        }
    }
    as_status status = shell_add_filters(shell, &url, &is_first);
    if (status != AS_OK)
        return status;
    const struct client_call call = {.path = url.data, .sink = &sink};
    return client_run(&shell->client, &call, &answer, shell->err);
}
