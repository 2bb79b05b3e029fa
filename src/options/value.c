/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/json.h"
#include "options/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct unit {
    const char *name;
    double factor; /* in ns or bytes */
};

static const struct unit DURATION_UNITS[] = {{"ns", 1},    {"us", 1e3},   {"µs", 1e3}, {"ms", 1e6},   {"s", 1e9},
                                             {"sec", 1e9}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9}, {NULL, 0}};
static const struct unit SIZE_UNITS[] = {
    {"", 1},      {"B", 1},         {"kB", 1e3},     {"k", 1e3},          {"KB", 1e3},
    {"MB", 1e6},  {"M", 1e6},       {"GB", 1e9},     {"G", 1e9},          {"KiB", 1024},
    {"Ki", 1024}, {"MiB", 1048576}, {"Mi", 1048576}, {"GiB", 1073741824}, {"Gi", 1073741824},
    {NULL, 0}};

static const struct unit *unit_find(const struct unit *units, const char *name, size_t len)
{
    for (; units->name; units++)
        if (strlen(units->name) == len && memcmp(units->name, name, len) == 0)
            return units;
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Decimal digits with at most one point; returns the end, NULL when there is no number. */
static const char *number_end(const char *at)
{
    const char *start = at;
    bool has_digit = false, has_point = false;
    for (; is_digit(*at) || (*at == '.' && !has_point); at++) {
        has_digit = has_digit || is_digit(*at);
        has_point = has_point || *at == '.';
    }
    return has_digit && at > start ? at : NULL;
}

static as_status out_of_range(struct as_error *err)
{
    return error_set(err, AS_E_USAGE, "is out of range");
}

/* Bounds in the option's documented unit: seconds, bytes or the number itself. */
static as_status check_bounds(const struct opt *opt, double value, struct as_error *err)
{
    bool has_max = opt->max != 0 || opt->min < 0;
    if (opt->min == 0 && opt->max == 0 && !opt->positive)
        return value < 0 && opt->type != OPT_INT && opt->type != OPT_DOUBLE ? out_of_range(err) : AS_OK;
    if (value < opt->min || (opt->positive && value <= opt->min))
        return error_set(err, AS_E_USAGE, "is too small");
    if (has_max && value > opt->max && !(opt->allow_inf && isinf(value)))
        return error_set(err, AS_E_USAGE, "is too large");
    return AS_OK;
}

static as_status parse_int(const struct opt *opt, const char *text, int64_t *ret, struct as_error *err)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t len = strlen(digits);
    if (len > 0 && strchr(digits, ',') && strspn(digits, "0123456789,") == len)
        return error_set(err, AS_E_USAGE,
                         "is a list: a run has one value, run the command once for each (for c in …; do …; done)");
    if (len == 0 || strspn(digits, "0123456789") != len)
        return error_set(err, AS_E_USAGE, "is not a whole number");
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno || value == INT64_MIN)
        return out_of_range(err);
    as_status status = check_bounds(opt, (double)value, err);
    if (status == AS_OK)
        *ret = value;
    return status;
}

static as_status parse_double(const struct opt *opt, const char *text, double *ret, struct as_error *err)
{
    double value = 0;
    if (opt->allow_inf && (strcmp(text, "inf") == 0 || strcmp(text, "infinity") == 0)) {
        value = INFINITY;
    } else {
        char *end;
        if (*text == '\0' || strspn(text, "0123456789+-.eE") != strlen(text))
            return error_set(err, AS_E_USAGE, "is not a number");
        value = strtod(text, &end);
        if (*end || !isfinite(value))
            return error_set(err, AS_E_USAGE, "is not a number");
    }
    as_status status = check_bounds(opt, value, err);
    if (status == AS_OK)
        *ret = value;
    return status;
}

static as_status parse_duration(const struct opt *opt, const char *text, int64_t *ret, struct as_error *err)
{
    double total_ns = 0;
    const char *at = text;
    if (*at == '-')
        return error_set(err, AS_E_USAGE, "is negative");
    do {
        const char *end = number_end(at);
        if (!end)
            return error_set(err, AS_E_USAGE, "is not a duration");
        double number = strtod(at, NULL);
        size_t len = strcspn(end, "0123456789.");
        if (len == 0 && end[0] == '\0' && at == text && number == 0) {
            break;
        } else if (len == 0) {
            if (!opt->unit || at != text || *end)
                return error_set(err, AS_E_USAGE, "has no unit");
            total_ns = number * unit_find(DURATION_UNITS, opt->unit, strlen(opt->unit))->factor;
            break;
        }
        const struct unit *unit = unit_find(DURATION_UNITS, end, len);
        if (!unit)
            return error_set(err, AS_E_USAGE, "has an unknown unit");
        total_ns += number * unit->factor;
        at = end + len;
    } while (*at);
    if (total_ns > 9e18)
        return out_of_range(err);
    as_status status = check_bounds(opt, total_ns / (double)NS_PER_S, err);
    if (status == AS_OK)
        *ret = (int64_t)llround(total_ns);
    return status;
}

static as_status parse_size(const struct opt *opt, const char *text, int64_t *ret, struct as_error *err)
{
    const char *end = number_end(text);
    const struct unit *unit = end ? unit_find(SIZE_UNITS, end, strlen(end)) : NULL;
    if (!unit)
        return error_set(err, AS_E_USAGE, "is not a size");
    double value = strtod(text, NULL) * unit->factor;
    if (value > 9e18)
        return out_of_range(err);
    as_status status = check_bounds(opt, value, err);
    if (status == AS_OK)
        *ret = (int64_t)llround(value);
    return status;
}

static as_status parse_flag(const char *text, bool *ret, struct as_error *err)
{
    static const char *const words[][2] = {{"false", "true"}, {"no", "yes"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (int value = 0; value < 2; value++)
            if (strcasecmp(words[i][value], text) == 0) {
                *ret = value == 1;
                return AS_OK;
            }
    return error_set(err, AS_E_USAGE, "is neither true nor false");
}

static as_status parse_enum(const struct opt *opt, const char *text, int *ret, struct as_error *err)
{
    for (int i = 0; opt->choices[i]; i++)
        if (strcmp(opt->choices[i], text) == 0) {
            *ret = i;
            return AS_OK;
        }
    return error_set(err, AS_E_USAGE, "is none of the choices");
}

/* *ret is the object on one line, number texts kept: the echo is part of one-line records. */
static as_status parse_json(const char *text, struct arena *arena, const char **ret, struct as_error *err)
{
    const struct json_value *value;
    struct as_error inner = {0};
    as_status status = json_parse(text, strlen(text), NULL, arena, &value, &inner);
    if (status != AS_OK)
        return error_set(err, AS_E_USAGE, "is not JSON (%.200s)", inner.message);
    if (value->type != JSON_OBJECT)
        return error_set(err, AS_E_USAGE, "is JSON, but no object");
    struct strbuf line AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&line, 0);
    json_writer_init(&writer, &line, 0);
    json_put_value(&writer, value);
    const char *copy = json_writer_status(&writer) == AS_OK ? arena_strdup(arena, strbuf_text(&line)) : NULL;
    if (!copy)
        return error_set(err, AS_E_NOMEM, "does not fit into memory");
    *ret = copy;
    return AS_OK;
}

/* "K: V" out of "K: V" or "K=V"; the key is an HTTP token (RFC 9110 5.6.2), the value holds no control characters. */
static as_status parse_keyvalue(const char *text, struct arena *arena, const char **ret, struct as_error *err)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t key_len = strspn(text, token);
    if (key_len == 0 || (text[key_len] != ':' && text[key_len] != '='))
        return error_set(err, AS_E_USAGE, "is neither KEY=VALUE nor KEY: VALUE");
    const char *value = text + key_len + 1;
    value += strspn(value, " \t");
    for (const char *at = value; *at; at++)
        if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7f)
            return error_set(err, AS_E_USAGE, "holds a control character");
    char *joined = arena_printf(arena, "%.*s: %s", (int)key_len, text, value);
    if (!joined)
        return error_set(err, AS_E_NOMEM, "does not fit into memory");
    *ret = joined;
    return AS_OK;
}

static as_status parse_text(const struct opt *opt, const char *text, const char **ret, struct as_error *err)
{
    if (opt->type == OPT_FILE && *text == '\0')
        return error_set(err, AS_E_USAGE, "is empty");
    if (strchr(text, '\n') && opt->type == OPT_FILE)
        return error_set(err, AS_E_USAGE, "holds a line break");
    *ret = text;
    return AS_OK;
}

/* Adds one value to a list field; the old array stays in the arena. */
static as_status list_add(struct opt_list *list, const char *item, struct arena *arena)
{
    const char **items = arena_calloc(arena, list->count + 1, sizeof *items);
    if (!items)
        return AS_E_NOMEM;
    if (list->count)
        memcpy(items, list->items, list->count * sizeof *items);
    items[list->count] = item;
    *list = (struct opt_list){items, list->count + 1};
    return AS_OK;
}

static as_status parse_string_like(const struct opt *opt, const char *text, void *field, struct arena *arena,
                                   struct as_error *err)
{
    const char *value = NULL;
    as_status status = AS_OK;
    if (opt->type == OPT_KEYVALUE) {
        status = parse_keyvalue(text, arena, &value, err);
    } else if (opt->type == OPT_JSON) {
        status = parse_json(text, arena, &value, err);
    } else {
        status = parse_text(opt, text, &value, err);
    }
    if (status == AS_OK && opt->is_list)
        status = list_add(field, value, arena);
    else if (status == AS_OK)
        *(const char **)field = value;
    return status;
}

as_status value_parse(const struct opt *opt, const char *text, void *field, struct arena *arena, struct as_error *err)
{
    if (opt->check) {
        as_status status = opt->check(text, err);
        if (status != AS_OK)
            return status;
    }
    switch (opt->type) {
    case OPT_FLAG:
        return parse_flag(text, field, err);
    case OPT_INT:
        return parse_int(opt, text, field, err);
    case OPT_SIZE:
        return parse_size(opt, text, field, err);
    case OPT_DURATION:
        return parse_duration(opt, text, field, err);
    case OPT_DOUBLE:
        return parse_double(opt, text, field, err);
    case OPT_ENUM:
        return parse_enum(opt, text, field, err);
    case OPT_STRING:
    case OPT_FILE:
    case OPT_JSON:
    case OPT_KEYVALUE:
        break;
    }
    return parse_string_like(opt, text, field, arena, err);
}

void value_clear(const struct opt *opt, void *field)
{
    if (opt->is_list) {
        *(struct opt_list *)field = (struct opt_list){NULL, 0};
        return;
    }
    switch (opt->type) {
    case OPT_FLAG:
        *(bool *)field = false;
        return;
    case OPT_INT:
    case OPT_SIZE:
    case OPT_DURATION:
        *(int64_t *)field = OPT_ABSENT;
        return;
    case OPT_DOUBLE:
        *(double *)field = NAN;
        return;
    case OPT_ENUM:
        *(int *)field = -1;
        return;
    case OPT_STRING:
    case OPT_FILE:
    case OPT_JSON:
    case OPT_KEYVALUE:
        break;
    }
    *(const char **)field = NULL;
}

static void add_bound(const struct opt *opt, double bound, struct strbuf *out)
{
    char text[DOUBLE_TEXT_BYTES];
    double_format(bound, text);
    strbuf_adds(out, text);
    if (opt->type == OPT_DURATION)
        strbuf_adds(out, " s");
    else if (opt->type == OPT_SIZE)
        strbuf_adds(out, " bytes");
}

static void add_range(const struct opt *opt, struct strbuf *out)
{
    if (opt->min == 0 && opt->max == 0 && !opt->positive)
        return;
    strbuf_adds(out, opt->positive ? " above " : opt->max != 0 ? " from " : " of at least ");
    add_bound(opt, opt->min, out);
    if (opt->max != 0) {
        strbuf_adds(out, opt->positive ? " and at most " : " to ");
        add_bound(opt, opt->max, out);
    }
}

void value_allowed(const struct opt *opt, struct strbuf *out)
{
    static const char *const words[] = {
        [OPT_FLAG] = "true or false",
        [OPT_STRING] = "a text",
        [OPT_FILE] = "the path of a file",
        [OPT_JSON] = "one JSON object",
        [OPT_INT] = "a whole number",
        [OPT_SIZE] = "a number of bytes, with kB, MB, GB, KiB, MiB or GiB if wanted,",
        [OPT_DURATION] = "a duration with a unit (ns, us, ms, s, m, h)",
        [OPT_DOUBLE] = "a number",
        [OPT_ENUM] = "one of ",
        [OPT_KEYVALUE] = "KEY=VALUE or KEY: VALUE",
    };
    if (opt->allowed) {
        strbuf_adds(out, opt->allowed);
        return;
    }
    strbuf_adds(out, words[opt->type]);
    if (opt->type == OPT_ENUM)
        for (int i = 0; opt->choices[i]; i++)
            strbuf_addf(out, "%s%s", i ? ", " : "", opt->choices[i]);
    if (opt->type == OPT_DURATION && opt->unit)
        strbuf_addf(out, ", or a plain number of seconds%s",
                    opt->min == 0 && opt->max == 0 && !opt->positive ? "" : ",");
    add_range(opt, out);
    if (opt->allow_inf)
        strbuf_adds(out, ", or inf");
}

void value_example(const struct opt *opt, struct strbuf *out)
{
    static const char *const examples[] = {
        [OPT_FLAG] = "true",
        [OPT_STRING] = "text",
        [OPT_FILE] = "file",
        [OPT_JSON] = "'{\"top_p\": 0.9}'",
        [OPT_INT] = "8",
        [OPT_SIZE] = "64KiB",
        [OPT_DURATION] = "30s",
        [OPT_DOUBLE] = "0.5",
        [OPT_KEYVALUE] = "X-Name=value",
        [OPT_ENUM] = "",
    };
    if (opt->example)
        strbuf_adds(out, opt->example);
    else if (opt->type == OPT_ENUM)
        strbuf_adds(out, opt->choices[0]);
    else if (opt->initial && *opt->initial && !opt->is_list && opt->type != OPT_FLAG && !strchr(opt->initial, ' '))
        strbuf_adds(out, opt->initial);
    else
        strbuf_adds(out, examples[opt->type]);
}
