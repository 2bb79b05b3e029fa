/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/own.h"

#include "summary/summary_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct own_figures *own_figures_find(const char *tool)
{
    static const struct own_figures *const all[] = {&OWN_VLM, &OWN_ASR, &OWN_IMAGEGEN};
    for (size_t i = 0; tool && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->tool, tool) == 0)
            return all[i];
    return NULL;
}

static as_status load(const struct own_group *group, size_t offset, struct values *ret)
{
    const struct column **columns = malloc((group->count + 1) * sizeof *columns);
    as_status status = columns ? AS_OK : AS_E_NOMEM;
    for (size_t i = 0; i < group->count && status == AS_OK; i++) {
        columns[i] = (const struct column *)(const void *)((const char *)group->tallies[i] + offset);
        status = columns[i]->status;
    }
    if (status == AS_OK)
        status = column_load_sorted(columns, group->count, ret);
    free(columns);
    return status;
}

as_status own_write_column(const struct own_group *group, const struct own_column *column, struct json_writer *writer,
                           struct own_sum *ret)
{
    AS_AUTO_VALUES struct values values = {0};
    as_status status = load(group, column->offset, &values);
    if (status != AS_OK)
        return status;
    struct distribution d = distribution_of_sorted(values.at, values.count, group->rules->percentile_method);
    summary_write_distribution(writer, column->name, &d, column->scale);
    if (!ret)
        return AS_OK;
    wide_int sum = 0;
    for (int64_t i = 0; i < values.count; i++)
        sum += values.at[i];
    *ret = (struct own_sum){values.count, values.count ? (double)sum : (double)NAN};
    return AS_OK;
}

double own_per_second(double value, int64_t duration_ns)
{
    return duration_ns > 0 ? value / ((double)duration_ns / 1e9) : (double)NAN;
}
