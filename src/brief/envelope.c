/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"
#include "brief/hash.h"
#include "brief/scalar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096
#define NO_EXPERIMENT                                                                                                  \
    "WARNING: no experiment ID from LLMDBENCH_RUN_EXPERIMENT_ID, run_metadata.yaml:experiment_id, or the results "     \
    "directory name; "                                                                                                 \
    "run.eid will be omitted, and run.description too unless supplied"

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Ends in -<10 or more digits>-<lowercase letters and digits>, as generated experiment names do. */
static bool is_generated_name(const char *name, size_t len)
{
    size_t tail = 0, digits = 0;
    while (tail < len && is_lower_or_digit(name[len - 1 - tail]))
        tail++;
    if (tail == 0 || tail == len || name[len - 1 - tail] != '-')
        return false;
    len -= tail + 1;
    while (digits < len && is_digit(name[len - 1 - digits]))
        digits++;
    return digits >= 10 && digits < len && name[len - 1 - digits] == '-';
}

/* The experiment ID in the name of the results folder, NULL when it has none. */
static const char *experiment_of_folder(struct converter *converter)
{
    const char *folder = variable(converter, "LLMDBENCH_RUN_EXPERIMENT_RESULTS_DIR");
    size_t len = folder ? strlen(folder) : 0, digits = 0;
    while (len > 0 && folder[len - 1] == '/')
        len--;
    size_t from = len;
    while (from > 0 && folder[from - 1] != '/')
        from--;
    if (len == from)
        return NULL;
    const char *name = folder + from;
    len -= from;
    while (digits < len && is_digit(name[len - 1 - digits]))
        digits++;
    if (digits > 0 && digits < len && name[len - 1 - digits] == '_')
        len -= digits + 1;
    return is_generated_name(name, len) ? tree_strndup(converter->tree, name, len) : NULL;
}

static const char *experiment_id(struct converter *converter)
{
    const char *id = meta(converter, "experiment_id", "LLMDBENCH_RUN_EXPERIMENT_ID");
    return id ? id : experiment_of_folder(converter);
}

static const char *submitted_description(struct converter *converter)
{
    const char *given = converter->request->description;
    while (given && (*given == ' ' || *given == '\t'))
        given++;
    return given && *given ? given : meta(converter, "description_text", "LLMDBENCH_DESCRIPTION_TEXT");
}

void envelope_describe(struct converter *converter, struct value *report)
{
    struct tree *tree = converter->tree;
    struct value *run = report_map(converter, report, "run");
    const char *id = experiment_id(converter), *submitted = submitted_description(converter),
               *model = converter->model_name;
    if (submitted)
        value_set(run, "description", value_text(tree, submitted));
    else if (id && model && *model)
        value_set(run, "description", value_textf(tree, "%s [%s]", model, id));
    else if (id)
        value_set(run, "description", value_text(tree, id));
}

static void put_identity(struct converter *converter, struct value *run)
{
    char uuid[UUID_TEXT_BYTES];
    struct tree *tree = converter->tree;
    const char *id = experiment_id(converter), *keywords = converter->request->keywords;
    if (!keywords)
        keywords = meta(converter, "description_keywords", "LLMDBENCH_DESCRIPTION_KEYWORDS");
    if (uuid4_text(uuid) == AS_OK)
        value_put(run, "uid", value_text(tree, uuid));
    if (id) {
        uuid5_text(UUID_URL, id, strlen(id), uuid);
        value_put(run, "eid", value_text(tree, uuid));
    } else {
        convert_warn(converter, NO_EXPERIMENT);
    }
    value_put(run, "keywords", split_commas(converter, keywords));
}

/* Inside a harness pod. */

/* Deployment parameters: /standup/ev.yaml, else run_metadata.yaml. */
static const struct value *parameters(struct converter *converter)
{
    const struct value *ev = read_beside(converter, "/standup/ev.yaml", "deployment parameters");
    return value_is(ev, VALUE_MAP) ? ev : converter->metadata;
}

static const char *pod_namespace(struct converter *converter, const struct value *ev)
{
    const struct value *text = read_beside(converter, "/var/run/secrets/kubernetes.io/serviceaccount/namespace", NULL);
    const char *name = value_string(text);
    return name ? name : value_string(value_get(ev, "namespace"));
}

/* The name of what the cluster is known by here; its API server is not asked. */
static const char *cluster_name(struct converter *converter, const struct value *ev)
{
    const char *host = variable(converter, "KUBERNETES_SERVICE_HOST");
    if (host && variable(converter, "KUBERNETES_SERVICE_PORT"))
        return host;
    const char *endpoint = value_string(value_get(ev, "endpoint_url"));
    if (endpoint && *endpoint)
        return endpoint;
    const char *namespace = value_string(value_get(ev, "namespace"));
    return namespace && *namespace ? namespace : "run-only";
}

static void put_pod_run(struct converter *converter, struct value *run, const struct value *ev)
{
    static const struct {
        const char *field, *key, *name;
    } times[] = {{"start", "harness_start", "LLMDBENCH_HARNESS_START"},
                 {"end", "harness_stop", "LLMDBENCH_HARNESS_STOP"},
                 {"duration", "harness_delta", "LLMDBENCH_HARNESS_DELTA"}};
    char uuid[UUID_TEXT_BYTES];
    struct tree *tree = converter->tree;
    const char *cluster = cluster_name(converter, ev), *namespace = pod_namespace(converter, ev);
    uuid5_text(UUID_DNS, cluster, strlen(cluster), uuid);
    value_put(run, "cid", value_text(tree, uuid));
    value_put(run, "pid", value_text(tree, variable(converter, "POD_UID")));
    if (namespace)
        value_put(run, "user", value_textf(tree, "namespace=%s", namespace));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const char *text = meta(converter, times[i].key, times[i].name);
        if (text)
            value_set(report_map(converter, run, "time"), times[i].field, value_text(tree, text));
    }
}

/* One piece of a command line between two "--": "key=value", "key value" or "key". */
static void put_argument(struct tree *tree, struct value *args, const char *piece, size_t len)
{
    while (len > 0 && (piece[0] == ' ' || piece[0] == '\n')) {
        piece++;
        len--;
    }
    while (len > 0 && (piece[len - 1] == ' ' || piece[len - 1] == '\n'))
        len--;
    size_t key_len = 0;
    while (key_len < len && piece[key_len] != '=' && piece[key_len] != ' ')
        key_len++;
    char *key = key_len > 0 ? tree_strndup(tree, piece, key_len) : NULL;
    if (!key)
        return;
    size_t at = key_len;
    while (at < len && (piece[at] == ' ' || (piece[at] == '=' && at == key_len)))
        at++;
    value_set(args, key, key_len < len ? value_textn(tree, piece + at, len - at) : value_null(tree));
}

static struct value *harness_args(struct converter *converter)
{
    const char *text = meta(converter, "harness_args", "LLMDBENCH_HARNESS_ARGS");
    struct value *args = value_map(converter->tree);
    const char *at = text ? strstr(text, "--") : NULL;
    while (at) {
        const char *piece = at + 2, *next = strstr(piece, "--");
        put_argument(converter->tree, args, piece, next ? (size_t)(next - piece) : strlen(piece));
        at = next;
    }
    return args;
}

static struct value *workload_config(struct converter *converter, const struct value *args)
{
    char path[PATH_BYTES];
    const char *folder = variable(converter, "LLMDBENCH_RUN_EXPERIMENT_RESULTS_DIR"),
               *name = value_string(value_get(converter->metadata, "harness_workload"));
    const char *paths[] = {variable(converter, "LLMDBENCH_RUN_EXPERIMENT_HARNESS_WORKLOAD_NAME"),
                           value_string(value_get(args, "config_file")), NULL};
    if (folder && name && snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path)
        paths[2] = path;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const struct value *config = paths[i] ? read_beside(converter, paths[i], NULL) : NULL;
        if (config)
            return value_copy(converter->tree, config);
    }
    return value_null(converter->tree);
}

static void put_pod_load(struct converter *converter, struct value *report)
{
    struct tree *tree = converter->tree;
    struct value *standardized = report_map(converter, report, "scenario.load.standardized"),
                 *native = report_map(converter, report, "scenario.load.native");
    const char *version = meta(converter, "harness_version", "LLMDBENCH_HARNESS_VERSION"),
               *parallelism = variable(converter, "LLMDBENCH_HARNESS_LOAD_PARALLELISM");
    if (version)
        value_set(standardized, "tool_version", value_text(tree, version));
    int64_t processes = 1;
    if (parallelism && (!scalar_int(parallelism, strlen(parallelism), &processes) || processes < 1)) {
        processes = 1;
        convert_warn(converter, "WARNING: LLMDBENCH_HARNESS_LOAD_PARALLELISM: \"%.60s\" is no count; 1 is recorded",
                     parallelism);
    }
    value_set(standardized, "parallelism", value_int(tree, processes));
    struct value *args = harness_args(converter);
    value_set(native, "args", args);
    value_set(native, "config", workload_config(converter, args));
}

/* The least that a stack says: an engine serves this model. */
static void put_minimal_stack(struct converter *converter, struct value *report, const char *model)
{
    static const char text[] =
        "{\"metadata\":{\"schema_version\":\"0.0.1\",\"label\":\"\",\"cfg_id\":\"\"},\"native\":{},\"standardized\":{"
        "\"kind\":\"inference_engine\",\"tool\":\"\",\"tool_version\":\"\",\"role\":\"replica\",\"replicas\":1,"
        "\"model\":{},\"accelerator\":{\"model\":\"\",\"count\":0,\"parallelism\":{}}}}";
    char digest[SHA256_HEX_BYTES];
    struct value *engine = NULL;
    if (read_text(text, sizeof text - 1, converter->tree, &engine, NULL) != AS_OK)
        return;
    sha256_hex("{}", 2, digest);
    value_set(value_get(engine, "metadata"), "cfg_id", value_text(converter->tree, digest));
    value_set(value_at(engine, "standardized.model"), "name", value_text(converter->tree, model));
    struct value *stack = value_list(converter->tree);
    value_add(stack, engine);
    value_set(report_map(converter, report, "scenario"), "stack", stack);
}

static const struct value *run_metadata(struct converter *converter)
{
    char path[PATH_BYTES];
    const char *folder = variable(converter, "LLMDBENCH_RUN_EXPERIMENT_RESULTS_DIR");
    if (!folder || snprintf(path, sizeof path, "%s/run_metadata.yaml", folder) >= (int)sizeof path)
        return NULL;
    const struct value *metadata = read_beside(converter, path, NULL);
    return value_is(metadata, VALUE_MAP) ? metadata : NULL;
}

struct value *envelope(struct converter *converter)
{
    struct tree *tree = converter->tree;
    struct value *report = value_map(tree);
    converter->metadata = run_metadata(converter);
    value_put(report, "version", value_text(tree, "0.2.1"));
    struct value *run = report_map(converter, report, "run");
    value_put(report_map(converter, report, "scenario.load.standardized"), "tool_version", value_text(tree, ""));
    (void)report_map(converter, report, "scenario.load.native");
    put_identity(converter, run);
    converter->model_name = meta(converter, "model", "");
    if (!has_variable(converter, "LLMDBENCH_MAGIC_ENVAR"))
        return report;
    const struct value *ev = parameters(converter);
    const char *model = value_string(value_get(ev, "model"));
    put_pod_run(converter, run, ev);
    put_pod_load(converter, report);
    if (model && *model) {
        converter->model_name = model;
        put_minimal_stack(converter, report, model);
    }
    return report;
}

void put_treatment(struct converter *converter, struct value *report)
{
    struct value *metadata = report_map(converter, report, "scenario.load.metadata");
    value_put(metadata, "treatment", value_text(converter->tree, variable(converter, "LLMDBENCH_TREATMENT_NAME")));
    value_put(metadata, "treatment_group",
              value_text(converter->tree, variable(converter, "LLMDBENCH_TREATMENT_GROUP")));
    value_put(metadata, "concurrent_with",
              split_commas(converter, variable(converter, "LLMDBENCH_TREATMENT_CONCURRENT_WITH")));
}
