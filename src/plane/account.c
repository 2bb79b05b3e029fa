/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of the account: login, logout, who am I, password, events. */
#include "plane/audit.h"
#include "plane/auth.h"
#include "plane/state.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static const struct field LOGIN_FIELDS[] = {
    {.name = "tenant_code", .type = FIELD_CODE, .initial = "\"default\"", .about = "Tenant of the user."},
    {.name = "user_name", .type = FIELD_LOGIN, .flags = FIELD_REQUIRED, .about = "The user."},
    {.name = "password",
     .type = FIELD_SECRET,
     .flags = FIELD_REQUIRED | FIELD_ABSENT,
     .max = 128,
     .about = "Their password."},
};
static const struct shape LOGIN = {.name = "Login", .about = "Who logs in.", SHAPE_FIELDS(LOGIN_FIELDS)};

static const char *const ROLES[] = {"viewer", "member", "admin", "agent", NULL};
static const struct field ME_FIELDS[] = {
    {.name = "tenant_code", .type = FIELD_CODE, .flags = FIELD_GIVEN, .about = "Tenant of the caller."},
    {.name = "user_name", .type = FIELD_LOGIN, .flags = FIELD_GIVEN, .about = "The caller."},
    {.name = "role", .type = FIELD_ENUM, .choices = ROLES, .flags = FIELD_GIVEN, .about = "What they may do."},
    {.name = "rights",
     .type = FIELD_LIST,
     .item = FIELD_CODE,
     .flags = FIELD_GIVEN,
     .about = "Of read, write, admin, operator, agent: after role and scopes."},
    {.name = "is_session", .type = FIELD_BOOL, .flags = FIELD_GIVEN, .about = "By cookie, not by token."},
};
static const struct shape ME = {.name = "Me", .about = "Who asks.", SHAPE_FIELDS(ME_FIELDS)};

static const struct field PASSWORD_FIELDS[] = {
    {.name = "old_password",
     .type = FIELD_SECRET,
     .flags = FIELD_REQUIRED | FIELD_ABSENT,
     .max = 128,
     .about = "The present one."},
    {.name = "new_password",
     .type = FIELD_SECRET,
     .flags = FIELD_REQUIRED | FIELD_ABSENT,
     .min = 8,
     .max = 128,
     .about = "The next one."},
};
static const struct shape PASSWORD = {
    .name = "PasswordChange", .about = "A change of one's own password.", SHAPE_FIELDS(PASSWORD_FIELDS)};

static as_status put_me(struct plane_call *call)
{
    static const struct {
        enum right right;
        const char *name;
    } RIGHTS[] = {{RIGHT_READ, "read"},
                  {RIGHT_WRITE, "write"},
                  {RIGHT_ADMIN, "admin"},
                  {RIGHT_OPERATOR, "operator"},
                  {RIGHT_AGENT, "agent"}};
    json_open_object(&call->json);
    json_member_string(&call->json, "tenant_code", call->who.tenant_code);
    json_member_string(&call->json, "user_name", call->who.user_name);
    json_member_string(&call->json, "role", role_name(call->who.role));
    json_key(&call->json, "rights");
    json_open_array(&call->json);
    for (size_t i = 0; i < sizeof RIGHTS / sizeof RIGHTS[0]; i++)
        if (call_has(call, RIGHTS[i].right))
            json_put_string(&call->json, RIGHTS[i].name);
    json_close_array(&call->json);
    json_member_bool(&call->json, "is_session", call->who.is_session);
    json_close_object(&call->json);
    return AS_OK;
}

static as_status get_me(struct plane_call *call)
{
    if (!call->who.is_known)
        return call_refuse(call, PROBLEM_UNAUTHENTICATED, "log in, or send a token as \"Authorization: Bearer TOKEN\"");
    return put_me(call);
}

/* ---- login ---- */

struct candidate {
    int64_t tenant_id, user_id;
    const char *tenant_code, *user_name, *role, *password_hash;
};

static as_status begin(struct plane_call *call, bool writes)
{
    struct as_error err = {0};
    as_status status =
        writes ? store_write(call->plane->store, &call->tx, &err) : store_read(call->plane->store, &call->tx, &err);
    if (status != AS_OK) {
        call->tx = NULL;
        problem_from_status(&call->problem, status, &err);
    }
    return status;
}

static as_status end(struct plane_call *call, as_status status)
{
    struct as_error err = {0};
    struct store_tx *tx = call->tx;
    call->tx = NULL;
    if (status != AS_OK) {
        store_rollback(tx);
        return status;
    }
    status = store_commit(tx, &err);
    if (status != AS_OK)
        problem_from_status(&call->problem, status, &err);
    return status;
}

static as_status find_user(struct plane_call *call, const char *tenant, const char *name, struct candidate *ret)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql.is_scoped = true; /* the tenant is named */
    sql_add(&sql,
            "SELECT u.tenant_id, u.id, t.tenant_code, u.user_name, u.role, u.password_hash FROM users u JOIN tenants t "
            "ON t.id = u.tenant_id WHERE u.retired_ns IS NULL AND t.retired_ns IS NULL AND u.is_disabled = ");
    sql_value(&sql, store_bool(false));
    sql_add(&sql, " AND t.tenant_code = ");
    sql_value(&sql, store_text(tenant));
    sql_add(&sql, " AND u.user_name = ");
    sql_value(&sql, store_text(name));
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK || !store_next(rows))
        return status != AS_OK ? status : rows_end(rows, call);
    *ret = (struct candidate){store_get_int(rows, 0),   store_get_int(rows, 1),   rows_copy(call, rows, 2),
                              rows_copy(call, rows, 3), rows_copy(call, rows, 4), rows_copy(call, rows, 5)};
    return AS_OK;
}

static as_status add_session(struct plane_call *call, const char *token)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    const struct store_value values[] = {
        auth_digest(&call->arena, token), store_int(call->now_ns),
        store_int(call->now_ns),          store_int(call->now_ns + AUTH_SESSION_LIFE_NS),
        store_text(call->address),
    };
    sql_begin(&sql, call);
    sql_add(&sql, "INSERT INTO sessions (tenant_id, user_id, session_hash, created_ns, last_seen_ns, expires_ns, "
                  "remote_address) VALUES (");
    sql_tenant(&sql);
    sql_add(&sql, ", ");
    sql_of_row(&sql, call->who.user_id);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        sql_add(&sql, ", ");
        sql_value(&sql, values[i]);
    }
    sql_add(&sql, ")");
    return sql_exec(&sql, call, NULL);
}

static as_status note_login(struct plane_call *call)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE users SET last_login_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, call->who.user_id);
    as_status status = sql_exec(&sql, call, NULL);
    return status == AS_OK ? audit_add(call, "login", "user", call->who.user_name) : status;
}

static void set_cookie(struct plane_call *call, const char *value, int64_t max_age_s)
{
    call_add_field(call, "Set-Cookie",
                   call_printf(call, "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s", auth_cookie_name(call),
                               value, (long long)max_age_s, call->is_secure ? "; Secure" : ""));
}

/* Login by a form of another site would give its user our session. */
static as_status check_own_page(struct plane_call *call)
{
    const bool was_session = call->who.is_session;
    as_status status;
    if (!call->origin[0])
        return AS_OK;
    call->who.is_session = true;
    status = auth_check_origin(call);
    call->who.is_session = was_session;
    return status;
}

static as_status refuse_login(struct plane_call *call, const char *account)
{
    guess_failed(call->plane->guesses, account, call->address, mono_now());
    return call_refuse(call, PROBLEM_UNAUTHENTICATED, "user name or password is wrong");
}

static as_status open_session(struct plane_call *call, const struct candidate *user)
{
    char token[SECRET_TOKEN_BYTES];
    enum role role;
    as_status status = secret_token(token);
    if (status != AS_OK || !role_from(user->role, &role))
        return call_store_failed(call, status == AS_OK ? AS_E_INTERNAL : status);
    call->who = (struct principal){.is_known = true,
                                   .is_session = true,
                                   .tenant_id = user->tenant_id,
                                   .user_id = user->user_id,
                                   .last_used_ns = call->now_ns,
                                   .role = role,
                                   .rights = auth_rights(role, user->tenant_code)};
    (void)snprintf(call->who.tenant_code, sizeof call->who.tenant_code, "%s", user->tenant_code);
    (void)snprintf(call->who.user_name, sizeof call->who.user_name, "%s", user->user_name);
    status = begin(call, true);
    if (status != AS_OK)
        return status;
    status = add_session(call, token);
    if (status == AS_OK)
        status = note_login(call);
    status = end(call, status);
    if (status != AS_OK)
        return status;
    set_cookie(call, token, AUTH_SESSION_LIFE_NS / NS_PER_S);
    return put_me(call);
}

static as_status login(struct plane_call *call)
{
    const char *tenant = AUTH_FIRST_TENANT, *name = "", *password = "";
    struct candidate user = {0};
    (void)json_string(json_get(call->input, "tenant_code"), &tenant);
    (void)json_string(json_get(call->input, "user_name"), &name);
    (void)json_string(json_get(call->input, "password"), &password);
    const char *account = call_printf(call, "login %s/%s", tenant, name);
    as_status status = account ? check_own_page(call) : AS_E_NOMEM;
    if (status != AS_OK)
        return status;
    const int wait_s = guess_wait_s(call->plane->guesses, account, call->address, mono_now());
    if (wait_s > 0) {
        call->problem.retry_after_s = wait_s;
        return call_refuse(call, PROBLEM_TOO_MANY, "too many wrong tries for this user from this address");
    }
    status = begin(call, false);
    if (status == AS_OK)
        status = end(call, find_user(call, tenant, name, &user));
    if (status != AS_OK)
        return status;
    if (!secret_password_fits(password, user.password_hash))
        return refuse_login(call, account);
    guess_succeeded(call->plane->guesses, account, call->address);
    return open_session(call, &user);
}

static as_status logout(struct plane_call *call)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = begin(call, true);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE sessions SET ended_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, call->who.is_session ? call->who.credential_id : 0);
    status = sql_exec(&sql, call, NULL);
    if (status == AS_OK)
        status = audit_add(call, "logout", "user", call->who.user_name);
    status = end(call, status);
    if (status != AS_OK)
        return status;
    if (call->who.is_session)
        events_end_user(call->plane->events, call->who.user_id);
    set_cookie(call, "", 0);
    return AS_OK;
}

static as_status store_password(struct plane_call *call, const char *hash)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    as_status status = begin(call, true);
    if (status != AS_OK)
        return status;
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE users SET row_version = row_version + 1, password_hash = ");
    sql_value(&sql, store_text(hash));
    sql_add(&sql, ", password_changed_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " WHERE id = ");
    sql_of_row(&sql, call->who.user_id);
    status = sql_exec(&sql, call, NULL);
    if (status == AS_OK)
        status = auth_end_sessions(call, call->who.user_id, true);
    if (status == AS_OK)
        status = audit_add(call, "password", "user", call->who.user_name);
    return end(call, status);
}

static as_status change_password(struct plane_call *call)
{
    char hash[SECRET_PASSWORD_BYTES];
    const char *old = "", *next = "",
               *account = call_printf(call, "login %s/%s", call->who.tenant_code, call->who.user_name);
    struct candidate user = {0};
    (void)json_string(json_get(call->input, "old_password"), &old);
    (void)json_string(json_get(call->input, "new_password"), &next);
    const char *reason = secret_password_refusal(next, strlen(next), call->who.user_name);
    if (reason)
        return problem_add(&call->problem, "/new_password", "password", "%s", reason);
    const int wait_s = account ? guess_wait_s(call->plane->guesses, account, call->address, mono_now()) : 1;
    if (wait_s > 0) {
        call->problem.retry_after_s = wait_s;
        return call_refuse(call, PROBLEM_TOO_MANY, "too many wrong tries for this user from this address");
    }
    as_status status = begin(call, false);
    if (status == AS_OK)
        status = end(call, find_user(call, call->who.tenant_code, call->who.user_name, &user));
    if (status != AS_OK)
        return status;
    if (!secret_password_fits(old, user.password_hash)) {
        guess_failed(call->plane->guesses, account, call->address, mono_now());
        return problem_add(&call->problem, "/old_password", "password", "is wrong");
    }
    status = secret_password_hash(next, hash);
    return status == AS_OK ? store_password(call, hash) : call_store_failed(call, status);
}

static const struct route ROUTES[] = {
    {.method = HTTP_POST,
     .kind = ROUTE_OWN,
     .path = "/api/v1/login",
     .id = "login",
     .tag = "account",
     .hashes = true,
     .input = &LOGIN,
     .output = &ME,
     .summary = "Log in with a password; the answer sets the session's cookie",
     .handle = login},
    {.method = HTTP_POST,
     .kind = ROUTE_OWN,
     .path = "/api/v1/logout",
     .id = "logout",
     .tag = "account",
     .status = 204,
     .right = RIGHT_READ,
     .summary = "End the session",
     .handle = logout},
    {.method = HTTP_GET,
     .kind = ROUTE_OWN,
     .path = "/api/v1/me",
     .id = "get_me",
     .tag = "account",
     .output = &ME,
     .summary = "Say who asks and what they may do",
     .handle = get_me},
    {.method = HTTP_POST,
     .kind = ROUTE_OWN,
     .path = "/api/v1/me/password",
     .id = "change_my_password",
     .tag = "account",
     .hashes = true,
     .right = RIGHT_READ,
     .status = 204,
     .input = &PASSWORD,
     .summary = "Change one's own password; other sessions end",
     .handle = change_password},
    {.method = HTTP_GET,
     .kind = ROUTE_EVENTS,
     .path = "/api/v1/events",
     .id = "listen",
     .tag = "events",
     .right = RIGHT_READ,
     .media = "text/event-stream",
     .summary = "Listen to what changes, as server-sent events; Last-Event-ID resumes"},
};

const struct route_list routes_account = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
