/* SPDX-License-Identifier: Apache-2.0 */
/* Results as JSON pages, and all of them in one answer of any length. */
#include "plane/results.h"

#include "plane/cursor.h"
#include "plane/query.h"
#include "plane/resources.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     500
#define PIECE_JOBS    250
#define EXPORT_MAX    INT64_C(1000000000)
#define SCOPE         "results"

/* ---- pages ---- */

static const char *make_cursor(struct plane_call *call, int64_t created_ns, int64_t job_id)
{
    struct strbuf plain AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&plain, 256);
    json_writer_init(&writer, &plain, 0);
    json_open_object(&writer);
    json_member_string(&writer, "scope", SCOPE);
    json_member_int(&writer, "created", created_ns);
    json_member_int(&writer, "job", job_id);
    json_close_object(&writer);
    return cursor_seal(call, &plain);
}

static as_status take_cursor(struct plane_call *call, struct results *results)
{
    const struct json_value *place = NULL;
    as_status status = cursor_read(call, SCOPE, &place);
    if (status != AS_OK || !place)
        return status;
    if (!json_int64(json_get(place, "created"), &results->created_ns) ||
        !json_int64(json_get(place, "job"), &results->job_id))
        return problem_add(&call->problem, "?cursor", "cursor", "is of another list or order");
    return AS_OK;
}

/* Moves to the next row; *ret_is_new when it is the first one of a job. */
static bool next_row(struct results *results, struct store_rows *rows, bool *ret_is_new)
{
    if (!store_next(rows))
        return false;
    const int64_t job_id = store_get_int(rows, RESULT_JOB);
    *ret_is_new = job_id != results->job_id;
    return true;
}

static void take_place(struct results *results, const struct store_rows *rows)
{
    results->created_ns = store_get_int(rows, RESULT_CREATED);
    results->job_id = store_get_int(rows, RESULT_JOB);
}

/* Up to `limit` jobs; the cursor goes after the last one when there is one more. */
static as_status put_page(struct plane_call *call, struct results *results, int64_t limit)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    const char *next = NULL;
    int64_t jobs = 0;
    bool is_new = false, is_more = false;
    as_status status = results_read(results, call, &rows);
    if (status != AS_OK)
        return status;
    json_open_object(&call->json);
    json_key(&call->json, "items");
    json_open_array(&call->json);
    while (!is_more && next_row(results, rows, &is_new)) {
        jobs += is_new;
        is_more = jobs > limit;
        if (is_more)
            break;
        take_place(results, rows);
        json_open_object(&call->json);
        results_put_members(&call->json, rows);
        json_close_object(&call->json);
    }
    if (is_more && !(next = make_cursor(call, results->created_ns, results->job_id)))
        return AS_E_NOMEM;
    json_close_array(&call->json);
    json_member_string(&call->json, "next", next);
    json_close_object(&call->json);
    return rows_end(rows, call);
}

static as_status list_results(struct plane_call *call)
{
    static const char *const names[] = {"limit", "cursor"};
    struct results results;
    int64_t limit = LIMIT_DEFAULT;
    as_status status = results_check_names(call, names, 2);
    if (status == AS_OK)
        status = call_query_int(call, "limit", LIMIT_MAX, &limit);
    if (status != AS_OK)
        return status;
    status = results_begin(&results, call, limit + 1);
    if (status == AS_OK)
        status = take_cursor(call, &results);
    if (status == AS_OK)
        status = put_page(call, &results, limit);
    results_done(&results);
    return status;
}

/* ---- all of them ---- */

struct export
{
    struct results results;
    int64_t left; /* jobs that may still come */
    void (*put)(struct plane_call * call, const struct store_rows *rows);
    const char *end; /* after the last one */
};

static void end_export(struct plane_call *call)
{
    struct export *export = call->pieces.state;
    results_done(&export->results);
    free(export);
    call->pieces.state = NULL;
}

/* The next PIECE_JOBS jobs; the last piece when there are fewer. */
static as_status put_piece(struct plane_call *call)
{
    struct export *export = call->pieces.state;
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    const int64_t wanted = export->left < PIECE_JOBS ? export->left : PIECE_JOBS;
    int64_t jobs = 0;
    bool is_new = false;
    as_status status = results_read(&export->results, call, &rows);
    while (status == AS_OK && next_row(&export->results, rows, &is_new) && (!is_new || jobs < wanted)) {
        jobs += is_new;
        take_place(&export->results, rows);
        export->put(call, rows);
    }
    if (status == AS_OK)
        status = rows_end(rows, call);
    export->left -= jobs;
    if (jobs == wanted && export->left > 0)
        return status;
    call->pieces.next = NULL;
    strbuf_adds(&call->out, export->end);
    return status;
}

/* The first piece, after `head`. */
static as_status begin_export(struct plane_call *call, const struct export *form, const char *head)
{
    static const char *const names[] = {"limit"};
    int64_t limit = EXPORT_MAX;
    as_status status = results_check_names(call, names, 1);
    if (status == AS_OK)
        status = call_query_int(call, "limit", EXPORT_MAX, &limit);
    if (status != AS_OK)
        return status;
    struct export *export = malloc(sizeof *export);
    if (!export)
        return call_store_failed(call, AS_E_NOMEM);
    *export = *form;
    call->pieces.state = export;
    call->pieces.done = end_export;
    call->pieces.next = put_piece;
    export->left = limit;
    status = results_begin(&export->results, call, PIECE_JOBS + 1);
    if (status != AS_OK)
        return status;
    strbuf_adds(&call->out, head);
    return put_piece(call);
}

static void put_object(struct plane_call *call, const struct store_rows *rows)
{
    json_open_object(&call->json);
    results_put_members(&call->json, rows);
    json_close_object(&call->json);
}

static as_status export_json(struct plane_call *call)
{
    static const struct export FORM = {.put = put_object, .end = "],\"next\":null}\n"};
    call->content_type = "application/json";
    call_add_field(call, "Content-Disposition", "attachment; filename=\"results.json\"");
    json_open_object(&call->json);
    json_key(&call->json, "items");
    json_open_array(&call->json);
    return begin_export(call, &FORM, "");
}

/* A cell that no spreadsheet takes for a formula: such texts get an apostrophe. */
static void put_cell(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '"');
    if (*text && strchr("=+-@\t\r", *text))
        strbuf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '"')
            strbuf_addc(out, '"');
        strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

static void put_csv_value(struct strbuf *out, const struct field *field, const struct store_rows *rows, uint32_t column)
{
    char text[DOUBLE_TEXT_BYTES], time[WALL_TEXT_BYTES];
    if (store_is_null(rows, column))
        return;
    switch (field->type) {
    case FIELD_INT:
        strbuf_addf(out, "%lld", (long long)store_get_int(rows, column));
        break;
    case FIELD_NUMBER:
        (void)double_format(store_get_real(rows, column), text);
        strbuf_adds(out, text);
        break;
    case FIELD_TIME:
        wall_format((struct wall){store_get_int(rows, column)}, time);
        strbuf_adds(out, time);
        break;
    case FIELD_BOOL:
        strbuf_adds(out, store_get_bool(rows, column) ? "true" : "false");
        break;
    default:
        put_cell(out, store_get_text(rows, column, NULL));
        break;
    }
}

static void put_line(struct plane_call *call, const struct store_rows *rows)
{
    for (uint32_t i = 0; i < result_shape.count; i++) {
        if (i)
            strbuf_addc(&call->out, ',');
        put_csv_value(&call->out, &result_shape.fields[i], rows, RESULT_FIRST + i);
    }
    strbuf_adds(&call->out, "\r\n");
}

static as_status export_csv(struct plane_call *call)
{
    static const struct export FORM = {.put = put_line, .end = ""};
    call->content_type = "text/csv";
    call_add_field(call, "Content-Disposition", "attachment; filename=\"results.csv\"");
    for (size_t i = 0; i < result_shape.count; i++)
        strbuf_addf(&call->out, "%s%s", i ? "," : "", result_shape.fields[i].name);
    return begin_export(call, &FORM, "\r\n");
}

static const struct route ROUTES[] = {
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/results",
     .id = "list_results",
     .tag = "results",
     .is_list = true,
     .output = &result_shape,
     .handle = list_results,
     .params = result_params,
     .param_count = RESULT_PARAMS,
     .summary = "Results by any key of the chain, the newest job first"},
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/results.csv",
     .id = "export_results_csv",
     .tag = "results",
     .media = "text/csv",
     .handle = export_csv,
     .params = result_params + 1,
     .param_count = RESULT_PARAMS - 1,
     .summary = "All of them as CSV; cells that a spreadsheet would take for a formula begin with an apostrophe"},
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/results.json",
     .id = "export_results_json",
     .tag = "results",
     .is_list = true,
     .output = &result_shape,
     .handle = export_json,
     .params = result_params + 1,
     .param_count = RESULT_PARAMS - 1,
     .summary = "All of them as one page"},
};

const struct route_list routes_results = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
