/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/shell.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS                                                                                                        \
    "job_code workload_code scenario_code scenario_concurrency requests_ok requests_per_second "                       \
    "completion_tokens_per_second ttft_ms_p50 ttft_ms_p99 response_time_ms_p99"

/* /results has no pages: one call with the limit. */
static as_status read_results(struct shell *shell, const char *path, struct client_answer *ret)
{
    struct strbuf url AS_AUTO_STRBUF;
    bool is_first = false;
    strbuf_init(&url, 0);
    const int64_t limit = shell->settings->limit;
    strbuf_addf(&url, "%s?limit=%lld", path, (long long)(limit < 500 ? limit : 500));
    as_status status = shell_add_filters(shell, &url, &is_first);
    if (status != AS_OK)
        return status;
    return client_run(&shell->client, &(struct client_call){.path = url.data}, ret, shell->err);
}

as_status verb_results_list(struct shell *shell)
{
    struct client_answer answer = {0};
    as_status status = read_results(shell, "/api/v1/results", &answer);
    const struct json_value *rows = status == AS_OK ? json_get(answer.json, "items") : NULL;
    if (status == AS_OK && !rows)
        status = error_set(shell->err, AS_E_NETWORK, "the server's answer is no list");
    if (status != AS_OK)
        return status;
    return shell->settings->is_json ? shell_write_json(shell, rows) : shell_write_table(shell, rows, COLUMNS);
}

as_status verb_results_export(struct shell *shell)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&text, 0);
    if (shell->settings->format == CTL_JSON) {
        as_status status = read_results(shell, "/api/v1/results", &answer);
        return status == AS_OK ? shell_write_json(shell, json_get(answer.json, "items")) : status;
    }
    as_status status = read_results(shell, "/api/v1/results.csv", &answer);
    if (status != AS_OK)
        return status;
    strbuf_add(&text, answer.text, answer.len);
    return shell_write(shell, &text);
}

/* The one result of a job. */
static as_status read_job(struct shell *shell, const char *job, const struct json_value **ret)
{
    struct strbuf url AS_AUTO_STRBUF;
    struct client_answer answer = {0};
    strbuf_init(&url, 0);
    strbuf_adds(&url, "/api/v1/results?limit=1&job_code=");
    kind_add_escaped(&url, job);
    as_status status =
        client_run(&shell->client, &(struct client_call){.path = strbuf_text(&url)}, &answer, shell->err);
    const struct json_value *items = status == AS_OK ? json_get(answer.json, "items") : NULL;
    if (status != AS_OK)
        return status;
    if (!items || !items->first)
        return error_set(shell->err, AS_E_NOTFOUND, "job %.100s has no result", job);
    *ret = items->first;
    return AS_OK;
}

/* A row: member, both values, and for numbers how many times the first the second is. */
static void put_pair(struct json_writer *rows, const struct json_value *member, const struct json_value *other)
{
    double one = 0, two = 0;
    char ratio[DOUBLE_TEXT_BYTES] = "";
    const bool are_numbers = member->type == JSON_NUMBER && json_double(member, &one) && json_double(other, &two);
    if (are_numbers && (one > 0 || one < 0))
        snprintf(ratio, sizeof ratio, "%.4g", two / one);
    json_open_object(rows);
    json_member_string(rows, "member", member->key);
    json_key(rows, "first");
    json_put_value(rows, member);
    json_key(rows, "second");
    json_put_value(rows, other);
    json_key(rows, "ratio");
    if (ratio[0])
        json_put_raw(rows, ratio, strlen(ratio));
    else
        json_put_null(rows);
    json_close_object(rows);
}

as_status verb_results_compare(struct shell *shell)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    const struct json_value *first = NULL, *second = NULL, *rows = NULL;
    strbuf_init(&text, 0);
    as_status status = read_job(shell, shell->words[1], &first);
    if (status == AS_OK)
        status = read_job(shell, shell->words[2], &second);
    if (status != AS_OK || !first)
        return status;
    json_writer_init(&writer, &text, 0);
    json_open_array(&writer);
    for (const struct json_value *member = first->first; member; member = member->next)
        put_pair(&writer, member, json_get(second, member->key));
    json_close_array(&writer);
    char *copy = json_writer_status(&writer) == AS_OK ? arena_strndup(shell->arena, text.data, text.len) : NULL;
    if (!copy)
        return shell_no_memory(shell);
    status = json_parse(copy, text.len, NULL, shell->arena, &rows, shell->err);
    if (status != AS_OK)
        return status;
    return shell->settings->is_json ? shell_write_json(shell, rows)
                                    : shell_write_table(shell, rows, "member first second ratio");
}
