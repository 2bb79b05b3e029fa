/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fault.h"

#include "base/rng.h"
#include "sim/dist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum sim_fault_argument argument;
    int64_t initial;
} kinds[SIM_FAULT_KIND_COUNT] = {
#define SIM_FAULT_ROW(kind, name, argument, initial, meaning) {name, SIM_FAULT_ARG_##argument, initial},
    SIM_FAULT_KIND_MAP(SIM_FAULT_ROW)
#undef SIM_FAULT_ROW
};

const char *sim_fault_name(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_STATUS ? "status" : kinds[kind].name;
}

bool sim_fault_needs_stream(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_STREAM_ERROR || kind == SIM_FAULT_BAD_EVENT || kind == SIM_FAULT_UNFINISHED ||
           kind == SIM_FAULT_NO_DONE;
}

bool sim_fault_needs_images(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_BAD_BASE64 || kind == SIM_FAULT_CUT_IMAGE || kind == SIM_FAULT_FEWER_IMAGES || kind == SIM_FAULT_NO_DATA;
}

static as_status refuse(struct as_error *err)
{
    return error_set(err, AS_E_USAGE, "is no fault of the form KIND[:ARG]@WHEN");
}

/* A whole number ≥ 0 at *at, which is moved behind it. */
static bool take_number(const char **at, int64_t *ret)
{
    if (**at < '0' || **at > '9')
        return false;
    char *end;
    errno = 0;
    long long value = strtoll(*at, &end, 10);
    if (errno)
        return false;
    *ret = value;
    *at = end;
    return true;
}

static bool kind_parse(const char *name, size_t len, struct sim_fault *fault)
{
    const char *at = name;
    int64_t status;
    if (take_number(&at, &status)) {
        fault->kind = SIM_FAULT_STATUS;
        fault->status = (int)status;
        return at == name + len && status >= 400 && status <= 599;
    }
    for (int i = SIM_FAULT_STATUS + 1; i < SIM_FAULT_KIND_COUNT; i++)
        if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, name, len) == 0) {
            fault->kind = (enum sim_fault_kind)i;
            fault->status = fault->kind == SIM_FAULT_OOM ? 500 : fault->kind == SIM_FAULT_HTML ? 502 : 0;
            return true;
        }
    return false;
}

static bool argument_parse(const char *text, const char *end, struct sim_fault *fault)
{
    double ns;
    switch (kinds[fault->kind].argument) {
    case SIM_FAULT_ARG_NONE:
        return false;
    case SIM_FAULT_ARG_DURATION:
        if (text + sim_duration_parse(text, &ns) != end)
            return false;
        fault->argument = (int64_t)ns;
        return true;
    case SIM_FAULT_ARG_RETRY_AFTER:
    case SIM_FAULT_ARG_CHUNKS:
        return take_number(&text, &fault->argument) && text == end;
    }
    return false;
}

static bool range_parse(const char *text, struct sim_fault *fault)
{
    if (!take_number(&text, &fault->from) || fault->from < 1)
        return false;
    fault->to = fault->from;
    if (*text == '-' && fault->when == SIM_FAULT_AT) {
        text++;
        if (!take_number(&text, &fault->to) || fault->to < fault->from)
            return false;
    }
    return *text == '\0';
}

static bool when_parse(const char *text, struct sim_fault *fault)
{
    static const struct {
        const char *name;
        enum sim_fault_when when;
    } words[] = {{"every=", SIM_FAULT_EVERY}, {"first=", SIM_FAULT_FIRST}, {"at=", SIM_FAULT_AT}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(text, words[i].name, strlen(words[i].name)) == 0) {
            fault->when = words[i].when;
            return range_parse(text + strlen(words[i].name), fault);
        }
    char *end;
    fault->when = SIM_FAULT_PROBABILITY;
    fault->probability = strtod(text, &end);
    return end != text && *end == '\0' && strspn(text, "0123456789.eE-") == strlen(text) && fault->probability >= 0 &&
           fault->probability <= 1;
}

as_status sim_fault_parse(const char *text, struct sim_fault *ret, struct as_error *err)
{
    struct sim_fault fault = {0};
    const char *at = strchr(text, '@');
    if (!at)
        return refuse(err);
    const char *colon = memchr(text, ':', (size_t)(at - text));
    const char *name_end = colon ? colon : at;
    if (!kind_parse(text, (size_t)(name_end - text), &fault))
        return refuse(err);
    fault.argument = kinds[fault.kind].initial;
    if (colon && !argument_parse(colon + 1, at, &fault))
        return refuse(err);
    if (!when_parse(at + 1, &fault))
        return refuse(err);
    *ret = fault;
    return AS_OK;
}

static bool applies(const struct sim_fault *fault, uint64_t seed, size_t index, int64_t number)
{
    switch (fault->when) {
    case SIM_FAULT_PROBABILITY: {
        uint64_t draw = rng_mix(rng_mix(seed, UINT64_C(0xfa17) + index), (uint64_t)number);
        return (double)(draw >> 11) * 0x1.0p-53 < fault->probability;
    }
    case SIM_FAULT_EVERY:
        return number % fault->from == 0;
    case SIM_FAULT_FIRST:
        return number <= fault->from;
    case SIM_FAULT_AT:
        return number >= fault->from && number <= fault->to;
    }
    return false;
}

const struct sim_fault *sim_fault_choose(const struct sim_fault *faults, size_t count, uint64_t seed, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (applies(&faults[i], seed, i, number))
            return &faults[i];
    return NULL;
}
