/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/model.h"

#include <string.h>

struct unit {
    const char *name;
    enum unit_category category;
    enum model_unit base;
    double factor;
};

static const struct unit UNITS[UNIT_NUMBER] = {
    [UNIT_COUNT] = {"count", UNITS_QUANTITY, UNIT_COUNT, 1},
    [UNIT_PIXELS] = {"pixels", UNITS_QUANTITY, UNIT_PIXELS, 1},
    [UNIT_PERCENT] = {"percent", UNITS_PORTION, UNIT_FRACTION, 0.01},
    [UNIT_FRACTION] = {"fraction", UNITS_PORTION, UNIT_FRACTION, 1},
    [UNIT_RATIO] = {"ratio", UNITS_RATIO, UNIT_RATIO, 1},
    [UNIT_MS] = {"ms", UNITS_TIME, UNIT_S, 1e-3},
    [UNIT_S] = {"s", UNITS_TIME, UNIT_S, 1},
    [UNIT_BYTES] = {"bytes", UNITS_MEMORY, UNIT_BYTES, 1},
    [UNIT_MB] = {"MB", UNITS_MEMORY, UNIT_BYTES, 1e6},
    [UNIT_GB] = {"GB", UNITS_MEMORY, UNIT_BYTES, 1e9},
    [UNIT_TB] = {"TB", UNITS_MEMORY, UNIT_BYTES, 1e12},
    [UNIT_MIB] = {"MiB", UNITS_MEMORY, UNIT_BYTES, 1048576},
    [UNIT_GIB] = {"GiB", UNITS_MEMORY, UNIT_BYTES, 1073741824},
    [UNIT_TIB] = {"TiB", UNITS_MEMORY, UNIT_BYTES, 1099511627776},
    [UNIT_MBIT_PER_S] = {"Mbit/s", UNITS_BANDWIDTH, UNIT_MB_PER_S, 0.125},
    [UNIT_GBIT_PER_S] = {"Gbit/s", UNITS_BANDWIDTH, UNIT_MB_PER_S, 125},
    [UNIT_TBIT_PER_S] = {"Tbit/s", UNITS_BANDWIDTH, UNIT_MB_PER_S, 125e3},
    [UNIT_GIB_PER_S] = {"GiB/s", UNITS_ANY, UNIT_MB_PER_S, 1073.741824},
    [UNIT_MB_PER_S] = {"MB/s", UNITS_BANDWIDTH, UNIT_MB_PER_S, 1},
    [UNIT_GB_PER_S] = {"GB/s", UNITS_BANDWIDTH, UNIT_MB_PER_S, 1e3},
    [UNIT_TB_PER_S] = {"TB/s", UNITS_BANDWIDTH, UNIT_MB_PER_S, 1e6},
    [UNIT_MS_PER_TOKEN] = {"ms/token", UNITS_GENERATION_LATENCY, UNIT_S_PER_TOKEN, 1e-3},
    [UNIT_S_PER_TOKEN] = {"s/token", UNITS_GENERATION_LATENCY, UNIT_S_PER_TOKEN, 1},
    [UNIT_TOKENS_PER_S] = {"tokens/s", UNITS_GENERATION_THROUGHPUT, UNIT_TOKENS_PER_S, 1},
    [UNIT_QUERIES_PER_S] = {"queries/s", UNITS_REQUEST_THROUGHPUT, UNIT_QUERIES_PER_S, 1},
    [UNIT_IMAGES_PER_S] = {"images/s", UNITS_MEDIA_THROUGHPUT, UNIT_IMAGES_PER_S, 1},
    [UNIT_VIDEOS_PER_S] = {"videos/s", UNITS_MEDIA_THROUGHPUT, UNIT_VIDEOS_PER_S, 1},
    [UNIT_AUDIOS_PER_S] = {"audios/s", UNITS_MEDIA_THROUGHPUT, UNIT_AUDIOS_PER_S, 1},
    [UNIT_WATTS] = {"Watts", UNITS_POWER, UNIT_WATTS, 1},
};

static const char *const NAMES[] = {
    "count", "pixels",   "percent", "fraction", "ratio",     "ms",       "s",        "bytes",    "MB",    "GB",
    "TB",    "MiB",      "GiB",     "TiB",      "Mbit/s",    "Gbit/s",   "Tbit/s",   "GiB/s",    "MB/s",  "GB/s",
    "TB/s",  "ms/token", "s/token", "tokens/s", "queries/s", "images/s", "videos/s", "audios/s", "Watts", NULL};
_Static_assert(sizeof NAMES / sizeof NAMES[0] == UNIT_NUMBER + 1, "every unit has a name");

const struct model_choices model_units = {"Units", "What a value is counted in.", NAMES};

const char *unit_name(enum model_unit unit)
{
    return UNITS[unit].name;
}

int unit_find(const char *name)
{
    for (int i = 0; i < UNIT_NUMBER; i++)
        if (strcmp(UNITS[i].name, name) == 0)
            return i;
    return -1;
}

enum unit_category unit_category(enum model_unit unit)
{
    return UNITS[unit].category;
}

const char *unit_category_name(enum unit_category category)
{
    static const char *const names[] = {
        [UNITS_ANY] = "any",
        [UNITS_QUANTITY] = "quantity",
        [UNITS_PORTION] = "portion",
        [UNITS_RATIO] = "ratio",
        [UNITS_TIME] = "time",
        [UNITS_MEMORY] = "memory",
        [UNITS_BANDWIDTH] = "bandwidth",
        [UNITS_GENERATION_LATENCY] = "generation latency",
        [UNITS_GENERATION_THROUGHPUT] = "generation throughput",
        [UNITS_REQUEST_THROUGHPUT] = "request throughput",
        [UNITS_MEDIA_THROUGHPUT] = "media throughput",
        [UNITS_POWER] = "power",
    };
    return names[category];
}

double unit_factor(enum model_unit unit, enum model_unit *ret_base)
{
    *ret_base = UNITS[unit].base;
    return UNITS[unit].factor;
}
