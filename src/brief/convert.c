/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/convert.h"

#include "brief/converter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A file that holds more is no result of one run. */
#define BENCHMARKS_MAX 10000
/* Rounds of leaving members out before a report is given up. */
#define SETTLE_ROUNDS       40
#define PLAUSIBLE_LATENCY_S 3600

/* Per-request data and figures that no report has. */
static const char *const GUIDELLM_SKIPS[] = {
    "benchmarks.*.requests",
    "benchmarks.*.scheduler_state",
    "benchmarks.*.scheduler_metrics",
    "benchmarks.*.metrics.*.*.pdf",
    "benchmarks.*.metrics.*.errored.percentiles",
    "benchmarks.*.metrics.*.incomplete.percentiles",
    "benchmarks.*.metrics.*.total.percentiles",
    "benchmarks.*.metrics.request_concurrency",
    "benchmarks.*.metrics.request_streaming_iterations_count",
    "benchmarks.*.metrics.total_token_count",
    "benchmarks.*.metrics.time_to_first_output_token_ms",
    "benchmarks.*.metrics.time_to_last_round_trip_ms",
    "benchmarks.*.metrics.avg_round_trip_time_ms",
    "benchmarks.*.metrics.prompt_tokens_per_second",
    "benchmarks.*.metrics.output_tokens_per_iteration",
    "benchmarks.*.metrics.iter_tokens_per_iteration",
    "benchmarks.*.metrics.text",
    "benchmarks.*.metrics.image",
    "benchmarks.*.metrics.video",
    "benchmarks.*.metrics.audio",
    NULL,
};
static const char *const VLLM_SKIPS[] = {"ttfts",  "itls",        "generated_texts", "input_lens", "output_lens",
                                         "errors", "start_times", "tpots",           "latencies",  NULL};
static const char *const SUMMARY_SKIPS[] = {
    "endpoints.*.latency", "endpoints.*.errors", "client", "validity", "errors", NULL};

struct generator {
    const char *name;
    read_skip_list skip;
    convert_function to_0_1, to_0_2;
    bool has_benchmarks;
};

static const struct generator GENERATORS[] = {
    {"aiperf", NULL, from_aiperf_0_1, from_aiperf_0_2, false},
    {"guidellm", GUIDELLM_SKIPS, from_guidellm_0_1, from_guidellm_0_2, true},
    {"inferencemax", VLLM_SKIPS, from_vllm_0_1, from_vllm_0_2, false},
    {"inference-perf", NULL, from_inference_perf_0_1, from_inference_perf_0_2, false},
    {"vllm-benchmark", VLLM_SKIPS, from_vllm_0_1, from_vllm_0_2, false},
    {"nop", NULL, from_nop_0_1, NULL, false},
    {"assay", SUMMARY_SKIPS, NULL, from_summary_0_2, false},
};
static const struct generator SESSIONS = {"inference-perf", NULL, from_session_0_1, from_session_0_2, false};

const char *const convert_generators[] = {"aiperf",         "guidellm", "inferencemax", "inference-perf",
                                          "vllm-benchmark", "nop",      "assay",        NULL};

static const struct generator *find_generator(const char *name)
{
    for (size_t i = 0; i < sizeof GENERATORS / sizeof GENERATORS[0]; i++)
        if (strcmp(GENERATORS[i].name, name) == 0)
            return &GENERATORS[i];
    return NULL;
}

bool convert_is_generator(const char *name)
{
    return find_generator(name) != NULL;
}

void conversion_init(struct conversion *conversion)
{
    *conversion = (struct conversion){.count = 0};
    tree_init(&conversion->tree, READ_TREE_BYTES_MAX);
    tree_init(&conversion->scratch, READ_TREE_BYTES_MAX);
    strbuf_init(&conversion->warnings, (size_t)1 << 20);
}

void conversion_done(struct conversion *conversion)
{
    for (size_t i = 0; i < conversion->count; i++)
        brief_done(&conversion->reports[i]);
    free(conversion->reports);
    strbuf_done(&conversion->warnings);
    tree_done(&conversion->scratch);
    tree_done(&conversion->tree);
}

/* May be left out of a report without making up another: a figure, a length, a setting; no block that holds such. */
static bool is_dispensable(const struct model_field *field)
{
    static const char *const leaves[] = {"Statistics", "SequenceLength", "LoadPrefix", "MultiTurn", "RunTime", NULL};
    if (field->is_required || field->is_strict)
        return false;
    if (field->type != FIELD_OBJECT)
        return field->type != FIELD_VARIANT;
    for (const char *const *leaf = leaves; *leaf; leaf++)
        if (strcmp(field->object->name, *leaf) == 0)
            return true;
    return false;
}

/* Removes the innermost dispensable member on the path of a problem; false when there is none. */
static bool leave_out(struct converter *converter, struct value *report, const struct problem *problem)
{
    char *steps = tree_strdup(converter->tree, problem->path), *rest = steps;
    const struct model_object *object = converter->model->top;
    struct value *at = report, *parent = NULL;
    const char *name = NULL;
    size_t kept = 0;
    while (rest && object && value_is(at, VALUE_MAP)) {
        char *step = rest, *dot = strchr(rest, '.');
        if (dot)
            *dot = '\0';
        rest = dot ? dot + 1 : NULL;
        const struct model_field *field = model_field(object, step);
        if (!field)
            break;
        if (is_dispensable(field) && value_get(at, step)) {
            parent = at;
            name = step;
            kept = (size_t)(step - steps) + strlen(step);
        }
        at = value_get(at, step);
        object = field->is_list ? NULL : field->object;
    }
    if (!parent)
        return false;
    value_remove(parent, name);
    convert_warn(converter, "WARNING: %.*s is left out: %s%s%s", (int)kept, problem->path,
                 problem->path + kept + (problem->path[kept] == '.'), strlen(problem->path) > kept ? " " : "",
                 problem->message);
    return true;
}

static as_status refused(struct converter *converter, struct conversion *conversion, const struct problems *problems)
{
    const struct problem *first = problems->first;
    conversion->problems = *problems;
    if (!first)
        return error_set(converter->err, AS_E_INVALID, "the results make no valid report");
    return error_set(converter->err, AS_E_INVALID, "%s%s%s", first->path, first->path[0] ? ": " : "", first->message);
}

/* Checks what was built, leaving out what does not fit as long as that helps, and makes it a report of its own. */
static as_status settle(struct converter *converter, struct conversion *conversion, struct value *built,
                        struct brief_report *ret)
{
    struct problems problems;
    struct value *checked = NULL;
    as_status status = AS_E_INVALID;
    for (int round = 0; round < SETTLE_ROUNDS; round++) {
        bool is_helped = false;
        problems = (struct problems){NULL, NULL, 0};
        status = check_report(converter->tree, converter->model, built, &problems, &checked);
        if (status != AS_E_INVALID)
            break;
        for (const struct problem *problem = problems.first; problem; problem = problem->next)
            is_helped = leave_out(converter, built, problem) || is_helped;
        if (!is_helped)
            return refused(converter, conversion, &problems);
    }
    if (status == AS_E_INVALID)
        return refused(converter, conversion, &problems);
    if (status != AS_OK)
        return tree_status(converter->tree, converter->err);
    ret->model = converter->model;
    ret->root = value_copy(&ret->tree, checked);
    return tree_status(&ret->tree, converter->err);
}

/* A latency of more than an hour is more likely a mistaken unit. */
static void warn_of_units(struct converter *converter, const struct value *report)
{
    const struct value *latency = value_at(report, "results.request_performance.aggregate.latency");
    if (!latency)
        latency = value_at(report, "metrics.latency");
    for (const struct value *field = latency ? latency->first : NULL; field; field = field->next) {
        const char *units = value_string(value_get(field, "units"));
        enum model_unit base;
        double mean;
        int unit = units ? unit_find(units) : -1;
        if (unit < 0 || !value_number(value_get(field, "mean"), &mean))
            continue;
        if (mean * unit_factor((enum model_unit)unit, &base) > PLAUSIBLE_LATENCY_S)
            convert_warn(converter, "WARNING: latency.%s is %g %s: is that the unit of the results?", field->key, mean,
                         units);
    }
}

static as_status build_one(struct converter *converter, const struct generator *generator,
                           struct conversion *conversion)
{
    convert_function function = converter->model == &model_0_1 ? generator->to_0_1 : generator->to_0_2;
    struct brief_report *report = &conversion->reports[conversion->count];
    struct value *built = function(converter);
    if (converter->tree->failed)
        return tree_status(converter->tree, converter->err);
    brief_init(report);
    as_status status = settle(converter, conversion, built, report);
    if (status != AS_OK) {
        brief_done(report);
        return status;
    }
    warn_of_units(converter, report->root);
    conversion->count++;
    return AS_OK;
}

/* The first and last benchmark to convert. */
static as_status choose_benchmarks(const struct converter *converter, const struct generator *generator,
                                   int64_t *ret_first, int64_t *ret_count)
{
    const struct convert_request *request = converter->request;
    const struct value *list = value_get(converter->native, "benchmarks");
    *ret_first = 0;
    *ret_count = 1;
    if (!generator->has_benchmarks)
        return AS_OK;
    if (!value_is(list, VALUE_LIST) || list->len == 0 || list->len > BENCHMARKS_MAX)
        return error_set(converter->err, AS_E_INVALID, "benchmarks: must be a list of benchmarks that is not empty");
    *ret_count = list->len;
    if (!request->has_index)
        return AS_OK;
    *ret_count = 1;
    *ret_first = request->index;
    if (request->index >= list->len || request->index < -(int64_t)list->len)
        return error_set(converter->err, AS_E_INVALID, "benchmarks: there is no index %" PRId64 " of %u",
                         request->index, (unsigned)list->len);
    if (request->index < 0 && converter->model != &model_0_1)
        return error_set(converter->err, AS_E_INVALID,
                         "scenario.load.standardized.stage: must be at least 0, not %" PRId64, request->index);
    return AS_OK;
}

static as_status build_all(struct converter *converter, const struct generator *generator,
                           struct conversion *conversion)
{
    int64_t first, count;
    if (!value_is(converter->native, VALUE_MAP))
        return error_set(converter->err, AS_E_INVALID, "the results must be a mapping, not %s",
                         value_type_name(converter->native));
    as_status status = choose_benchmarks(converter, generator, &first, &count);
    if (status != AS_OK)
        return status;
    conversion->reports = calloc((size_t)count, sizeof *conversion->reports);
    if (!conversion->reports)
        return error_set(converter->err, AS_E_NOMEM, "out of memory");
    const struct value *list = generator->has_benchmarks ? value_get(converter->native, "benchmarks") : NULL;
    converter->benchmark = list ? value_item(list, (size_t)(first < 0 ? first + (int64_t)list->len : first)) : NULL;
    for (int64_t i = 0; i < count && status == AS_OK; i++) {
        converter->index = first + i;
        converter->model_name = NULL;
        tree_empty(converter->tree);
        status = build_one(converter, generator, conversion);
        converter->benchmark = converter->benchmark ? converter->benchmark->next : NULL;
    }
    return status;
}

/* What converts the request; the status says why nothing does. */
static as_status choose_converter(const struct convert_request *request, struct converter *converter,
                                  const struct generator **ret)
{
    const struct generator *generator = request->is_session ? &SESSIONS : find_generator(request->generator);
    converter->model = model_find(request->version);
    if (!converter->model)
        return error_set(converter->err, AS_E_USAGE, "Invalid benchmark report version: %s", request->version);
    if (!generator)
        return error_set(converter->err, AS_E_USAGE, "Unsupported workload generator: %s", request->generator);
    bool is_old = converter->model == &model_0_1;
    if (!(is_old ? generator->to_0_1 : generator->to_0_2))
        return error_set(converter->err, AS_E_UNSUPPORTED,
                         "%s results are not supported in report version %s, only in %s", generator->name,
                         converter->model->version, is_old ? "0.2.1" : "0.1");
    *ret = generator;
    return AS_OK;
}

static as_status convert(const struct convert_request *request, const char *text, size_t len, struct conversion *ret,
                         struct as_error *err)
{
    struct converter converter = {.request = request, .tree = &ret->scratch, .warnings = &ret->warnings, .err = err};
    const struct generator *generator = NULL;
    struct value *native;
    as_status status = choose_converter(request, &converter, &generator);
    if (status != AS_OK || !generator)
        return status;
    if (text)
        status = read_parts(&(struct read_parts){text, len, generator->skip}, &ret->tree, &native, err);
    else
        status = read_path(request->path, generator->skip, &ret->tree, &native, err);
    if (status != AS_OK || !generator)
        return status;
    converter.native = native;
    status = build_all(&converter, generator, ret);
    if (status != AS_OK && request->path)
        return error_prefix(err, "%s", request->path);
    return status;
}

as_status convert_file(const struct convert_request *request, struct conversion *ret, struct as_error *err)
{
    return convert(request, NULL, 0, ret, err);
}

as_status convert_text(const struct convert_request *request, const char *text, size_t len, struct conversion *ret,
                       struct as_error *err)
{
    return convert(request, text, len, ret, err);
}
