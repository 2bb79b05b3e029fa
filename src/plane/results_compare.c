/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results side by side. A verdict is given only on equals: the same work asked for, metrics of one definition,
 * percentiles of one method, tokens counted by one source. Where that does not hold, or is not known, the figures stand
 * there without one, and why. What they ran on may differ: that is what one compares, and it is listed.
 */
#include "plane/query.h"
#include "plane/results.h"

#include <math.h>
#include <string.h>

#define JOBS_MAX 16

static const char *const better_words[] = {"lower", "higher", NULL};

static const struct field REASON_FIELDS[] = {
    {.name = "code", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Member that stands in the way."},
    {.name = "detail", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Why, as a sentence."},
    {.name = "values",
     .type = FIELD_LIST,
     .item = FIELD_JSON,
     .flags = FIELD_GIVEN,
     .about = "Its values, in the order of the jobs."},
};
static const struct shape REASON = {
    .name = "ComparisonReason", .about = "Why there is no verdict.", SHAPE_FIELDS(REASON_FIELDS)};

static const struct field DIFFERENCE_FIELDS[] = {
    {.name = "member", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Member of the results."},
    {.name = "values",
     .type = FIELD_LIST,
     .item = FIELD_JSON,
     .flags = FIELD_GIVEN,
     .about = "Its values, in the order of the jobs."},
};
static const struct shape DIFFERENCE = {
    .name = "ComparisonDifference", .about = "What else is not the same.", SHAPE_FIELDS(DIFFERENCE_FIELDS)};

static const struct field FIGURE_FIELDS[] = {
    {.name = "member", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Member of the results."},
    {.name = "unit", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Its unit."},
    {.name = "better",
     .type = FIELD_ENUM,
     .choices = better_words,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Which way is better; null: neither by itself."},
    {.name = "values", .type = FIELD_LIST, .item = FIELD_JSON, .flags = FIELD_GIVEN, .about = "Values; null: none."},
    {.name = "ratios",
     .type = FIELD_LIST,
     .item = FIELD_JSON,
     .flags = FIELD_GIVEN,
     .about = "How many times the first one each is; null: not known."},
    {.name = "verdicts",
     .type = FIELD_LIST,
     .item = FIELD_JSON,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about =
         "better, worse or equal to the first by its figure alone, null where that is not known; null: no verdict, "
         "see reasons."},
};
static const struct shape FIGURE = {
    .name = "ComparisonFigure", .about = "One figure of all of them.", SHAPE_FIELDS(FIGURE_FIELDS)};

static const struct field COMPARISON_FIELDS[] = {
    {.name = "jobs",
     .type = FIELD_LIST,
     .item = FIELD_TEXT,
     .flags = FIELD_GIVEN,
     .about = "The first is what others are compared with."},
    {.name = "is_comparable", .type = FIELD_BOOL, .flags = FIELD_GIVEN, .about = "Whether there are verdicts."},
    {.name = "reasons", .type = FIELD_LIST, .shape = &REASON, .flags = FIELD_GIVEN, .about = "Why not."},
    {.name = "differences",
     .type = FIELD_LIST,
     .shape = &DIFFERENCE,
     .flags = FIELD_GIVEN,
     .about = "What they are of, where it differs: allowed."},
    {.name = "figures", .type = FIELD_LIST, .shape = &FIGURE, .flags = FIELD_GIVEN, .about = "Side by side."},
};
static const struct shape COMPARISON = {
    .name = "Comparison", .about = "Results side by side.", SHAPE_FIELDS(COMPARISON_FIELDS)};

struct cell {
    bool is_null;
    double number;    /* numbers and counts */
    const char *json; /* as it stands in the answer */
};

struct comparison {
    const char *jobs[JOBS_MAX];
    size_t count;
    struct cell *cells; /* of job j's member m: [j * members + m]; NULL json: the job was not seen yet */
};

static struct cell *cell_of(const struct comparison *comparison, size_t job, size_t member)
{
    return &comparison->cells[job * result_shape.count + member];
}

static size_t member_at(const char *name)
{
    size_t at = 0;
    while (at < result_shape.count && strcmp(result_shape.fields[at].name, name) != 0)
        at++;
    return at;
}

/* The jobs asked for, each once. */
static as_status read_jobs(struct plane_call *call, struct comparison *ret)
{
    const char *text;
    as_status status = call_query(call, "job_code", &text);
    if (status != AS_OK)
        return status;
    while (text && *text) {
        const size_t len = strcspn(text, ",");
        if (ret->count == JOBS_MAX)
            return problem_add(&call->problem, "?job_code", "length", "takes %d jobs at most", JOBS_MAX);
        const char *job = arena_strndup(&call->arena, text, len);
        if (!job)
            return call_store_failed(call, AS_E_NOMEM);
        for (size_t i = 0; i < ret->count; i++)
            if (strcmp(ret->jobs[i], job) == 0)
                return problem_add(&call->problem, "?job_code", "duplicate", "names a job twice");
        ret->jobs[ret->count++] = job;
        text += len + (text[len] == ',');
    }
    if (ret->count < 2)
        return problem_add(&call->problem, "?job_code", "required",
                           "names the jobs to compare, two or more, between commas");
    ret->cells = arena_calloc(&call->arena, ret->count * result_shape.count, sizeof *ret->cells);
    return ret->cells ? AS_OK : call_store_failed(call, AS_E_NOMEM);
}

static as_status take_cell(struct plane_call *call, const struct store_rows *rows, size_t member, struct cell *ret)
{
    const struct field *field = &result_shape.fields[member];
    const uint32_t column = RESULT_FIRST + (uint32_t)member;
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer json;
    strbuf_init(&text, 0);
    json_writer_init(&json, &text, 0);
    resource_put_value(&json, field, rows, column);
    ret->is_null = store_is_null(rows, column);
    ret->number = field->type == FIELD_NUMBER ? store_get_real(rows, column) : (double)store_get_int(rows, column);
    ret->json = json_writer_status(&json) == AS_OK ? arena_strndup(&call->arena, text.data, text.len) : NULL;
    return ret->json ? AS_OK : call_store_failed(call, AS_E_NOMEM);
}

/* The newest accepted result of each job. */
static as_status take_rows(struct plane_call *call, struct comparison *comparison, struct store_rows *rows)
{
    const uint32_t code = RESULT_FIRST + (uint32_t)member_at("job_code"),
                   result = RESULT_FIRST + (uint32_t)member_at("result");
    as_status status = AS_OK;
    while (status == AS_OK && store_next(rows)) {
        size_t job = 0;
        while (job < comparison->count && strcmp(comparison->jobs[job], store_get_text(rows, code, NULL)) != 0)
            job++;
        if (job == comparison->count || cell_of(comparison, job, 0)->json ||
            strcmp(store_get_text(rows, result, NULL), "accepted") != 0)
            continue;
        for (size_t i = 0; status == AS_OK && i < result_shape.count; i++)
            status = take_cell(call, rows, i, cell_of(comparison, job, i));
    }
    return status == AS_OK ? rows_end(rows, call) : status;
}

static as_status read_results(struct plane_call *call, struct comparison *comparison)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct results results;
    as_status status = results_begin(&results, call, JOBS_MAX);
    if (status == AS_OK)
        status = results_read(&results, call, &rows);
    if (status == AS_OK)
        status = take_rows(call, comparison, rows);
    rows_done(&rows);
    results_done(&results);
    for (size_t i = 0; status == AS_OK && i < comparison->count; i++)
        if (!cell_of(comparison, i, 0)->json)
            status =
                call_refuse(call, PROBLEM_NOTFOUND,
                            "job %.100s does not exist, is not yours, or has no accepted result", comparison->jobs[i]);
    return status;
}

static bool is_same(const struct comparison *comparison, size_t member)
{
    for (size_t i = 1; i < comparison->count; i++)
        if (strcmp(cell_of(comparison, 0, member)->json, cell_of(comparison, i, member)->json) != 0)
            return false;
    return true;
}

static void put_values(struct json_writer *json, const struct comparison *comparison, size_t member)
{
    json_key(json, "values");
    json_open_array(json);
    for (size_t i = 0; i < comparison->count; i++)
        json_put_raw(json, cell_of(comparison, i, member)->json, strlen(cell_of(comparison, i, member)->json));
    json_close_array(json);
}

/* What must be equal, and known, for a verdict. */
static const struct {
    const char *member, *differs, *unknown;
} GROUNDS[] = {
    {"output_kind", "they are figures of different tools", "whose figures they are is not known"},
    {"workload_digest", "the work asked for is not the same", "whether the work asked for is the same is not known"},
    {"metric_definition_version", "their metrics are defined differently",
     "how their metrics are defined is not known"},
    {"percentile_method", "their percentiles are taken differently", "how their percentiles are taken is not known"},
    {"token_source", "their tokens were counted by different sources", "who counted their tokens is not known"},
};
enum { GROUND_COUNT = sizeof GROUNDS / sizeof GROUNDS[0] };

/* Transcripts and images are not measured in tokens. */
static bool has_tokens(const struct comparison *comparison)
{
    const char *kind = cell_of(comparison, 0, member_at("output_kind"))->json;
    return strcmp(kind, "\"metrumbench-asr\"") != 0 && strcmp(kind, "\"metrumbench-imagegen\"") != 0;
}

static const char *ground_sentence(const struct comparison *comparison, size_t ground)
{
    const size_t member = member_at(GROUNDS[ground].member);
    if (!is_same(comparison, member))
        return GROUNDS[ground].differs;
    if (!cell_of(comparison, 0, member)->is_null)
        return NULL;
    return strcmp(GROUNDS[ground].member, "token_source") != 0 || has_tokens(comparison) ? GROUNDS[ground].unknown
                                                                                         : NULL;
}

/* Puts the reasons; false when there are some. */
static bool put_reasons(struct json_writer *json, const struct comparison *comparison)
{
    bool is_comparable = true;
    json_key(json, "reasons");
    json_open_array(json);
    for (size_t i = 0; i < GROUND_COUNT; i++) {
        const char *sentence = ground_sentence(comparison, i);
        if (!sentence)
            continue;
        is_comparable = false;
        json_open_object(json);
        json_member_string(json, "code", GROUNDS[i].member);
        json_member_string(json, "detail", sentence);
        put_values(json, comparison, member_at(GROUNDS[i].member));
        json_close_object(json);
    }
    json_close_array(json);
    return is_comparable;
}

/* Members that say which job it is, or stand among the reasons. */
static bool is_told_elsewhere(const char *member)
{
    static const char *const names[] = {"run_code",    "job_code", "attempt",        "result",         "created_at",
                                        "finished_at", "origin",   "command_digest", "summary_digest", NULL};
    for (const char *const *name = names; *name; name++)
        if (strcmp(*name, member) == 0)
            return true;
    for (size_t i = 0; i < GROUND_COUNT; i++)
        if (strcmp(GROUNDS[i].member, member) == 0)
            return true;
    return result_figure(member) != NULL;
}

static void put_differences(struct json_writer *json, const struct comparison *comparison)
{
    json_key(json, "differences");
    json_open_array(json);
    for (size_t i = 0; i < result_shape.count; i++) {
        if (is_told_elsewhere(result_shape.fields[i].name) || is_same(comparison, i))
            continue;
        json_open_object(json);
        json_member_string(json, "member", result_shape.fields[i].name);
        put_values(json, comparison, i);
        json_close_object(json);
    }
    json_close_array(json);
}

static const char *verdict_of(const struct figure *figure, const struct cell *first, const struct cell *cell)
{
    if (first->is_null || cell->is_null || figure->better == BETTER_UNKNOWN)
        return NULL;
    if (cell->number < first->number)
        return figure->better == BETTER_LOWER ? "better" : "worse";
    if (cell->number > first->number)
        return figure->better == BETTER_HIGHER ? "better" : "worse";
    return "equal";
}

static void put_figure(struct json_writer *json, const struct comparison *comparison, size_t member, bool is_comparable)
{
    const struct figure *figure = result_figure(result_shape.fields[member].name);
    const struct cell *first = cell_of(comparison, 0, member);
    json_open_object(json);
    json_member_string(json, "member", figure->name);
    json_member_string(json, "unit", figure->unit);
    json_member_string(json, "better",
                       figure->better == BETTER_UNKNOWN ? NULL : better_words[figure->better - BETTER_LOWER]);
    put_values(json, comparison, member);
    json_key(json, "ratios");
    json_open_array(json);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct cell *cell = cell_of(comparison, i, member);
        const bool is_known = !first->is_null && !cell->is_null && fabs(first->number) > 0;
        json_put_double(json, is_known ? cell->number / first->number : (double)NAN);
    }
    json_close_array(json);
    json_key(json, "verdicts");
    if (is_comparable) {
        json_open_array(json);
        for (size_t i = 0; i < comparison->count; i++)
            json_put_string(json, verdict_of(figure, first, cell_of(comparison, i, member)));
        json_close_array(json);
    } else {
        json_put_null(json);
    }
    json_close_object(json);
}

static bool has_any(const struct comparison *comparison, size_t member)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (!cell_of(comparison, i, member)->is_null)
            return true;
    return false;
}

static as_status compare(struct plane_call *call)
{
    static const char *const names[] = {"job_code", "output_kind"};
    struct comparison comparison = {.count = 0};
    struct json_writer *json = &call->json;
    as_status status = call_query_check(call, names, 2);
    if (status == AS_OK)
        status = read_jobs(call, &comparison);
    if (status == AS_OK)
        status = read_results(call, &comparison);
    if (status != AS_OK)
        return status;
    json_open_object(json);
    json_key(json, "jobs");
    json_open_array(json);
    for (size_t i = 0; i < comparison.count; i++)
        json_put_string(json, comparison.jobs[i]);
    json_close_array(json);
    const bool is_comparable = put_reasons(json, &comparison);
    json_member_bool(json, "is_comparable", is_comparable);
    put_differences(json, &comparison);
    json_key(json, "figures");
    json_open_array(json);
    for (size_t i = 0; i < result_shape.count; i++)
        if (result_figure(result_shape.fields[i].name) && has_any(&comparison, i))
            put_figure(json, &comparison, i, is_comparable);
    json_close_array(json);
    json_close_object(json);
    return AS_OK;
}

static const struct route_param PARAMS[] = {
    {"job_code", "Jobs between commas, 2 to 16; the first is the one to compare with."},
    {"output_kind", "Whose figures, where a job has those of several tools."}};
static const struct route ROUTES[] = {
    {.method = HTTP_GET,
     .kind = ROUTE_READ,
     .right = RIGHT_READ,
     .path = "/api/v1/results/compare",
     .id = "compare_results",
     .tag = "results",
     .output = &COMPARISON,
     .handle = compare,
     .params = PARAMS,
     .param_count = 2,
     .summary = "Results side by side, with verdicts where they may be compared"},
};

const struct route_list routes_compare = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
