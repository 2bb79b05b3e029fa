/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/cursor.h"

#include "plane/query.h"
#include "plane/state.h"

#include <string.h>

#define PURPOSE "list cursor"

as_status cursor_read(struct plane_call *call, const char *scope, const struct json_value **ret)
{
    const char *text;
    const struct json_value *tree = NULL;
    size_t len = 0;
    *ret = NULL;
    as_status status = call_query(call, "cursor", &text);
    if (status != AS_OK || !text)
        return status;
    unsigned char *sealed = secret_base64url_read(&call->arena, text, strlen(text), &len);
    char *plain = sealed && len > SECRET_SEAL_EXTRA ? arena_alloc(&call->arena, len) : NULL;
    if (!plain || secret_open(&call->plane->key, PURPOSE, sealed, len, (unsigned char *)plain) != AS_OK ||
        json_parse(plain, len - SECRET_SEAL_EXTRA, NULL, &call->arena, &tree, NULL) != AS_OK)
        return problem_add(&call->problem, "?cursor", "cursor", "is no cursor of this server");
    const struct json_value *of = json_get(tree, "scope");
    if (!of || of->type != JSON_STRING || strcmp(of->text, scope) != 0)
        return problem_add(&call->problem, "?cursor", "cursor", "is of another list or order");
    *ret = tree;
    return AS_OK;
}

const char *cursor_seal(struct plane_call *call, const struct strbuf *plain)
{
    as_status status = strbuf_status(plain);
    unsigned char *sealed = status == AS_OK ? arena_alloc(&call->arena, plain->len + SECRET_SEAL_EXTRA) : NULL;
    if (sealed)
        status = secret_seal(&call->plane->key, PURPOSE, plain->data, plain->len, sealed);
    const char *text =
        sealed && status == AS_OK ? secret_base64url(&call->arena, sealed, plain->len + SECRET_SEAL_EXTRA) : NULL;
    if (!text)
        (void)call_store_failed(call, status == AS_OK ? AS_E_NOMEM : status);
    return text;
}
