/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/pace.h"

#include "sim/dist.h"

#include <stdlib.h>

as_status sim_freeze_parse(const char *text, struct sim_freeze *ret, struct as_error *err)
{
    double start, length;
    size_t len = sim_duration_parse(text, &start);
    if (len > 0 && text[len] == '+') {
        const char *second = text + len + 1;
        len = sim_duration_parse(second, &length);
        if (len > 0 && second[len] == '\0' && length >= 1) {
            *ret = (struct sim_freeze){(int64_t)start, (int64_t)length};
            return AS_OK;
        }
    }
    return error_set(err, AS_E_USAGE,
                     "is no freeze of the form START+LENGTH");
}

static int by_start(const void *a, const void *b)
{
    int64_t x = ((const struct sim_freeze *)a)->start_ns, y = ((const struct sim_freeze *)b)->start_ns;
    return (x > y) - (x < y);
}

as_status sim_freeze_order(struct sim_freeze *freezes, size_t count, struct as_error *err)
{
    if (count < 2)
        return AS_OK;
    qsort(freezes, count, sizeof(*freezes), by_start);
    for (size_t i = 1; i < count; i++)
        if (freezes[i - 1].start_ns + freezes[i - 1].length_ns > freezes[i].start_ns)
            return error_set(err, AS_E_USAGE, "two freezes overlap: give one that covers both, for example 5s+2s");
    return AS_OK;
}

/* The instant after `work_ns` of running time from `from_ns`, both counted from the first request. */
static int64_t through_freezes(const struct sim_pace *pace, int64_t from_ns, int64_t work_ns)
{
    int64_t at = from_ns;
    for (size_t i = 0; i < pace->freeze_count; i++) {
        const struct sim_freeze *freeze = &pace->freezes[i];
        int64_t end = freeze->start_ns + freeze->length_ns;
        if (at >= end)
            continue;
        if (at < freeze->start_ns) {
            int64_t running = freeze->start_ns - at;
            if (work_ns < running)
                break;
            work_ns -= running;
        }
        at = end;
    }
    return at + work_ns;
}

int64_t sim_pace_advance(const struct sim_pace *pace, int64_t epoch_ns, int64_t from_ns, int64_t work_ns)
{
    int64_t at = from_ns + work_ns;
    if (pace->freeze_count)
        at = epoch_ns + through_freezes(pace, from_ns - epoch_ns, work_ns);
    if (pace->grid_ns <= 0)
        return at;
    for (;;) {
        int64_t over = at % pace->grid_ns;
        if (over == 0)
            return at;
        at += pace->grid_ns - over;
        int64_t thawed = pace->freeze_count ? epoch_ns + through_freezes(pace, at - epoch_ns, 0) : at;
        if (thawed == at)
            return at;
        at = thawed;
    }
}
