/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/problem.h"

#include "ctl/table.h"

#include <string.h>

static as_status status_of(long http_status, const char *type)
{
    switch (http_status) {
    case 401:
    case 403:
        return AS_E_DENIED;
    case 404:
        return AS_E_NOTFOUND;
    case 409:
        return strstr(type, ":exists") ? AS_E_EXISTS : AS_E_STATE;
    case 412:
        return AS_E_STATE;
    case 429:
        return AS_E_NETWORK;
    default:
        return http_status >= 400 && http_status < 500 ? AS_E_INVALID : AS_E_NETWORK;
    }
}

/* "/gpus/0/gpu_index" is gpus.0.gpu_index; "?limit" is the parameter limit. */
static void add_pointer(struct strbuf *out, const char *pointer)
{
    if (*pointer == '/' || *pointer == '?')
        pointer++;
    for (; *pointer; pointer++)
        if (*pointer == '~' && (pointer[1] == '0' || pointer[1] == '1'))
            strbuf_addc(out, *++pointer == '0' ? '~' : '/');
        else if (*pointer == '/')
            strbuf_addc(out, '.');
        else
            table_add_text(out, pointer, 1);
}

static bool add_members(struct strbuf *out, const struct json_value *errors)
{
    size_t count = 0;
    for (const struct json_value *item = errors ? errors->first : NULL; item; item = item->next) {
        const char *pointer = NULL, *detail = NULL;
        if (!json_string(json_get(item, "pointer"), &pointer) || !json_string(json_get(item, "detail"), &detail))
            continue;
        strbuf_adds(out, count++ ? "; " : "");
        add_pointer(out, pointer);
        strbuf_addc(out, ' ');
        table_add_text(out, detail, strlen(detail));
    }
    return count > 0;
}

as_status problem_status(long http_status, const struct json_value *body, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    const char *type = "", *detail = NULL;
    strbuf_init(&text, 0);
    (void)json_string(json_get(body, "type"), &type);
    if (!json_string(json_get(body, "detail"), &detail))
        (void)json_string(json_get(body, "title"), &detail);
    as_status status = status_of(http_status, type);
    if (!add_members(&text, json_get(body, "errors")) && detail)
        table_add_text(&text, detail, strlen(detail));
    if (http_status == 401)
        return error_set(err, status, "the server does not know who asks (%s): give --token-file or ASSAY_TOKEN",
                         text.len ? text.data : "no token");
    if (!text.len)
        return error_set(err, status, "the server answered with status %ld and no reason", http_status);
    return error_set(err, status, "%s", text.data);
}
