/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/audit.h"

as_status audit_add(struct plane_call *call, const char *action, const char *object, const char *code)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct store_value values[] = {
        store_int(call->now_ns), store_text(call->who.user_name[0] ? call->who.user_name : "system"),
        store_text(action),      store_text(object),
        store_text(code),        store_text(call->address),
    };
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO audit_log (tenant_id, at_ns, actor, action, object_type, object_code, remote_address, "
                  "token_code) VALUES (");
    sql_tenant(&sql);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ", (SELECT token_code FROM api_tokens WHERE id = ");
    sql_of_row(&sql, call->who.is_session ? 0 : call->who.credential_id);
    sql_add(&sql, "))");
    return sql_exec(&sql, call, NULL);
}
