/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/converter.h"
#include "brief/hash.h"
#include "brief/scalar.h"
#include "brief/write.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct rename inference_perf_names[] = {{"mean", "mean"},   {"min", "min"}, {"p0.1", "p0p1"}, {"p1", "p1"},
                                              {"p5", "p5"},       {"p10", "p10"}, {"p25", "p25"},   {"median", "p50"},
                                              {"p75", "p75"},     {"p90", "p90"}, {"p95", "p95"},   {"p99", "p99"},
                                              {"p99.9", "p99p9"}, {"max", "max"}, {NULL, NULL}};

void convert_warn(struct converter *converter, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    text_one_line(line);
    strbuf_adds(converter->warnings, line);
    strbuf_addc(converter->warnings, '\n');
}

struct value *report_map(struct converter *converter, struct value *report, const char *path)
{
    char *steps = tree_strdup(converter->tree, path);
    struct value *at = report;
    while (steps && at) {
        char *dot = strchr(steps, '.');
        if (dot)
            *dot = '\0';
        at = value_submap(converter->tree, at, steps);
        steps = dot ? dot + 1 : NULL;
    }
    return at;
}

void put_load_metadata(struct converter *converter, struct value *report, const struct value *config)
{
    struct strbuf text AS_AUTO_STRBUF;
    char digest[SHA256_HEX_BYTES];
    strbuf_init(&text, 0);
    if (config)
        write_canonical(config, &text);
    else
        strbuf_adds(&text, "null");
    if (strbuf_status(&text) != AS_OK) {
        converter->tree->failed = true;
        return;
    }
    sha256_hex(text.data, text.len, digest);
    struct value *metadata = report_map(converter, report, "scenario.load.metadata");
    value_set(metadata, "schema_version", value_text(converter->tree, "0.0.1"));
    value_set(metadata, "cfg_id", value_text(converter->tree, digest));
}

struct value *start_0_1(struct converter *converter, const char *generator, const struct value *model_name)
{
    struct tree *tree = converter->tree;
    struct value *report = value_map(tree);
    value_put(report, "version", value_text(tree, "0.1"));
    struct value *name = taken(converter, model_name);
    value_put(report_map(converter, report, "scenario.model"), "name", name ? name : value_text(tree, "unknown"));
    value_put(report_map(converter, report, "scenario.load"), "name", value_text(tree, generator));
    return report;
}

struct value *taken(struct converter *converter, const struct value *native)
{
    return value_is(native, VALUE_NULL) ? NULL : value_share(converter->tree, native);
}

struct value *taken_count(struct converter *converter, const struct value *native)
{
    if (value_is(native, VALUE_FLOAT) && fabs(native->number) < 9e15 && native->number <= floor(native->number))
        return value_int(converter->tree, (int64_t)native->number);
    return taken(converter, native);
}

struct value *statistics_from(struct converter *converter, const struct value *native, const struct rename *names,
                              const char *units)
{
    if (!value_is(native, VALUE_MAP))
        return NULL;
    struct value *statistics = value_map(converter->tree);
    value_put(statistics, "units", value_text(converter->tree, units));
    for (; names->from; names++)
        value_put(statistics, names->to, taken(converter, value_get(native, names->from)));
    return statistics;
}

struct value *statistics_mean_number(struct converter *converter, double mean, const char *units)
{
    struct value *statistics = value_map(converter->tree);
    value_put(statistics, "units", value_text(converter->tree, units));
    value_put(statistics, "mean", value_float(converter->tree, mean));
    return statistics;
}

struct value *statistics_mean(struct converter *converter, const struct value *mean, const char *units)
{
    struct value *copy = taken(converter, mean);
    if (!copy)
        return NULL;
    struct value *statistics = value_map(converter->tree);
    value_put(statistics, "units", value_text(converter->tree, units));
    value_put(statistics, "mean", copy);
    return statistics;
}

struct value *with_mean(struct value *statistics)
{
    return value_have(statistics, "mean") ? statistics : NULL;
}

struct value *length_of(struct converter *converter, const char *distribution, struct value *take_value)
{
    struct value *length = value_map(converter->tree);
    value_put(length, "distribution", value_text(converter->tree, distribution));
    value_put(length, "value", take_value);
    return length;
}

struct value *duration_text(struct converter *converter, const struct value *seconds)
{
    struct strbuf text AS_AUTO_STRBUF;
    double number;
    strbuf_init(&text, 0);
    if (!value_number(seconds, &number) || !isfinite(number))
        return NULL;
    strbuf_adds(&text, "PT");
    write_canonical(seconds, &text);
    strbuf_addc(&text, 'S');
    if (strbuf_status(&text) == AS_OK)
        return value_textn(converter->tree, text.data, text.len);
    converter->tree->failed = true;
    return NULL;
}

const char *variable(const struct converter *converter, const char *name)
{
    const struct convert_request *request = converter->request;
    const char *text = request->getenv ? request->getenv(request->context, name) : NULL;
    return text && text[0] ? text : NULL;
}

bool has_variable(const struct converter *converter, const char *name)
{
    const struct convert_request *request = converter->request;
    return request->getenv && request->getenv(request->context, name);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *trimmed(struct tree *tree, const char *text, size_t len)
{
    while (len > 0 && is_blank(text[0])) {
        text++;
        len--;
    }
    while (len > 0 && is_blank(text[len - 1]))
        len--;
    return len > 0 ? tree_strndup(tree, text, len) : NULL;
}

const char *meta(struct converter *converter, const char *key, const char *name)
{
    const char *text = variable(converter, name);
    if (text)
        return trimmed(converter->tree, text, strlen(text));
    const struct value *value = value_have(converter->metadata, key);
    if (!value || value_is(value, VALUE_LIST) || value_is(value, VALUE_MAP))
        return NULL;
    if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_TIME))
        return trimmed(converter->tree, value->text, value->len);
    struct strbuf out AS_AUTO_STRBUF;
    strbuf_init(&out, 0);
    write_canonical(value, &out);
    if (strbuf_status(&out) == AS_OK)
        return tree_strdup(converter->tree, strbuf_text(&out));
    converter->tree->failed = true;
    return NULL;
}

struct value *split_commas(struct converter *converter, const char *text)
{
    struct value *list = value_list(converter->tree);
    while (text && *text) {
        size_t len = strcspn(text, ",");
        value_add(list, value_text(converter->tree, trimmed(converter->tree, text, len)));
        text += len + (text[len] == ',');
    }
    return list && list->len > 0 ? list : NULL;
}

const struct value *read_beside(struct converter *converter, const char *path, const char *what)
{
    struct as_error err;
    struct value *value = NULL;
    struct tree tree;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    as_status status = read_path(path, NULL, &tree, &value, &err);
    struct value *copy = status == AS_OK ? value_copy(converter->tree, value) : NULL;
    if (status != AS_OK && what)
        convert_warn(converter, "WARNING: %s: %s", what, err.message);
    tree_done(&tree);
    return copy;
}

bool local_date(struct converter *converter, const struct value *native, int64_t *ret_unix_s)
{
    const char *text = value_string(native);
    struct tm local = {.tm_isdst = -1};
    const char *end = text ? strptime(text, "%Y%m%d-%H%M%S", &local) : NULL;
    time_t when = end && *end == '\0' ? mktime(&local) : (time_t)-1;
    if (when == (time_t)-1) {
        convert_warn(converter, "WARNING: date: \"%s\" is not YYYYMMDD-HHMMSS; the time of the run is left out",
                     text ? text : "");
        return false;
    }
    *ret_unix_s = when;
    return true;
}

int64_t stage_of_path(const char *path)
{
    const char *found = NULL;
    for (const char *at = path; at && (at = strstr(at, "stage_")) != NULL; at += strlen("stage_"))
        found = at + strlen("stage_");
    char *end;
    if (!found || *found < '0' || *found > '9')
        return 0;
    long long stage = strtoll(found, &end, 10);
    return *end == '_' ? stage : 0;
}
