/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/query.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define FILTER_BYTES_MAX 500

/* The decoded value of one query parameter at [at, end). */
static as_status decode(struct plane_call *call, const char *at, size_t len, const char **ret)
{
    char *text = arena_alloc(&call->arena, len + 1);
    if (!text)
        return call_store_failed(call, AS_E_NOMEM);
    if (http_percent_decode((struct http_text){at, len}, true, text, len + 1) != AS_OK)
        return call_refuse(call, PROBLEM_MALFORMED, "the query holds a malformed escape");
    *ret = text;
    return AS_OK;
}

static bool next_param(const char **at, struct http_text *ret_name, struct http_text *ret_value)
{
    while (**at == '&')
        (*at)++;
    if (!**at)
        return false;
    size_t len = strcspn(*at, "&"), name_len = strcspn(*at, "=&");
    *ret_name = (struct http_text){*at, name_len};
    *ret_value = (struct http_text){*at + name_len, len - name_len};
    if (ret_value->len) {
        ret_value->at++;
        ret_value->len--;
    }
    *at += len;
    return true;
}

static bool name_is(struct http_text name, const char *other)
{
    return name.len == strlen(other) && memcmp(name.at, other, name.len) == 0;
}

as_status call_query(struct plane_call *call, const char *name, const char **ret)
{
    const char *at = call->query;
    struct http_text found, value;
    bool is_found = false;
    *ret = NULL;
    while (next_param(&at, &found, &value)) {
        if (!name_is(found, name))
            continue;
        if (is_found)
            return problem_add(&call->problem, call_printf(call, "?%s", name), "twice", "is given twice");
        is_found = true;
        as_status status = decode(call, value.at, value.len, ret);
        if (status != AS_OK)
            return status;
    }
    return AS_OK;
}

as_status call_query_check(struct plane_call *call, const char *const *names, size_t count)
{
    const char *at = call->query;
    struct http_text name, value;
    while (next_param(&at, &name, &value)) {
        bool is_known = false;
        for (size_t i = 0; i < count && !is_known; i++)
            is_known = name_is(name, names[i]);
        if (!is_known)
            return problem_add(&call->problem,
                               call_printf(call, "?%.*s", (int)(name.len < 60 ? name.len : 60), name.at), "unknown",
                               "there is no such query parameter");
    }
    return AS_OK;
}

as_status call_query_int(struct plane_call *call, const char *name, int64_t max, int64_t *ret)
{
    const char *text;
    int64_t value;
    as_status status = call_query(call, name, &text);
    if (status != AS_OK || !text)
        return status;
    if (!json_text_int64(text, strlen(text), &value) || value < 1 || value > max)
        return problem_add(&call->problem, call_printf(call, "?%s", name), "range", "must be an integer from 1 to %lld",
                           (long long)max);
    *ret = value;
    return AS_OK;
}

as_status call_query_value(struct plane_call *call, const struct field *field, const char *text,
                           struct store_value *ret)
{
    const char *pointer = call_printf(call, "?%s", field->name);
    int64_t whole;
    double number;
    struct wall time;
    switch (field->type) {
    case FIELD_INT:
        if (!json_text_int64(text, strlen(text), &whole))
            return problem_add(&call->problem, pointer, "type", "must be an integer");
        *ret = store_int(whole);
        return AS_OK;
    case FIELD_NUMBER:
        if (!json_text_double(text, strlen(text), &number))
            return problem_add(&call->problem, pointer, "type", "must be a number");
        *ret = store_real(number);
        return AS_OK;
    case FIELD_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return problem_add(&call->problem, pointer, "type", "must be true or false");
        *ret = store_bool(text[0] == 't');
        return AS_OK;
    case FIELD_TIME:
        if (wall_parse(text, strlen(text), &time) != 0)
            return problem_add(&call->problem, pointer, "type", "must be a time like 2026-11-30T19:05:33Z");
        *ret = store_int(time.ns);
        return AS_OK;
    default:
        if (strlen(text) > FILTER_BYTES_MAX)
            return problem_add(&call->problem, pointer, "length", "is longer than %d bytes", FILTER_BYTES_MAX);
        *ret = store_text(text);
        return AS_OK;
    }
}
