/* SPDX-License-Identifier: Apache-2.0 */
#include "run/shard.h"

#include <stdlib.h>
#include <string.h>

static const char *read_number(const char *at, int64_t *ret)
{
    size_t digits = strspn(at, "0123456789");
    if (digits == 0 || digits > 6)
        return NULL;
    *ret = strtoll(at, NULL, 10);
    return at + digits;
}

bool shard_parse(const char *text, int64_t *ret_index, int64_t *ret_count)
{
    int64_t index, count;
    const char *at = read_number(text, &index);
    if (!at || *at != '/')
        return false;
    at = read_number(at + 1, &count);
    if (!at || *at || count < 1 || count > SHARD_COUNT_MAX || index >= count)
        return false;
    *ret_index = index;
    *ret_count = count;
    return true;
}
