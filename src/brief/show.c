/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES  160
#define METRICS_MAX 400

/* One statistic, rate or count of a report. */
struct metric {
    char name[NAME_BYTES];          /* as in 0.2: "latency.time_to_first_token" */
    const char *units;              /* NULL for counts */
    const struct value *statistics; /* a Statistics, or a number */
};

struct metrics {
    struct metric items[METRICS_MAX];
    size_t count, left_out;
};

/* Names of 0.1 that 0.2 has under another, with the unit that 0.1 leaves unsaid. */
static const char *const OLD_RATES[][3] = {
    {"throughput.input_tokens_per_sec", "throughput.input_token_rate", "tokens/s"},
    {"throughput.output_tokens_per_sec", "throughput.output_token_rate", "tokens/s"},
    {"throughput.total_tokens_per_sec", "throughput.total_token_rate", "tokens/s"},
    {"throughput.requests_per_sec", "throughput.request_rate", "queries/s"},
    {"time.duration", "time.duration", "s"}};

static void add_metric(struct metrics *metrics, const char *name, const struct value *value)
{
    if (metrics->count == METRICS_MAX) {
        metrics->left_out++;
        return;
    }
    struct metric *metric = &metrics->items[metrics->count++];
    (void)snprintf(metric->name, sizeof metric->name, "%s", name);
    text_one_line(metric->name);
    metric->units = value_string(value_get(value, "units"));
    metric->statistics = value;
    for (size_t i = 0; !metric->units && i < sizeof OLD_RATES / sizeof OLD_RATES[0]; i++) {
        if (strcmp(name, OLD_RATES[i][0]) != 0)
            continue;
        (void)snprintf(metric->name, sizeof metric->name, "%s", OLD_RATES[i][1]);
        metric->units = OLD_RATES[i][2];
    }
}

/* Depth is bounded by that of the reader. */
static void collect(struct metrics *metrics, const struct value *at, const char *name)
{
    double number;
    if (value_get(at, "units") && value_get(at, "mean")) {
        add_metric(metrics, name, at);
        return;
    }
    if (value_number(at, &number)) {
        add_metric(metrics, name, at);
        return;
    }
    size_t index = 0;
    bool is_list = value_is(at, VALUE_LIST);
    for (const struct value *child = is_list || value_is(at, VALUE_MAP) ? at->first : NULL; child;
         child = child->next, index++) {
        char below[NAME_BYTES];
        if (!is_list && (strcmp(child->key, "metadata") == 0 || strcmp(child->key, "profiling") == 0 ||
                         strcmp(child->key, "series") == 0))
            continue;
        if (is_list)
            (void)snprintf(below, sizeof below, "%.120s.%zu", name, index);
        else
            (void)snprintf(below, sizeof below, "%.100s%s%.50s", name, name[0] ? "." : "", child->key);
        collect(metrics, child, below);
    }
}

static void collect_report(struct metrics *metrics, const struct brief_report *report)
{
    metrics->count = metrics->left_out = 0;
    if (report->model == &model_0_1) {
        collect(metrics, value_get(report->root, "metrics"), "");
        return;
    }
    const struct value *results = value_get(report->root, "results");
    collect(metrics, value_at(results, "request_performance.aggregate"), "");
    collect(metrics, value_at(results, "session_performance.sessions"), "sessions");
    collect(metrics, value_get(results, "observability"), "observability");
    collect(metrics, value_get(results, "component_health"), "component_health");
}

static void put_number(const struct value *value, double factor, struct strbuf *out)
{
    double number;
    char text[32] = "-";
    if (value_number(value, &number))
        (void)snprintf(text, sizeof text, "%.6g", number * factor);
    strbuf_addf(out, " %11s", text);
}

static void put_fact(struct strbuf *out, const char *name, const struct value *value)
{
    double number;
    char text[512];
    if (value_is(value, VALUE_TEXT) && value->len > 0) {
        (void)snprintf(text, sizeof text, "%s", value->text);
        text_one_line(text);
        strbuf_addf(out, "%-14s%s\n", name, text);
    } else if (value_number(value, &number))
        strbuf_addf(out, "%-14s%.6g\n", name, number);
}

static void put_facts(const struct brief_report *report, struct strbuf *out)
{
    static const char *const facts[][2] = {{"version", "version"},
                                           {"uid", "run.uid"},
                                           {"description", "run.description"},
                                           {"start", "run.time.start"},
                                           {"duration", "run.time.duration"},
                                           {"model", "scenario.model.name"},
                                           {"model", "scenario.stack.0.standardized.model.name"},
                                           {"generator", "scenario.load.name"},
                                           {"generator", "scenario.load.standardized.tool"},
                                           {"stage", "scenario.load.standardized.stage"},
                                           {"rate", "scenario.load.standardized.rate_qps"},
                                           {"concurrency", "scenario.load.standardized.concurrency"}};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        put_fact(out, facts[i][0], value_at(report->root, facts[i][1]));
}

static void put_left_out(const struct metrics *metrics, const char *where, struct strbuf *out)
{
    if (metrics->left_out > 0)
        strbuf_addf(out, "%zu more%s are not shown\n", metrics->left_out, where);
}

static bool is_statistics(const struct metric *metric)
{
    return value_is(metric->statistics, VALUE_MAP);
}

void show_report(const struct brief_report *report, struct strbuf *out)
{
    static const char *const figures[] = {"mean", "min", "p50", "p90", "p99", "max"};
    struct arena arena;
    arena_init(&arena, 0, 0);
    struct metrics *metrics = arena_alloc(&arena, sizeof *metrics);
    if (!metrics) {
        out->status = AS_E_NOMEM;
        return;
    }
    collect_report(metrics, report);
    put_facts(report, out);
    strbuf_addf(out, "\n%-52s %-9s", "metric", "unit");
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        strbuf_addf(out, " %11s", figures[i]);
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < metrics->count; i++) {
        const struct metric *metric = &metrics->items[i];
        strbuf_addf(out, "%-52s %-9s", metric->name, metric->units ? metric->units : "");
        if (!is_statistics(metric))
            put_number(metric->statistics, 1, out);
        for (size_t k = 0; is_statistics(metric) && k < sizeof figures / sizeof figures[0]; k++)
            put_number(value_get(metric->statistics, figures[k]), 1, out);
        strbuf_addc(out, '\n');
    }
    put_left_out(metrics, "", out);
    arena_done(&arena);
}

static const struct metric *find_metric(const struct metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->items[i].name, name) == 0)
            return &metrics->items[i];
    return NULL;
}

/* What values in `from` are multiplied with to be in `to`; NAN when they cannot be compared. */
static double factor_between(const char *from, const char *to)
{
    enum model_unit from_base, to_base;
    int from_unit = from ? unit_find(from) : -1, to_unit = to ? unit_find(to) : -1;
    if (from_unit < 0 || to_unit < 0)
        return from_unit == to_unit ? 1 : (double)NAN;
    double from_factor = unit_factor((enum model_unit)from_unit, &from_base),
           to_factor = unit_factor((enum model_unit)to_unit, &to_base);
    return from_base == to_base ? from_factor / to_factor : (double)NAN;
}

/* One figure of both, the right one in other units by `factor`. */
struct pair {
    const char *figure;
    const struct value *left, *right;
    double factor;
};

static bool put_pair(const struct metric *a, const struct pair *pair, struct strbuf *out)
{
    double before, after;
    if (!value_number(pair->left, &before) || !value_number(pair->right, &after))
        return false;
    strbuf_addf(out, "%-52s %-5s %-9s", a->name, pair->figure, a->units ? a->units : "");
    put_number(pair->left, 1, out);
    put_number(pair->right, pair->factor, out);
    if (before > 0 || before < 0)
        strbuf_addf(out, " %+9.2f%%\n", (after * pair->factor - before) / fabs(before) * 100);
    else
        strbuf_addf(out, " %10s\n", "-");
    return true;
}

static size_t put_pairs(const struct metric *a, const struct metric *b, struct strbuf *out)
{
    static const char *const figures[] = {"mean", "p50", "p90", "p99"};
    double factor = factor_between(b->units, a->units);
    size_t count = 0;
    if (isnan(factor)) {
        strbuf_addf(out, "%-52s units differ: %s, %s\n", a->name, a->units ? a->units : "none",
                    b->units ? b->units : "none");
        return 0;
    }
    const struct value *left_mean = is_statistics(a) ? value_get(a->statistics, "mean") : a->statistics;
    const struct value *right_mean = is_statistics(b) ? value_get(b->statistics, "mean") : b->statistics;
    count += put_pair(a, &(struct pair){is_statistics(a) ? "mean" : "", left_mean, right_mean, factor}, out);
    for (size_t i = 1; is_statistics(a) && is_statistics(b) && i < sizeof figures / sizeof figures[0]; i++)
        count += put_pair(a,
                          &(struct pair){figures[i], value_get(a->statistics, figures[i]),
                                         value_get(b->statistics, figures[i]), factor},
                          out);
    return count;
}

/* What requests of a report are about, "text and images"; "" where no figure says it. */
static void name_subjects(const struct metrics *metrics, struct strbuf *out)
{
    static const char *const subjects[][5] = {
        {"text", "throughput.output_token_rate", "throughput.total_token_rate", "requests.output_length",
         "latency.time_per_output_token"},
        {"images", "throughput.image_rate", "requests.multimodal.image.count"},
        {"videos", "throughput.video_rate", "requests.multimodal.video.count"},
        {"audio", "throughput.audio_rate", "requests.multimodal.audio.count", "requests.multimodal.audio.duration"},
        {"sessions", "sessions.total"}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        bool is_measured = false;
        for (size_t k = 1; k < 5 && subjects[i][k]; k++)
            is_measured = is_measured || find_metric(metrics, subjects[i][k]);
        if (is_measured)
            strbuf_addf(out, "%s%s", out->len > 0 ? " and " : "", subjects[i][0]);
    }
}

static void name_tool(const struct brief_report *report, struct strbuf *out)
{
    char text[100];
    const struct value *tool = value_at(report->root, "scenario.load.standardized.tool");
    if (!tool)
        tool = value_at(report->root, "scenario.load.name");
    (void)snprintf(text, sizeof text, "%s", value_string(tool) ? value_string(tool) : "");
    text_one_line(text);
    strbuf_adds(out, text);
}

/* "note: WHAT: A x, B y" where both are known and differ. */
static bool put_note(const struct strbuf *a, const struct strbuf *b, const char *what, struct strbuf *out)
{
    if (a->len == 0 || b->len == 0 || strcmp(strbuf_text(a), strbuf_text(b)) == 0)
        return false;
    strbuf_addf(out, "note: %s: A %s, B %s\n", what, strbuf_text(a), strbuf_text(b));
    return true;
}

/* Why figures of one name may not be the same thing. */
static void put_notes(const struct brief_report *const reports[2], const struct metrics *metrics, struct strbuf *out)
{
    struct strbuf a AS_AUTO_STRBUF, b AS_AUTO_STRBUF;
    strbuf_init(&a, 0);
    strbuf_init(&b, 0);
    name_subjects(&metrics[0], &a);
    name_subjects(&metrics[1], &b);
    if (put_note(&a, &b, "they measure different things", out))
        return;
    strbuf_reset(&a);
    strbuf_reset(&b);
    name_tool(reports[0], &a);
    name_tool(reports[1], &b);
    (void)put_note(&a, &b, "the load generators differ and may define figures of one name differently", out);
}

static void put_lonely(const struct metrics *these, const struct metrics *those, const char *which, struct strbuf *out)
{
    for (size_t i = 0; i < these->count; i++)
        if (!find_metric(those, these->items[i].name))
            strbuf_addf(out, "only in %s: %s\n", which, these->items[i].name);
}

size_t show_difference(const struct brief_report *a, const struct brief_report *b, struct strbuf *out)
{
    struct arena arena;
    size_t count = 0;
    arena_init(&arena, 0, 0);
    struct metrics *left = arena_calloc(&arena, 2, sizeof *left), *right = left ? left + 1 : NULL;
    if (!left) {
        out->status = AS_E_NOMEM;
        return 0;
    }
    collect_report(left, a);
    collect_report(right, b);
    put_notes((const struct brief_report *const[2]){a, b}, left, out);
    strbuf_addf(out, "%-52s %-5s %-9s %11s %11s %10s\n", "metric", "", "unit", "A", "B", "change");
    for (size_t i = 0; i < left->count; i++) {
        const struct metric *twin = find_metric(right, left->items[i].name);
        if (twin)
            count += put_pairs(&left->items[i], twin, out);
    }
    put_lonely(left, right, "A", out);
    put_lonely(right, left, "B", out);
    put_left_out(left, " of A", out);
    put_left_out(right, " of B", out);
    arena_done(&arena);
    return count;
}
