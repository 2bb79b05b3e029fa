/* SPDX-License-Identifier: Apache-2.0 */
#include "run/slo.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE (-1)
#define BOUND_MAX_MS 86400000.0

static const struct {
    const char *name;
    size_t at;
} OBJECTIVES[] = {
    {"ttft", offsetof(struct run_slo, ttft_ns)},
    {"time_to_first_token", offsetof(struct run_slo, ttft_ns)},
    {"tpot", offsetof(struct run_slo, tpot_ns)},
    {"time_per_output_token", offsetof(struct run_slo, tpot_ns)},
    {"inter_token_latency", offsetof(struct run_slo, tpot_ns)},
    {"itl", offsetof(struct run_slo, itl_ns)},
    {"e2e", offsetof(struct run_slo, e2e_ns)},
    {"e2el", offsetof(struct run_slo, e2e_ns)},
    {"request_latency", offsetof(struct run_slo, e2e_ns)},
};

static int64_t *objective(struct run_slo *slo, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof OBJECTIVES / sizeof OBJECTIVES[0]; i++)
        if (strlen(OBJECTIVES[i].name) == len && memcmp(OBJECTIVES[i].name, name, len) == 0)
            return (int64_t *)((char *)slo + OBJECTIVES[i].at);
    return NULL;
}

static as_status add_one(const char *text, size_t len, struct run_slo *slo, struct as_error *err)
{
    const char *colon = memchr(text, ':', len);
    size_t name_len = colon ? (size_t)(colon - text) : len;
    int64_t *bound_ns = objective(slo, text, name_len);
    if (!bound_ns)
        return error_set(err, AS_E_USAGE, "has an unknown objective \"%.*s\"", (int)(name_len < 60 ? name_len : 60), text);
    char number[32];
    size_t digits = colon ? len - name_len - 1 : 0;
    if (digits == 0 || digits >= sizeof number || strspn(colon + 1, "0123456789.") == 0)
        return error_set(err, AS_E_USAGE, "has no number of milliseconds after %.*s", (int)name_len, text);
    memcpy(number, colon + 1, digits);
    number[digits] = '\0';
    char *end;
    double bound_ms = strtod(number, &end);
    if (strcmp(end, "s") == 0)
        bound_ms *= 1e3;
    bool is_unit = !*end || strcmp(end, "ms") == 0 || strcmp(end, "s") == 0;
    if (!is_unit || !(bound_ms > 0) || bound_ms > BOUND_MAX_MS)
        return error_set(err, AS_E_USAGE, "has no usable number of milliseconds after %.*s", (int)name_len, text);
    int64_t found_ns = (int64_t)llround(bound_ms * (double)NS_PER_MS);
    if (*bound_ns != NONE && *bound_ns != found_ns)
        return error_set(err, AS_E_USAGE, "bounds %.*s a second time", (int)name_len, text);
    *bound_ns = found_ns;
    return AS_OK;
}

as_status slo_add(const char *text, struct run_slo *slo, struct as_error *err)
{
    bool is_empty = true;
    while (*text) {
        text += strspn(text, " ,");
        size_t len = strcspn(text, " ,");
        if (len == 0)
            break;
        is_empty = false;
        as_status status = add_one(text, len, slo, err);
        if (status != AS_OK)
            return status;
        text += len;
    }
    return is_empty ? error_set(err, AS_E_USAGE, "names no objective") : AS_OK;
}

as_status slo_read(const struct opt_list *list, struct run_slo *ret, struct as_error *err)
{
    struct run_slo slo = {NONE, NONE, NONE, NONE};
    for (size_t i = 0; i < list->count; i++) {
        as_status status = slo_add(list->items[i], &slo, err);
        if (status != AS_OK) {
            error_prefix(err, "--goodput");
            return status;
        }
    }
    *ret = slo;
    return AS_OK;
}
