/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/resources.h"

#include "base/clock.h"
#include "plane/auth.h"
#include "plane/route.h"
#include "plane/state.h"

#include <stdio.h>
#include <string.h>

#define TOKEN_LIFE_NS (365 * 86400 * NS_PER_S)
#define NONCE_BYTES   12

static const char *const ROLES[] = {"admin", "member", "viewer", "agent", NULL};

/* ---- tenants ---- */

static const struct field TENANT_FIELDS[] = {
    {.name = "tenant_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the tenant."},
    {.name = "name", .type = FIELD_TEXT, .flags = FIELD_REQUIRED | FIELD_SORT, .about = "What people call it."},
    FIELDS_OF_LIFE,
    {.name = "admin_token",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL | FIELD_ONCE,
     .about = "A token of the new tenant's user \"admin\"; only in the answer that made it."},
};

/* A new tenant gets an administrator, whose token is shown once. */
static as_status finish_tenant(struct plane_call *call, int64_t id, const struct row_values *row)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t user_id = 0;
    if (call->route->method != HTTP_POST)
        return AS_OK;
    (void)row;
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO users (tenant_id, user_name, role, created_ns, updated_ns) VALUES (");
    sql_of_row(&sql, id);
    sql_add(&sql, ", 'admin', 'admin', ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ", ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ") RETURNING id");
    as_status status = sql_one_int(&sql, call, &user_id);
    return status == AS_OK ? account_add_token(call, id, user_id) : status;
}

static as_status put_once(struct plane_call *call, const char *member)
{
    if (call->secret)
        json_member_string(&call->json, member, call->secret);
    return AS_OK;
}

static as_status put_tenant(struct plane_call *call, int64_t id)
{
    (void)id;
    return put_once(call, "admin_token");
}

static as_status retire_tenant(struct plane_call *call, int64_t id)
{
    return id == call->who.tenant_id ? call_refuse(call, PROBLEM_STATE, "a tenant does not retire itself") : AS_OK;
}

static const struct resource_hooks TENANT_HOOKS = {.finish = finish_tenant, .put = put_tenant, .retire = retire_tenant};

const struct resource resource_tenants = {
    .shape = {.name = "Tenant",
              .about = "A group of users whose things no other group sees.",
              SHAPE_FIELDS(TENANT_FIELDS)},
    .path = "tenants",
    .singular = "tenant",
    .table = "tenants",
    .key = {"tenant_code"},
    .scope = RESOURCE_TENANT,
    .read = RIGHT_READ,
    .create = RIGHT_OPERATOR,
    .change = RIGHT_OPERATOR,
    .sort = "tenant_code",
    .hooks = &TENANT_HOOKS,
};

/* ---- users ---- */

static const struct field USER_FIELDS[] = {
    {.name = "user_name",
     .type = FIELD_LOGIN,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the user."},
    {.name = "display_name",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE | FIELD_SORT,
     .about = "What people call them."},
    {.name = "role",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED | FIELD_FILTER,
     .choices = ROLES,
     .about = "viewer reads; member also defines and runs; admin also users, templates and providers; agent only does "
              "jobs."},
    {.name = "password",
     .type = FIELD_SECRET,
     .flags = FIELD_ABSENT,
     .min = 8,
     .max = 128,
     .about = "For the login; never answered. Without one the user has tokens only."},
    {.name = "has_password",
     .type = FIELD_BOOL,
     .sql = "($.password_hash IS NOT NULL)",
     .flags = FIELD_GIVEN,
     .about = "Whether a login is possible."},
    {.name = "is_disabled",
     .type = FIELD_BOOL,
     .flags = FIELD_FILTER,
     .about = "A disabled user's sessions and tokens do not work."},
    {.name = "last_login_at",
     .type = FIELD_TIME,
     .column = "last_login_ns",
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Last login by password."},
    FIELDS_OF_LIFE,
};

/* There is always somebody left who can administer the tenant. */
static as_status check_other_admin(struct plane_call *call, int64_t id)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    int64_t others = 0;
    sql_begin(&sql, call);
    sql_add(&sql, "SELECT COUNT(*) FROM users u WHERE ");
    sql_own(&sql, "u");
    sql_add(&sql, " AND u.role = 'admin' AND u.retired_ns IS NULL AND u.is_disabled = ");
    sql_value(&sql, store_bool(false));
    sql_add(&sql, " AND u.id <> ");
    sql_of_row(&sql, id);
    as_status status = sql_one_int(&sql, call, &others);
    if (status == AS_OK && others == 0)
        return call_refuse(call, PROBLEM_STATE, "this is the tenant's last administrator");
    return status;
}

static as_status prepare_user(struct plane_call *call, int64_t id, struct row_values *row)
{
    const struct store_value *role = row_values_get(row, "role"), *disabled = row_values_get(row, "is_disabled");
    as_status status = AS_OK;
    if (id && ((role && strcmp(role->text, "admin") != 0) || (disabled && disabled->integer)))
        status = check_other_admin(call, id);
    if (status == AS_OK && call->password_hash) {
        status = row_values_set(row, "password_hash", store_text(call->password_hash));
        if (status == AS_OK)
            status = row_values_set(row, "password_changed_ns", store_int(call->now_ns));
    }
    if (id && (role || disabled || call->password_hash))
        call->ended_user_id = id;
    return status;
}

static as_status retire_user(struct plane_call *call, int64_t id)
{
    call->ended_user_id = id;
    return check_other_admin(call, id);
}

static const struct resource_hooks USER_HOOKS = {.prepare = prepare_user, .retire = retire_user};

const struct resource resource_users = {
    .shape = {.name = "User", .about = "Somebody, or a program, that uses the API.", SHAPE_FIELDS(USER_FIELDS)},
    .path = "users",
    .singular = "user",
    .table = "users",
    .key = {"user_name"},
    .scope = RESOURCE_OWN,
    .read = RIGHT_ADMIN,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .sort = "user_name",
    .hooks = &USER_HOOKS,
    .writes_password = true,
};

/* ---- tokens ---- */

static const char *const SCOPES[] = {"read", "write", "admin", "agent", NULL};
static const struct field TOKEN_FIELDS[] = {
    {.name = "token_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key of the token."},
    {.name = "user_name",
     .type = FIELD_LOGIN,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .about = "Whose token it is."},
    {.name = "role",
     .type = FIELD_ENUM,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_FILTER,
     .choices = ROLES,
     .about = "What it may do at most; never more than its user at the time of use."},
    {.name = "scopes",
     .type = FIELD_LIST,
     .item = FIELD_CODE,
     .max = 4,
     .flags = FIELD_FIXED,
     .choices = SCOPES,
     .initial = "[]",
     .about = "Of read, write, admin, agent; none: all that the role allows."},
    {.name = "config_code",
     .type = FIELD_CODE,
     .flags = FIELD_FIXED | FIELD_NULLABLE,
     .about = "An agent's token: the server it speaks for."},
    {.name = "hostname", .type = FIELD_CODE, .flags = FIELD_FIXED | FIELD_NULLABLE, .about = "The server's host name."},
    {.name = "expires_at",
     .type = FIELD_TIME,
     .column = "expires_ns",
     .flags = FIELD_NULLABLE,
     .about = "When it stops working; a year from now when not given, never when null."},
    {.name = "token_hint", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "Its first characters."},
    {.name = "last_used_at",
     .type = FIELD_TIME,
     .column = "last_used_ns",
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "Noted every five minutes."},
    FIELDS_OF_LIFE,
    {.name = "token",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_VIRTUAL | FIELD_ONCE,
     .about = "The token itself; only in the answer that made it."},
};
static const struct reference TOKEN_REFERENCES[] = {
    {"user_id", "users", {"user_name"}},
    {"server_id", "servers", {"config_code", "hostname"}},
};

static as_status check_scopes(struct plane_call *call)
{
    const struct json_value *scopes = json_get(call->input, "scopes");
    for (const struct json_value *item = scopes ? scopes->first : NULL; item; item = item->next) {
        bool is_known = false;
        for (const char *const *choice = SCOPES; *choice; choice++)
            is_known = is_known || strcmp(*choice, item->text) == 0;
        if (!is_known)
            return problem_add(&call->problem, "/scopes", "choice", "must be of read, write, admin, agent");
    }
    return AS_OK;
}

static as_status prepare_token(struct plane_call *call, int64_t id, struct row_values *row)
{
    char token[AUTH_TOKEN_BYTES], hint[AUTH_HINT_BYTES];
    as_status status = check_scopes(call);
    if (status != AS_OK || id)
        return status;
    status = auth_new_token(token, hint);
    if (status != AS_OK)
        return call_store_failed(call, status);
    call->secret = arena_strdup(&call->arena, token);
    call->shows_secret = true;
    const char *kept_hint = arena_strdup(&call->arena, hint);
    if (!call->secret || !kept_hint)
        return call_store_failed(call, AS_E_NOMEM);
    status = row_values_set(row, "token_hash", auth_digest(&call->arena, token));
    if (status == AS_OK)
        status = row_values_set(row, "token_hint", store_text(kept_hint));
    if (status == AS_OK && !row_values_get(row, "expires_ns"))
        status = row_values_set(row, "expires_ns", store_int(call->now_ns + TOKEN_LIFE_NS));
    return status;
}

static as_status put_token(struct plane_call *call, int64_t id)
{
    (void)id;
    return put_once(call, "token");
}

static const struct resource_hooks TOKEN_HOOKS = {.prepare = prepare_token, .put = put_token};

const struct resource resource_tokens = {
    .shape = {.name = "Token", .about = "A bearer token for programs.", SHAPE_FIELDS(TOKEN_FIELDS)},
    .path = "tokens",
    .singular = "token",
    .table = "api_tokens",
    .key = {"token_code"},
    .references = TOKEN_REFERENCES,
    .reference_count = sizeof TOKEN_REFERENCES / sizeof TOKEN_REFERENCES[0],
    .scope = RESOURCE_OWN,
    .read = RIGHT_ADMIN,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .sort = "token_code",
    .hooks = &TOKEN_HOOKS,
};

as_status account_add_token(struct plane_call *call, int64_t tenant_id, int64_t user_id)
{
    char token[AUTH_TOKEN_BYTES], hint[AUTH_HINT_BYTES];
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = auth_new_token(token, hint);
    call->secret = arena_strdup(&call->arena, token);
    call->shows_secret = true;
    if (status != AS_OK || !call->secret)
        return call_store_failed(call, status == AS_OK ? AS_E_NOMEM : status);
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO api_tokens (tenant_id, user_id, token_code, token_hash, token_hint, role, created_ns, "
                  "updated_ns, expires_ns) VALUES (");
    sql_of_row(&sql, tenant_id);
    sql_add(&sql, ", ");
    sql_of_row(&sql, user_id);
    const struct store_value values[] = {
        store_text(call_printf(call, "first-%lld", (long long)(call->now_ns / NS_PER_S))),
        auth_digest(&call->arena, token),
        store_text(hint),
        store_text("admin"),
        store_int(call->now_ns),
        store_int(call->now_ns),
        store_int(call->now_ns + TOKEN_LIFE_NS),
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ")");
    return sql_exec(&sql, call, NULL);
}

/* ---- secrets ---- */

static const struct field SECRET_FIELDS[] = {
    {.name = "secret_code",
     .type = FIELD_CODE,
     .flags = FIELD_REQUIRED | FIELD_FIXED | FIELD_SORT,
     .about = "Natural key: hf-token, endpoint-key, …"},
    {.name = "reference",
     .type = FIELD_TEXT,
     .flags = FIELD_NULLABLE,
     .max = 300,
     .about = "Where the worker finds it: env:NAME or file:PATH. Either this or value."},
    {.name = "value",
     .type = FIELD_SECRET,
     .flags = FIELD_ABSENT,
     .max = 8192,
     .about = "The secret itself: sealed at rest, never answered."},
    {.name = "is_stored",
     .type = FIELD_BOOL,
     .sql = "($.ciphertext IS NOT NULL)",
     .flags = FIELD_GIVEN,
     .about = "Whether its value is kept here."},
    FIELDS_OF_LIFE,
};

static as_status seal_value(struct plane_call *call, const struct json_value *value, struct row_values *row)
{
    unsigned char *sealed = arena_alloc(&call->arena, value->len + SECRET_SEAL_EXTRA);
    as_status status = sealed ? secret_seal(&call->plane->key, "secret", value->text, value->len, sealed) : AS_E_NOMEM;
    if (status != AS_OK)
        return call_store_failed(call, status);
    status = row_values_set(row, "nonce", store_blob(sealed, NONCE_BYTES));
    if (status == AS_OK)
        status = row_values_set(row, "ciphertext",
                                store_blob(sealed + NONCE_BYTES, value->len + SECRET_SEAL_EXTRA - NONCE_BYTES));
    return status == AS_OK ? row_values_set(row, "reference", store_null()) : status;
}

static as_status prepare_secret(struct plane_call *call, int64_t id, struct row_values *row)
{
    const struct json_value *value = json_get(call->input, "value");
    const struct store_value *reference = row_values_get(row, "reference");
    const bool has_reference = reference && reference->type == STORE_TEXT;
    as_status status = AS_OK;
    if (value && has_reference)
        return problem_add(&call->problem, "/value", "conflict", "cannot be given together with reference");
    if (value)
        return seal_value(call, value, row);
    if (has_reference) {
        if (strncmp(reference->text, "env:", 4) != 0 && strncmp(reference->text, "file:", 5) != 0)
            return problem_add(&call->problem, "/reference", "spelling", "must begin with env: or file:");
        status = row_values_set(row, "ciphertext", store_null());
        return status == AS_OK ? row_values_set(row, "nonce", store_null()) : status;
    }
    return id && !reference ? AS_OK : problem_add(&call->problem, "/value", "required", "give value or reference");
}

static const struct resource_hooks SECRET_HOOKS = {.prepare = prepare_secret};

const struct resource resource_secrets = {
    .shape = {.name = "Secret", .about = "A token or key that jobs need, by name.", SHAPE_FIELDS(SECRET_FIELDS)},
    .path = "secrets",
    .singular = "secret",
    .table = "secrets",
    .key = {"secret_code"},
    .scope = RESOURCE_OWN,
    .read = RIGHT_READ,
    .create = RIGHT_ADMIN,
    .change = RIGHT_ADMIN,
    .sort = "secret_code",
    .hooks = &SECRET_HOOKS,
};

/* ---- audit log ---- */

static const struct field AUDIT_FIELDS[] = {
    {.name = "at",
     .type = FIELD_TIME,
     .column = "at_ns",
     .flags = FIELD_GIVEN | FIELD_SORT | FIELD_FILTER,
     .about = "When."},
    {.name = "actor",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .about = "Who: a user, a host, or system."},
    {.name = "token_code",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_NULLABLE,
     .about = "By which token; null for sessions."},
    {.name = "action",
     .type = FIELD_TEXT,
     .flags = FIELD_GIVEN | FIELD_FILTER,
     .about = "What: create, change, retire, login, override, …"},
    {.name = "object_type", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_FILTER, .about = "On what kind of thing."},
    {.name = "object_code", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_FILTER, .about = "Its natural key."},
    {.name = "remote_address", .type = FIELD_TEXT, .flags = FIELD_GIVEN | FIELD_NULLABLE, .about = "From where."},
};

const struct resource resource_audit_log = {
    .shape = {.name = "AuditEntry",
              .about = "An act of somebody; written with it, never changed.",
              SHAPE_FIELDS(AUDIT_FIELDS)},
    .path = "audit-log",
    .singular = "audit entry",
    .table = "audit_log",
    .scope = RESOURCE_OWN,
    .read = RIGHT_ADMIN,
    .is_permanent = true,
    .is_fixed = true,
    .sort = "-at",
};
