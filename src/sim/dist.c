/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger values would not fit an int64 with room for sums. */
#define VALUE_MAX 1e17

static const struct {
    const char *name;
    int parameters;
} kinds[] = {
    [SIM_DIST_CONSTANT] = {"constant", 1}, [SIM_DIST_UNIFORM] = {"uniform", 2},
    [SIM_DIST_NORMAL] = {"normal", 2},     [SIM_DIST_EXPONENTIAL] = {"exponential", 1},
    [SIM_DIST_GAMMA] = {"gamma", 2},       [SIM_DIST_LOGNORMAL] = {"lognormal", 2},
};

/* strtod without its hexadecimal, infinity and nan forms. */
static size_t number_parse(const char *text, double *ret)
{
    size_t digits = strspn(text, "0123456789.eE+-");
    char *end = NULL;
    double value = strtod(text, &end);
    if (digits == 0 || end == text || end > text + digits || !(value >= 0) || value > VALUE_MAX)
        return 0;
    *ret = value;
    return (size_t)(end - text);
}

size_t sim_duration_parse(const char *text, double *ret_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}};
    double value;
    size_t len = number_parse(text, &value);
    if (len == 0)
        return 0;
    size_t letters = strspn(text + len, "abcdefghijklmnopqrstuvwxyz");
    if (letters == 0 && value == 0) {
        *ret_ns = 0;
        return len;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i].name) == letters && strncmp(text + len, units[i].name, letters) == 0 &&
            value * units[i].ns <= VALUE_MAX) {
            *ret_ns = value * units[i].ns;
            return len + letters;
        }
    return 0;
}

/* Reads one or two values separated by a comma; returns how many, 0 when the text is anything else. */
static int values_parse(const char *text, enum sim_dist_unit unit, double ret[2])
{
    for (int count = 0; count < 2;) {
        size_t len =
            unit == SIM_DIST_DURATION ? sim_duration_parse(text, &ret[count]) : number_parse(text, &ret[count]);
        if (len == 0)
            return 0;
        text += len;
        count++;
        if (*text == '\0')
            return count;
        if (*text != ',')
            return 0;
        text++;
    }
    return 0;
}

/* From mean and deviation to the parameters that sim_dist_sample takes. */
static void prepare(struct sim_dist *dist, double mean, double deviation)
{
    dist->a = mean;
    dist->b = deviation;
    if (deviation <= 0 || mean <= 0) {
        if (dist->kind == SIM_DIST_GAMMA || dist->kind == SIM_DIST_LOGNORMAL || dist->kind == SIM_DIST_NORMAL)
            dist->kind =
                mean <= 0 && deviation > 0 && dist->kind == SIM_DIST_NORMAL ? SIM_DIST_NORMAL : SIM_DIST_CONSTANT;
        return;
    }
    double ratio = deviation / mean;
    if (dist->kind == SIM_DIST_GAMMA)
        dist->b = 1 / (ratio * ratio);
    if (dist->kind == SIM_DIST_LOGNORMAL) {
        double variance = log1p(ratio * ratio);
        dist->a = log(mean) - variance / 2;
        dist->b = sqrt(variance);
    }
}

static as_status refuse(enum sim_dist_unit unit, struct as_error *err)
{
    return error_set(err, AS_E_USAGE,
                     unit == SIM_DIST_COUNT ? "is no length" : "is no delay (a duration has a unit: 50ms, 2s)");
}

as_status sim_dist_parse(const char *text, enum sim_dist_unit unit, struct sim_dist *ret, struct as_error *err)
{
    struct sim_dist dist = {.kind = SIM_DIST_CONSTANT};
    const char *values = text;
    const char *colon = strchr(text, ':');
    if (colon) {
        size_t i = 0;
        while (i < sizeof(kinds) / sizeof(kinds[0]) && (strlen(kinds[i].name) != (size_t)(colon - text) ||
                                                        strncmp(kinds[i].name, text, (size_t)(colon - text)) != 0))
            i++;
        if (i == sizeof(kinds) / sizeof(kinds[0]))
            return refuse(unit, err);
        dist.kind = (enum sim_dist_kind)i;
        values = colon + 1;
    }
    double value[2] = {0, 0};
    if (values_parse(values, unit, value) != kinds[dist.kind].parameters)
        return refuse(unit, err);
    if (dist.kind == SIM_DIST_UNIFORM && value[0] > value[1])
        return refuse(unit, err);
    prepare(&dist, value[0], value[1]);
    *ret = dist;
    return AS_OK;
}

int64_t sim_dist_sample(const struct sim_dist *dist, struct rng *rng)
{
    double value = dist->a;
    switch (dist->kind) {
    case SIM_DIST_CONSTANT:
        break;
    case SIM_DIST_UNIFORM:
        value += (dist->b - dist->a) * rng_uniform(rng);
        break;
    case SIM_DIST_NORMAL:
        value += dist->b * rng_normal(rng);
        break;
    case SIM_DIST_EXPONENTIAL:
        value *= rng_exponential(rng);
        break;
    case SIM_DIST_GAMMA:
        value *= rng_gamma(rng, dist->b);
        break;
    case SIM_DIST_LOGNORMAL:
        value = exp(dist->a + dist->b * rng_normal(rng));
        break;
    }
    if (!(value > 0))
        return 0;
    return value > VALUE_MAX ? (int64_t)VALUE_MAX : (int64_t)(value + 0.5);
}

double sim_dist_mean(const struct sim_dist *dist)
{
    if (dist->kind == SIM_DIST_UNIFORM)
        return (dist->a + dist->b) / 2;
    if (dist->kind == SIM_DIST_LOGNORMAL)
        return exp(dist->a + dist->b * dist->b / 2);
    return dist->a;
}

bool sim_dist_is_zero(const struct sim_dist *dist)
{
    return dist->kind == SIM_DIST_CONSTANT && dist->a < 0.5;
}
