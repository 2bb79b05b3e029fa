/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/difference.h"

#define DEPTH_MAX 64 /* deeper values count as different */

static bool is_null(const struct json_value *value)
{
    return !value || value->type == JSON_NULL;
}

static bool is_same_scalar(const struct json_value *wanted, const struct json_value *current)
{
    double one = 0, other = 0;
    if (wanted->type == JSON_BOOL)
        return wanted->boolean == current->boolean;
    if (wanted->type == JSON_NUMBER && json_double(wanted, &one) && json_double(current, &other))
        return !(one < other) && !(one > other);
    return wanted->len == current->len && memcmp(wanted->text, current->text, wanted->len) == 0;
}

static bool is_same(const struct json_value *wanted, const struct json_value *current, bool may_have_more, int depth);

static bool is_same_array(const struct json_value *wanted, const struct json_value *current, int depth)
{
    const struct json_value *one = wanted->first, *other = current->first;
    for (; one && other; one = one->next, other = other->next)
        if (!is_same(one, other, true, depth + 1))
            return false;
    return !one && !other;
}

static bool is_same_object(const struct json_value *wanted, const struct json_value *current, bool may_have_more,
                           int depth)
{
    for (const struct json_value *member = wanted->first; member; member = member->next)
        if (!is_same(member, json_get(current, member->key), false, depth + 1))
            return false;
    for (const struct json_value *member = current->first; member && !may_have_more; member = member->next)
        if (!is_null(member) && !json_get(wanted, member->key))
            return false;
    return true;
}

/* As deep as DEPTH_MAX. */
static bool is_same(const struct json_value *wanted, const struct json_value *current, bool may_have_more, int depth)
{
    if (is_null(wanted) || is_null(current))
        return is_null(wanted) && is_null(current);
    if (wanted->type != current->type || depth > DEPTH_MAX)
        return false;
    if (wanted->type == JSON_ARRAY)
        return is_same_array(wanted, current, depth);
    if (wanted->type == JSON_OBJECT)
        return is_same_object(wanted, current, may_have_more, depth);
    return is_same_scalar(wanted, current);
}

bool difference_is_same(const struct json_value *wanted, const struct json_value *current)
{
    return is_same(wanted, current, false, 0);
}
