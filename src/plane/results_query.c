/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statement behind pages of results:
 *
 *   WITH page AS (jobs by their own table and indexes: filters, order, place, limit; a job counts when a result of it
 * fits), found AS (their figures, from each tool's table) SELECT … FROM found CROSS JOIN the chain …
 *
 * in this order, which SQLite keeps and PostgreSQL plans in a moment: over the views, which join the chain once a tool,
 * it needed 200 ms. Its text depends on which filters are given and on the size of the page in steps (sql_limit_step),
 * not on values or place: it is prepared once, and because the limit is no parameter PostgreSQL keeps one plan for all
 * values.
 */
#include "plane/results.h"

#include "plane/query.h"

#include <stdio.h>
#include <string.h>

#define CHOICES_MAX 16

enum source_bit { LLM = 1, VLM = 2, ASR = 4, IMAGEGEN = 8, EXTERNAL = 16, OURS = 15, EVERY = 31 };

/* Where results of one kind lie. */
struct source {
    enum source_bit bit;
    const char *kind; /* NULL: its own member says */
    const char *table;
};
static const struct source SOURCES[] = {
    {LLM, "metrumbench-llm", "metrumbench_llm_outputs"},
    {VLM, "metrumbench-vlm", "metrumbench_vlm_outputs"},
    {ASR, "metrumbench-asr", "metrumbench_asr_outputs"},
    {IMAGEGEN, "metrumbench-imagegen", "metrumbench_imagegen_outputs"},
    {EXTERNAL, NULL, "external_outputs"},
};
enum { SOURCE_COUNT = sizeof SOURCES / sizeof SOURCES[0] };

/* Members that are properties of the chain; `found` has the others. */
#define OF_GPUS(expression) "(SELECT " expression " FROM telemetry_gpu_rollups g WHERE g.job_attempt_id = a.id)"
static const struct {
    const char *name, *sql;
} CHAIN[] = {
    {"project_code", "p.project_code"},
    {"workload_code", "w.workload_code"},
    {"scenario_code", "sc.scenario_code"},
    {"run_code", "r.run_code"},
    {"job_code", "j.job_code"},
    {"origin", "j.origin"},
    {"attempt", "a.attempt"},
    {"created_at", "j.created_ns"},
    {"finished_at", "j.finished_ns"},
    {"tool", "w.tool"},
    {"model_code", "m.model_code"},
    {"model_family", "m.family"},
    {"framework_code", "f.framework_code"},
    {"framework_version", "fv.version"},
    {"framework_build", "fv.build"},
    {"quantization", "w.quantization"},
    {"set_code", "k.set_code"},
    {"set_revision", "k.set_revision"},
    {"prompt_source_code", "k.prompt_source_code"},
    {"config_code", "c.config_code"},
    {"hostname", "s.hostname"},
    {"gpu_class_code", "gc.gpu_class_code"},
    {"gpus_used", "a.gpu_count"},
    {"replicas", "k.replicas"},
    {"scenario_concurrency", "sc.concurrency"},
    {"scenario_request_rate_per_s", "sc.request_rate_per_s"},
    {"isl_tokens", "sc.isl_tokens"},
    {"osl_tokens", "sc.osl_tokens"},
    {"workload_digest", "COALESCE(k.workload_digest, found.workload_digest)"},
    {"environment_digest", "COALESCE(a.environment_digest, found.environment_digest)"},
    {"avg_gpu_power_w", OF_GPUS("sum(g.power_w_sum) / nullif(sum(g.power_w_n), 0)")},
    {"avg_gpu_utilization", OF_GPUS("sum(g.utilization_sum) / nullif(sum(g.utilization_n), 0)")},
    {"max_gpu_memory_percent", OF_GPUS("100.0 * max(g.memory_ratio_max)")},
    {"command_digest", "i.digest"},
    {"summary_digest", "d.digest"},
};

/* Members that not every source has. */
static const struct {
    const char *name;
    int sources;
} ONLY[] = {
    {"token_source", OURS},
    {"workload_digest", OURS},
    {"environment_digest", OURS},
    {"is_valid", OURS},
    {"is_partial", OURS},
    {"error_rate", OURS},
    {"goodput_requests_per_second", OURS},
    {"ttft_spec_ms_p50", OURS},
    {"ttft_spec_ms_p99", OURS},
    {"tpot_spec_ms_p50", OURS},
    {"tpot_spec_ms_p99", OURS},
    {"rtfx_pooled", ASR},
    {"audio_seconds_per_second", ASR},
    {"wer_corpus_rate", ASR},
    {"cer_corpus_rate", ASR},
    {"images_per_second", IMAGEGEN},
    {"megapixels_per_second", IMAGEGEN},
    {"latency_ms_p50", IMAGEGEN},
    {"latency_ms_p95", IMAGEGEN},
};

/* What a filter is a property of. */
enum place { OF_JOB, OF_WORKLOAD, OF_SCENARIO, OF_RUN, OF_PLAN, OF_SERVER, OF_OUTPUT, OF_SOURCE };

struct filter {
    const char *name;
    enum place place;
    const char *column;
    enum field_type type;
    const char *operator; /* NULL: one of the values between commas */
};
/* name, what it is a property of, column, type, operator (NULL: one of the values between commas), sentence */
#define FILTER_MAP(X)                                                                                                  \
    X("project_code", OF_WORKLOAD, "p.project_code", FIELD_TEXT, NULL,                                                 \
      "Project; several between commas, as everywhere below.")                                                         \
    X("workload_code", OF_WORKLOAD, "w.workload_code", FIELD_TEXT, NULL, "Workload.")                                  \
    X("tool", OF_WORKLOAD, "w.tool", FIELD_TEXT, NULL, "Tool of the workload.")                                        \
    X("quantization", OF_WORKLOAD, "w.quantization", FIELD_TEXT, NULL, "Precision of the weights.")                    \
    X("model_code", OF_WORKLOAD, "m.model_code", FIELD_TEXT, NULL, "Model.")                                           \
    X("model_family", OF_WORKLOAD, "m.family", FIELD_TEXT, NULL, "Its family.")                                        \
    X("framework_code", OF_WORKLOAD, "f.framework_code", FIELD_TEXT, NULL, "Framework.")                               \
    X("framework_version", OF_WORKLOAD, "fv.version", FIELD_TEXT, NULL, "Its version.")                                \
    X("framework_build", OF_WORKLOAD, "fv.build", FIELD_TEXT, NULL, "Its build.")                                      \
    X("scenario_code", OF_SCENARIO, "sc.scenario_code", FIELD_TEXT, NULL, "Scenario.")                                 \
    X("scenario_concurrency", OF_SCENARIO, "sc.concurrency", FIELD_INT, NULL, "Concurrency.")                          \
    X("isl_tokens", OF_SCENARIO, "sc.isl_tokens", FIELD_INT, NULL, "Tokens of a prompt asked for.")                    \
    X("osl_tokens", OF_SCENARIO, "sc.osl_tokens", FIELD_INT, NULL, "Tokens of an answer asked for.")                   \
    X("run_code", OF_RUN, "r.run_code", FIELD_TEXT, NULL, "Run.")                                                      \
    X("job_code", OF_JOB, "j.job_code", FIELD_TEXT, NULL, "Job.")                                                      \
    X("origin", OF_JOB, "j.origin", FIELD_TEXT, NULL, "measured or imported.")                                         \
    X("created_at_from", OF_JOB, "j.created_ns", FIELD_TIME, ">=", "Jobs made from this time on.")                     \
    X("created_at_to", OF_JOB, "j.created_ns", FIELD_TIME, "<", "Jobs made before this time.")                         \
    X("finished_at_from", OF_JOB, "j.finished_ns", FIELD_TIME, ">=", "Jobs that ended from this time on.")             \
    X("finished_at_to", OF_JOB, "j.finished_ns", FIELD_TIME, "<", "Jobs that ended before this time.")                 \
    X("set_code", OF_PLAN, "k.set_code", FIELD_TEXT, NULL, "Engine-argument set.")                                     \
    X("prompt_source_code", OF_PLAN, "k.prompt_source_code", FIELD_TEXT, NULL, "Prompt source.")                       \
    X("workload_digest", OF_PLAN, "k.workload_digest", FIELD_TEXT, NULL, "Digest of what was asked.")                  \
    X("config_code", OF_SERVER, "c.config_code", FIELD_TEXT, NULL, "Hardware.")                                        \
    X("hostname", OF_SERVER, "s.hostname", FIELD_TEXT, NULL, "Host.")                                                  \
    X("gpu_class_code", OF_SERVER, "gc.gpu_class_code", FIELD_TEXT, NULL, "GPU class.")                                \
    X("result", OF_OUTPUT, "o.result", FIELD_TEXT, NULL, "accepted or superseded.")                                    \
    X("output_kind", OF_SOURCE, "o.harness", FIELD_TEXT, NULL, "Whose figures: a tool of ours, or another harness.")

static const struct filter FILTERS[] = {
#define FILTER_ROW(name, place, column, type, operator, about) {name, place, column, type, operator},
    FILTER_MAP(FILTER_ROW)
#undef FILTER_ROW
};
enum { FILTER_COUNT = sizeof FILTERS / sizeof FILTERS[0] };
_Static_assert((int)FILTER_COUNT == (int)RESULT_FILTERS, "what the contract lists");

const struct route_param result_params[] = {{"cursor", "`next` of the page before."},
                                            {"limit", "Jobs at most; each comes with all its results that fit."},
#define FILTER_PARAM(name, place, column, type, operator, about) {name, about},
                                            FILTER_MAP(FILTER_PARAM)
#undef FILTER_PARAM
};

/* The filters that a call gives. */
struct chosen {
    const char *conditions[FILTER_COUNT]; /* " IN (?3, ?4)"; NULL = not given */
    int sources;
};

as_status results_check_names(struct plane_call *call, const char *const *names, size_t count)
{
    const char *all[FILTER_COUNT + 8];
    size_t all_count = 0;
    for (size_t i = 0; i < FILTER_COUNT; i++)
        all[all_count++] = FILTERS[i].name;
    for (size_t i = 0; i < count && i < 8; i++)
        all[all_count++] = names[i];
    return call_query_check(call, all, all_count);
}

/* Our kinds are sources of their own; any other word is a harness of the last one. */
static int sources_named(const char *text)
{
    int named = 0;
    while (*text) {
        const size_t len = strcspn(text, ",");
        int bit = EXTERNAL;
        for (size_t i = 0; i < SOURCE_COUNT; i++)
            if (SOURCES[i].kind && strlen(SOURCES[i].kind) == len && strncmp(text, SOURCES[i].kind, len) == 0)
                bit = (int)SOURCES[i].bit;
        named |= bit;
        text += len + (text[len] == ',');
    }
    return named ? named : EXTERNAL;
}

/* " IN (?3, ?4)" for the parts of `text` between commas; NULL with the problem set. */
static const char *choices(struct plane_call *call, struct sql *sql, const struct field *field, const char *text)
{
    char list[CHOICES_MAX * 8 + 8] = " IN (";
    size_t len = strlen(list);
    for (int count = 0;; count++) {
        const size_t part_len = strcspn(text, ",");
        const char *part = arena_strndup(&call->arena, text, part_len);
        struct store_value value;
        if (!part || call_query_value(call, field, part, &value) != AS_OK) {
            (void)call_store_failed(call, AS_E_NOMEM);
            return NULL;
        }
        if (count == CHOICES_MAX) {
            (void)problem_add(&call->problem, call_printf(call, "?%s", field->name), "length",
                              "takes %d values at most", CHOICES_MAX);
            return NULL;
        }
        len += (size_t)snprintf(list + len, sizeof list - len, "%s?%u", count ? ", " : "", sql_param(sql, value));
        text += part_len;
        if (!*text++)
            break;
    }
    return call_printf(call, "%s)", list);
}

static as_status choose(struct plane_call *call, struct sql *sql, struct chosen *ret)
{
    *ret = (struct chosen){.sources = EVERY};
    for (size_t i = 0; i < FILTER_COUNT; i++) {
        const struct field field = {.name = FILTERS[i].name, .type = FILTERS[i].type};
        const char *text;
        struct store_value value;
        as_status status = call_query(call, field.name, &text);
        if (status != AS_OK)
            return status;
        if (!text)
            continue;
        if (!FILTERS[i].operator) {
            ret->conditions[i] = choices(call, sql, &field, text);
        } else if (call_query_value(call, &field, text, &value) == AS_OK) {
            ret->conditions[i] = call_printf(call, " %s ?%u", FILTERS[i].operator, sql_param(sql, value));
        }
        if (!ret->conditions[i])
            return AS_E_INVALID;
        if (FILTERS[i].place == OF_SOURCE)
            ret->sources = sources_named(text);
    }
    return AS_OK;
}

static bool is_any_given(const struct chosen *chosen, enum place place)
{
    for (size_t i = 0; i < FILTER_COUNT; i++)
        if (FILTERS[i].place == place && chosen->conditions[i])
            return true;
    return false;
}

static void add_conditions(struct sql *sql, const struct chosen *chosen, enum place place)
{
    for (size_t i = 0; i < FILTER_COUNT; i++)
        if (FILTERS[i].place == place && chosen->conditions[i])
            sql_add(sql, " AND %s%s", FILTERS[i].column, chosen->conditions[i]);
}

/* A condition on the id of another row: "<begins> <own row> <conditions>". */
struct subset {
    enum place place;
    const char *begins;
    const char *own; /* alias; NULL: it hangs on the job */
};
static const struct subset OF_THE_WORKLOAD = {
    OF_WORKLOAD,
    "j.workload_id IN (SELECT w.id FROM workloads w JOIN projects p ON p.id = w.project_id JOIN models m ON m.id = "
    "w.model_id JOIN framework_versions fv ON fv.id = w.framework_version_id JOIN frameworks f ON f.id = "
    "fv.framework_id WHERE ",
    "w"};
static const struct subset OF_THE_SCENARIO = {OF_SCENARIO, "j.scenario_id IN (SELECT sc.id FROM scenarios sc WHERE ",
                                              "sc"};
static const struct subset OF_THE_RUN = {OF_RUN, "j.run_id IN (SELECT r.id FROM runs r WHERE ", "r"};
static const struct subset OF_THE_PLAN = {OF_PLAN, "EXISTS (SELECT 1 FROM job_plans k WHERE k.job_id = j.id", NULL};
static const struct subset OF_THE_SERVER = {OF_SERVER,
                                            "a.server_id IN (SELECT s.id FROM servers s JOIN server_configs c ON c.id "
                                            "= s.server_config_id LEFT JOIN gpu_classes "
                                            "gc ON gc.id = c.gpu_class_id WHERE ",
                                            "s"};

/*
 * Adds it when a filter of its place is given. Few jobs fit a `narrow` one, which an index of its own finds; for others
 * "IS TRUE" keeps both databases at the index of jobs by time, which they leave as soon as the page is full.
 */
static void add_subset(struct sql *sql, const struct chosen *chosen, const struct subset *subset, bool is_narrow)
{
    if (!is_any_given(chosen, subset->place))
        return;
    sql_add(sql, " AND (%s", subset->begins);
    if (subset->own)
        sql_own(sql, subset->own);
    add_conditions(sql, chosen, subset->place);
    sql_add(sql, "%s", is_narrow ? "))" : ")) IS TRUE");
}

static bool is_given(const struct chosen *chosen, const char *name)
{
    for (size_t i = 0; i < FILTER_COUNT; i++)
        if (chosen->conditions[i] && strcmp(FILTERS[i].name, name) == 0)
            return true;
    return false;
}

/* That the job has a result in one of the sources which fits. */
static void add_has_result(struct sql *sql, const struct chosen *chosen)
{
    const char *separator = " AND EXISTS (";
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        if (!(chosen->sources & (int)SOURCES[i].bit))
            continue;
        sql_add(sql, "%sSELECT 1 FROM %s o", separator, SOURCES[i].table);
        separator = " UNION ALL ";
        if (is_any_given(chosen, OF_SERVER))
            sql_add(sql, " JOIN job_attempts a ON a.id = o.job_attempt_id");
        sql_add(sql, " WHERE o.job_id = j.id");
        add_conditions(sql, chosen, OF_OUTPUT);
        if (SOURCES[i].bit == EXTERNAL)
            add_conditions(sql, chosen, OF_SOURCE);
        add_subset(sql, chosen, &OF_THE_SERVER, false);
    }
    sql_add(sql, ")");
}

static void add_page(struct results *results, const struct chosen *chosen)
{
    struct sql *sql = &results->sql;
    results->created_at = sql_param(sql, store_int(INT64_MAX));
    results->id_at = sql_param(sql, store_int(INT64_MAX));
    sql_add(sql, "WITH page AS MATERIALIZED (SELECT j.id AS id, j.created_ns AS created_ns FROM jobs j WHERE ");
    sql_own(sql, "j");
    sql_add(sql, " AND (j.created_ns, j.id) < (?%u, ?%u)", results->created_at, results->id_at);
    add_conditions(sql, chosen, OF_JOB);
    add_subset(sql, chosen, &OF_THE_WORKLOAD, is_given(chosen, "workload_code"));
    add_subset(sql, chosen, &OF_THE_SCENARIO, false);
    add_subset(sql, chosen, &OF_THE_RUN, true);
    add_subset(sql, chosen, &OF_THE_PLAN, false);
    add_has_result(sql, chosen);
    sql_add(sql, " ORDER BY j.created_ns DESC, j.id DESC LIMIT %lld)", (long long)results->most_jobs);
}

static int sources_of(const char *member)
{
    for (size_t i = 0; i < sizeof ONLY / sizeof ONLY[0]; i++)
        if (strcmp(ONLY[i].name, member) == 0)
            return ONLY[i].sources;
    return EVERY;
}

static const char *type_name(enum field_type type)
{
    switch (type) {
    case FIELD_INT:
    case FIELD_TIME:
        return "bigint";
    case FIELD_NUMBER:
        return "double precision";
    case FIELD_BOOL:
        return "boolean";
    default:
        return "text";
    }
}

static const char *chain_sql(const char *member)
{
    for (size_t i = 0; i < sizeof CHAIN / sizeof CHAIN[0]; i++)
        if (strcmp(CHAIN[i].name, member) == 0)
            return CHAIN[i].sql;
    return NULL;
}

/* Whether `found` has a member of this name: all but those of the chain alone. */
static bool is_found(const char *member)
{
    const char *sql = chain_sql(member);
    return !sql || strstr(sql, "found.");
}

static void add_found_member(struct sql *sql, const struct source *source, const struct field *field)
{
    if (strcmp(field->name, "output_kind") == 0 && source->kind)
        sql_add(sql, ", '%s'", source->kind);
    else if (strcmp(field->name, "output_kind") == 0)
        sql_add(sql, ", o.harness");
    else if (sources_of(field->name) & (int)source->bit)
        sql_add(sql, ", o.%s", field->name);
    else
        sql_add(sql, ", CAST(NULL AS %s)", type_name(field->type));
    sql_add(sql, " AS %s", field->name);
}

static void add_source(struct sql *sql, const struct chosen *chosen, const struct source *source)
{
    sql_add(sql, "SELECT page.created_ns AS created_ns, page.id AS job_id, o.job_attempt_id AS job_attempt_id, "
                 "o.tool_invocation_id AS tool_invocation_id, o.summary_document_id AS summary_document_id");
    for (size_t i = 0; i < result_shape.count; i++)
        if (is_found(result_shape.fields[i].name))
            add_found_member(sql, source, &result_shape.fields[i]);
    sql_add(sql, " FROM page CROSS JOIN %s o WHERE o.job_id = page.id", source->table);
    add_conditions(sql, chosen, OF_OUTPUT);
    if (source->bit == EXTERNAL)
        add_conditions(sql, chosen, OF_SOURCE);
}

static void add_found(struct sql *sql, const struct chosen *chosen)
{
    const char *separator = ", found AS (";
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        if (!(chosen->sources & (int)SOURCES[i].bit))
            continue;
        sql_add(sql, "%s", separator);
        add_source(sql, chosen, &SOURCES[i]);
        separator = " UNION ALL ";
    }
    sql_add(sql, ")");
}

static void add_chain(struct sql *sql, const struct chosen *chosen)
{
    sql_add(sql, " SELECT found.created_ns, found.job_id, a.attempt");
    for (size_t i = 0; i < result_shape.count; i++) {
        const char *name = result_shape.fields[i].name, *chain = chain_sql(name);
        if (chain)
            sql_add(sql, ", %s", chain);
        else
            sql_add(sql, ", found.%s", name);
    }
    sql_add(sql,
            " FROM found CROSS JOIN job_attempts a CROSS JOIN tool_invocations i CROSS JOIN jobs j CROSS JOIN "
            "scenarios sc CROSS "
            "JOIN runs r CROSS JOIN workloads w CROSS JOIN projects p CROSS JOIN models m CROSS JOIN "
            "framework_versions fv CROSS "
            "JOIN frameworks f LEFT JOIN job_plans k ON k.job_id = found.job_id LEFT JOIN servers s ON s.id = "
            "a.server_id LEFT "
            "JOIN server_configs c ON c.id = s.server_config_id LEFT JOIN gpu_classes gc ON gc.id = c.gpu_class_id "
            "LEFT JOIN "
            "summary_documents d ON d.id = found.summary_document_id WHERE a.id = found.job_attempt_id AND i.id = "
            "found.tool_invocation_id AND j.id = found.job_id AND sc.id = j.scenario_id AND r.id = j.run_id AND w.id = "
            "j.workload_id AND p.id = w.project_id AND m.id = w.model_id AND fv.id = w.framework_version_id AND f.id = "
            "fv.framework_id");
    add_conditions(sql, chosen, OF_SERVER);
    sql_add(sql, " ORDER BY 1 DESC, 2 DESC, 3 DESC");
}

as_status results_begin(struct results *results, struct plane_call *call, int64_t jobs)
{
    struct chosen chosen;
    *results = (struct results){.created_ns = INT64_MAX, .job_id = INT64_MAX, .most_jobs = sql_limit_step(jobs)};
    sql_begin(&results->sql, call);
    as_status status = choose(call, &results->sql, &chosen);
    if (status != AS_OK)
        return status;
    add_page(results, &chosen);
    add_found(&results->sql, &chosen);
    add_chain(&results->sql, &chosen);
    return AS_OK;
}

void results_done(struct results *results)
{
    sql_done(&results->sql);
}

as_status results_read(struct results *results, struct plane_call *call, struct store_rows **ret)
{
    struct store_value *params = results->sql.params;
    params[results->created_at - 1] = store_int(results->created_ns);
    params[results->id_at - 1] = store_int(results->job_id);
    return sql_query(&results->sql, call, ret);
}

void results_put_members(struct json_writer *json, const struct store_rows *rows)
{
    for (uint32_t i = 0; i < result_shape.count; i++) {
        json_key(json, result_shape.fields[i].name);
        resource_put_value(json, &result_shape.fields[i], rows, RESULT_FIRST + i);
    }
}
