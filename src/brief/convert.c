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
    tree_init(&conversion->item, READ_TREE_BYTES_MAX);
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
    tree_done(&conversion->item);
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

/* Checks what was built, leaving out what does not fit as long as that helps; *ret is in converter->tree. */
static as_status settle(struct converter *converter, struct conversion *conversion, struct value *built,
                        struct value **ret)
{
    struct problems problems;
    as_status status = AS_E_INVALID;
    for (int round = 0; round < SETTLE_ROUNDS; round++) {
        bool is_helped = false;
        problems = (struct problems){NULL, NULL, 0};
        status = check_report(converter->tree, converter->model, built, &problems, ret);
        if (status != AS_E_INVALID)
            break;
        for (const struct problem *problem = problems.first; problem; problem = problem->next)
            is_helped = leave_out(converter, built, problem) || is_helped;
        if (!is_helped)
            return refused(converter, conversion, &problems);
    }
    if (status == AS_E_INVALID)
        return refused(converter, conversion, &problems);
    return status == AS_OK ? AS_OK : tree_status(converter->tree, converter->err);
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

/* What a conversion of many needs at each of them. */
struct making {
    struct converter *converter;
    const struct generator *generator;
    struct conversion *conversion;
    const struct convert_taker *taker;
    int64_t count;    /* benchmarks seen */
    size_t wanted;    /* reports to be made */
    as_status status; /* of the first report that could not be made or taken */
};

static as_status make_one(struct making *making, const struct value *benchmark, int64_t index)
{
    struct converter *converter = making->converter;
    const struct generator *generator = making->generator;
    convert_function function = converter->model == &model_0_1 ? generator->to_0_1 : generator->to_0_2;
    struct brief_report report = {.model = converter->model};
    converter->benchmark = benchmark;
    converter->index = index;
    converter->model_name = NULL;
    tree_empty(converter->tree);
    struct value *built = function(converter);
    if (converter->tree->failed)
        return tree_status(converter->tree, converter->err);
    as_status status = settle(converter, making->conversion, built, &report.root);
    if (status != AS_OK)
        return status;
    warn_of_units(converter, report.root);
    return making->taker->take(making->taker->context, &report, converter->err);
}

/* Whether `count` benchmarks can be converted, and the one asked for is among them. */
static as_status check_count(const struct making *making, int64_t count)
{
    const struct converter *converter = making->converter;
    const struct convert_request *request = converter->request;
    if (count <= 0 || count > BENCHMARKS_MAX)
        return error_set(converter->err, AS_E_INVALID, "benchmarks: must be a list of benchmarks that is not empty");
    if (!request->has_index)
        return AS_OK;
    if (request->index >= count || request->index < -count)
        return error_set(converter->err, AS_E_INVALID, "benchmarks: there is no index %" PRId64 " of %" PRId64,
                         request->index, count);
    if (request->index < 0 && converter->model != &model_0_1)
        return error_set(converter->err, AS_E_INVALID,
                         "scenario.load.standardized.stage: must be at least 0, not %" PRId64, request->index);
    return AS_OK;
}

static int64_t list_length(const struct value *list)
{
    return value_is(list, VALUE_LIST) ? (int64_t)list->len : 0;
}

static as_status check_map(const struct converter *converter, const struct value *native)
{
    if (value_is(native, VALUE_MAP))
        return AS_OK;
    return error_set(converter->err, AS_E_INVALID, "the results must be a mapping, not %s", value_type_name(native));
}

/* From a file that is in memory as a whole. */
static as_status make_all(struct making *making)
{
    struct converter *converter = making->converter;
    const struct convert_request *request = converter->request;
    as_status status = check_map(converter, converter->native);
    if (status != AS_OK)
        return status;
    if (!making->generator->has_benchmarks) {
        making->taker->begin(making->taker->context, 1);
        return make_one(making, NULL, 0);
    }
    const struct value *list = value_get(converter->native, "benchmarks");
    int64_t count = list_length(list), index = 0;
    status = check_count(making, count);
    making->taker->begin(making->taker->context, request->has_index ? 1 : (size_t)count);
    if (status == AS_OK && request->has_index)
        return make_one(making, value_item(list, (size_t)(request->index + (request->index < 0 ? count : 0))),
                        request->index);
    for (const struct value *item = status == AS_OK ? list->first : NULL; item && status == AS_OK; item = item->next)
        status = make_one(making, item, index++);
    return status;
}

static as_status take_benchmark(void *context, const struct value *item, struct as_error *err)
{
    struct making *making = context;
    const struct convert_request *request = making->converter->request;
    int64_t index = making->count++;
    if (request->has_index && index != request->index)
        return AS_OK;
    making->status = make_one(making, item, index);
    if (making->status != AS_OK && err)
        *err = *making->converter->err;
    return making->status;
}

static void start_over(void *context)
{
    struct making *making = context;
    making->count = 0;
    strbuf_reset(making->converter->warnings);
    making->taker->begin(making->taker->context, making->wanted);
}

/*
 * From a JSON file of many benchmarks, one at a time: first all but them is read, since it may stand behind them, then
 * they are. AS_E_UNSUPPORTED when it has to be read as a whole.
 */
static as_status make_each(struct making *making)
{
    static const char *const all_but_them[] = {"benchmarks.*", NULL};
    struct converter *converter = making->converter;
    const struct convert_request *request = converter->request;
    struct value *native, *again = NULL;
    const struct read_items items = {.skip = making->generator->skip,
                                     .list = "benchmarks",
                                     .tree = &making->conversion->item,
                                     .take = take_benchmark,
                                     .restart = start_over,
                                     .context = making};
    struct as_error refused;
    as_status status = read_path(request->path, all_but_them, &making->conversion->tree, &native, converter->err);
    if (status != AS_OK)
        return status;
    converter->native = native;
    int64_t count = list_length(value_get(native, "benchmarks"));
    status = check_map(converter, native);
    if (status == AS_OK)
        status = check_count(making, count);
    if (status != AS_OK)
        return error_prefix(converter->err, "%s", request->path);
    making->wanted = request->has_index ? 1 : (size_t)count;
    status = read_path_items(request->path, &items, &making->conversion->tree, &again, &refused);
    if (status == AS_OK)
        return AS_OK;
    if (making->status != AS_OK)
        return error_prefix(converter->err, "%s", request->path);
    if (status == AS_E_INVALID) /* it was YAML that begins like JSON */
        return AS_E_UNSUPPORTED;
    *converter->err = refused;
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

static bool has_many_in_json(const struct making *making)
{
    const struct convert_request *request = making->converter->request;
    return making->generator->has_benchmarks && !(request->has_index && request->index < 0);
}

/* `text` NULL: the file at request->path. */
static as_status make(struct making *making, const char *text, size_t len)
{
    struct converter *converter = making->converter;
    const struct convert_request *request = converter->request;
    struct conversion *conversion = making->conversion;
    struct value *native;
    as_status status = AS_E_UNSUPPORTED;
    if (!text && has_many_in_json(making))
        status = make_each(making);
    if (status != AS_E_UNSUPPORTED)
        return status;
    tree_empty(&conversion->tree);
    strbuf_reset(converter->warnings);
    if (text)
        status = read_parts(&(struct read_parts){text, len, making->generator->skip}, &conversion->tree, &native,
                            converter->err);
    else
        status = read_path(request->path, making->generator->skip, &conversion->tree, &native, converter->err);
    if (status != AS_OK)
        return status;
    converter->native = native;
    status = make_all(making);
    if (status != AS_OK && request->path)
        return error_prefix(converter->err, "%s", request->path);
    return status;
}

static as_status convert(const struct convert_request *request, const struct read_parts *text,
                         const struct convert_taker *taker, struct conversion *ret, struct as_error *err)
{
    struct as_error unasked = {0};
    struct converter converter = {
        .request = request, .tree = &ret->scratch, .warnings = &ret->warnings, .err = err ? err : &unasked};
    struct making making = {.converter = &converter, .conversion = ret, .taker = taker};
    as_status status = choose_converter(request, &converter, &making.generator);
    if (status != AS_OK || !making.generator)
        return status;
    return make(&making, text ? text->text : NULL, text ? text->len : 0);
}

as_status convert_file_each(const struct convert_request *request, const struct convert_taker *taker,
                            struct conversion *ret, struct as_error *err)
{
    return convert(request, NULL, taker, ret, err);
}

/* ---- reports that are kept ---- */

static as_status keep_report(void *context, const struct brief_report *report, struct as_error *err)
{
    struct conversion *conversion = context;
    if (conversion->count == conversion->capacity) {
        size_t capacity = conversion->capacity ? 2 * conversion->capacity : 4;
        struct brief_report *grown = realloc(conversion->reports, capacity * sizeof *grown);
        if (!grown)
            return error_set(err, AS_E_NOMEM, "out of memory");
        conversion->reports = grown;
        conversion->capacity = capacity;
    }
    struct brief_report *copy = &conversion->reports[conversion->count++];
    brief_init(copy);
    copy->model = report->model;
    copy->root = value_copy(&copy->tree, report->root);
    return tree_status(&copy->tree, err);
}

static void drop_reports(void *context, size_t count)
{
    struct conversion *conversion = context;
    (void)count;
    while (conversion->count > 0)
        brief_done(&conversion->reports[--conversion->count]);
}

as_status convert_file(const struct convert_request *request, struct conversion *ret, struct as_error *err)
{
    const struct convert_taker keeper = {keep_report, drop_reports, ret};
    return convert(request, NULL, &keeper, ret, err);
}

as_status convert_text(const struct convert_request *request, const char *text, size_t len, struct conversion *ret,
                       struct as_error *err)
{
    const struct convert_taker keeper = {keep_report, drop_reports, ret};
    return convert(request, &(struct read_parts){text, len, NULL}, &keeper, ret, err);
}
