/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"

#include <string.h>

/* *_session_lifecycle_metrics.json of inference-perf. */

static const char *const COUNTS[][2] = {{"num_sessions", "total"},
                                        {"num_sessions_succeeded", "succeeded"},
                                        {"num_sessions_failed", "failed"},
                                        {"total_events", "total_events"},
                                        {"total_events_completed", "total_events_completed"},
                                        {"total_events_cancelled", "total_events_cancelled"}};

/* Native name, field of 0.2, member of the 0.1 metadata, units. */
static const char *const GROUPS[][4] = {
    {"session_duration_sec", "session_duration", "session_duration", "s"},
    {"num_events", "events_per_session", "num_events", "count"},
    {"num_events_cancelled", "events_cancelled_per_session", "num_events_cancelled", "count"},
    {"total_input_tokens", "input_tokens_per_session", "total_input_tokens", "count"},
    {"total_output_tokens", "output_tokens_per_session", "total_output_tokens", "count"}};

struct value *from_session_0_2(struct converter *converter)
{
    const struct value *native = converter->native;
    struct tree *tree = converter->tree;
    struct value *report = envelope(converter);
    envelope_describe(converter, report);
    struct value *standardized = report_map(converter, report, "scenario.load.standardized"),
                 *load_native = report_map(converter, report, "scenario.load.native");
    value_set(standardized, "tool", value_text(tree, "inference-perf"));
    value_set(standardized, "stage", value_int(tree, stage_of_path(converter->request->path)));
    value_put(standardized, "source", value_text(tree, "unknown"));
    struct value *input = taken(converter, value_at(native, "total_input_tokens.mean"));
    value_put(standardized, "input_seq_len", length_of(converter, "other", input ? input : value_int(tree, 0)));
    value_put(report_map(converter, standardized, "multi_turn"), "enabled", value_bool(tree, true));
    if (!value_get(load_native, "config"))
        value_put(load_native, "config", value_map(tree));
    put_load_metadata(converter, report, value_get(load_native, "config"));
    put_treatment(converter, report);
    struct value *sessions = report_map(converter, report, "results.session_performance.sessions");
    for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0]; i++)
        value_put(sessions, COUNTS[i][1], taken(converter, value_get(native, COUNTS[i][0])));
    if (!value_get(sessions, "total"))
        value_put(sessions, "total", value_int(tree, 0));
    value_put(sessions, "session_rate",
              statistics_mean(converter, value_get(native, "sessions_per_second"), "queries/s"));
    for (size_t i = 0; i < sizeof GROUPS / sizeof GROUPS[0]; i++)
        value_put(sessions, GROUPS[i][1],
                  statistics_from(converter, value_get(native, GROUPS[i][0]), inference_perf_names, GROUPS[i][3]));
    return report;
}

/* A group with a null for each figure that it lacks. */
static struct value *group_0_1(struct converter *converter, const struct value *native, const char *units)
{
    if (!value_is(native, VALUE_MAP))
        return value_null(converter->tree);
    struct value *group = value_map(converter->tree);
    value_put(group, "units", value_text(converter->tree, units));
    for (const struct rename *name = inference_perf_names; name->from; name++) {
        struct value *figure = value_share(converter->tree, value_get(native, name->from));
        value_put(group, name->to, figure ? figure : value_null(converter->tree));
    }
    return group;
}

static void put_metadata_0_1(struct converter *converter, struct value *report)
{
    struct tree *tree = converter->tree;
    const struct value *native = converter->native;
    struct value *metadata = report_map(converter, report, "metrics.metadata");
    for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0]; i++) {
        struct value *count = value_share(tree, value_get(native, COUNTS[i][0]));
        value_put(metadata, COUNTS[i][0], count ? count : value_null(tree));
    }
    struct value *rate = value_share(tree, value_get(native, "sessions_per_second"));
    value_put(metadata, "sessions_per_second", rate ? rate : value_null(tree));
    for (size_t i = 0; i < sizeof GROUPS / sizeof GROUPS[0]; i++)
        value_put(metadata, GROUPS[i][2], group_0_1(converter, value_get(native, GROUPS[i][0]), GROUPS[i][3]));
}

static struct value *mean_or_zero(struct converter *converter, const char *path)
{
    struct value *mean = statistics_mean(converter, value_at(converter->native, path), "count");
    return mean ? mean : statistics_mean_number(converter, 0, "count");
}

struct value *from_session_0_1(struct converter *converter)
{
    const struct value *native = converter->native, *total = value_get(native, "total_events"),
                       *completed = value_get(native, "total_events_completed");
    struct tree *tree = converter->tree;
    struct value *report = start_0_1(converter, "inference-perf", NULL),
                 *load_metadata = report_map(converter, report, "scenario.load.metadata");
    value_put(load_metadata, "stage", value_int(tree, stage_of_path(converter->request->path)));
    value_put(load_metadata, "file_type", value_text(tree, "session_lifecycle"));
    value_put(report_map(converter, report, "metrics.time"), "duration", value_int(tree, 0));
    struct value *requests = report_map(converter, report, "metrics.requests");
    value_put(requests, "total", taken(converter, total));
    if (value_is(total, VALUE_INT) && value_is(completed, VALUE_INT))
        value_put(requests, "failures", value_int(tree, total->integer - completed->integer));
    value_put(requests, "input_length", mean_or_zero(converter, "total_input_tokens.mean"));
    value_put(requests, "output_length", mean_or_zero(converter, "total_output_tokens.mean"));
    value_put(report_map(converter, report, "metrics.latency"), "time_to_first_token",
              statistics_mean_number(converter, 0, "s"));
    value_put(report_map(converter, report, "metrics.throughput"), "total_tokens_per_sec", value_int(tree, 0));
    put_metadata_0_1(converter, report);
    return report;
}
