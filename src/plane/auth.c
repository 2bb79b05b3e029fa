/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/auth.h"

#include "base/clock.h"
#include "base/log.h"
#include "plane/state.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BEARER          "bearer "
#define TOKEN_ACCOUNT   "token"
#define TOUCH_TOKEN_NS  (300 * NS_PER_S)
#define TOUCH_COOKIE_NS (60 * NS_PER_S)

struct store_value auth_digest(struct arena *arena, const char *text)
{
    unsigned char *digest = arena_alloc(arena, AUTH_DIGEST_BYTES);
    unsigned len = 0;
    if (!digest || EVP_Digest(text, strlen(text), digest, &len, EVP_sha256(), NULL) != 1)
        return store_null();
    return store_blob(digest, len);
}

as_status auth_new_token(char ret[AUTH_TOKEN_BYTES], char ret_hint[AUTH_HINT_BYTES])
{
    char secret[SECRET_TOKEN_BYTES];
    as_status status = secret_token(secret);
    if (status != AS_OK)
        return status;
    (void)snprintf(ret, AUTH_TOKEN_BYTES, "%s%s", AUTH_TOKEN_PREFIX, secret);
    (void)snprintf(ret_hint, AUTH_HINT_BYTES, "%s", ret);
    return AS_OK;
}

uint32_t auth_rights(enum role role, const char *tenant_code)
{
    switch (role) {
    case ROLE_AGENT:
        return RIGHT_AGENT;
    case ROLE_VIEWER:
        return RIGHT_READ;
    case ROLE_MEMBER:
        return RIGHT_READ | RIGHT_WRITE;
    case ROLE_ADMIN:
        return RIGHT_READ | RIGHT_WRITE | RIGHT_ADMIN |
               (strcmp(tenant_code, AUTH_FIRST_TENANT) == 0 ? (uint32_t)RIGHT_OPERATOR : 0);
    default:
        return 0;
    }
}

const char *auth_cookie_name(const struct plane_call *call)
{
    return call->is_secure ? "__Host-assay" : "assay-session";
}

/* The value of the session's cookie, NULL when there is none. */
static const char *cookie_value(struct plane_call *call)
{
    const char *name = auth_cookie_name(call), *at = call->cookie;
    const size_t len = strlen(name);
    while (*at) {
        size_t part;
        at += strspn(at, " ;");
        part = strcspn(at, ";");
        if (part > len && strncmp(at, name, len) == 0 && at[len] == '=')
            return arena_strndup(&call->arena, at + len + 1, part - len - 1);
        at += part;
    }
    return NULL;
}

/* The lower of a token's role and its user's; false when they have nothing in common. */
static bool join_roles(enum role token, enum role user, enum role *ret)
{
    if (token == ROLE_AGENT || user == ROLE_AGENT) {
        *ret = ROLE_AGENT;
        return token == user || user == ROLE_ADMIN;
    }
    *ret = token < user ? token : user;
    return true;
}

static uint32_t rights_of_scopes(struct plane_call *call, const char *scopes)
{
    const struct json_value *list = NULL;
    uint32_t rights = 0;
    if (json_parse(scopes, strlen(scopes), NULL, &call->arena, &list, NULL) != AS_OK || list->type != JSON_ARRAY)
        return 0;
    if (!list->first)
        return UINT32_MAX;
    for (const struct json_value *item = list->first; item; item = item->next) {
        const char *name = "";
        (void)json_string(item, &name);
        if (strcmp(name, "read") == 0)
            rights |= RIGHT_READ;
        else if (strcmp(name, "write") == 0)
            rights |= RIGHT_READ | RIGHT_WRITE;
        else if (strcmp(name, "admin") == 0)
            rights |= RIGHT_READ | RIGHT_WRITE | RIGHT_ADMIN | RIGHT_OPERATOR;
        else if (strcmp(name, "agent") == 0)
            rights |= RIGHT_AGENT;
    }
    return rights;
}

/* Both look-ups give: 0 credential id, 1 tenant, 2 its code, 3 user, 4 its name, 5 its role, 6 last use, then their
 * own. */
#define IDENTITY "c.id, c.tenant_id, t.tenant_code, u.id, u.user_name, u.role, "
#define FROM_USER                                                                                                      \
    " c JOIN users u ON u.id = c.user_id JOIN tenants t ON t.id = c.tenant_id"                                         \
    " WHERE u.retired_ns IS NULL AND t.retired_ns IS NULL AND u.is_disabled = "

/* Whether the credential's last use was noted long ago is kept for auth_touch. */
static as_status take_identity(struct plane_call *call, const struct store_rows *rows, enum role role)
{
    struct principal *who = &call->who;
    who->credential_id = store_get_int(rows, 0);
    who->tenant_id = store_get_int(rows, 1);
    (void)snprintf(who->tenant_code, sizeof who->tenant_code, "%s", store_get_text(rows, 2, NULL));
    who->user_id = store_get_int(rows, 3);
    (void)snprintf(who->user_name, sizeof who->user_name, "%s", store_get_text(rows, 4, NULL));
    who->role = role;
    who->rights = auth_rights(role, who->tenant_code);
    who->last_used_ns = store_get_int(rows, 6);
    who->is_known = true;
    return AS_OK;
}

static as_status refuse_token(struct plane_call *call)
{
    const struct mono now = mono_now();
    const int wait_s = guess_wait_s(call->plane->guesses, TOKEN_ACCOUNT, call->address, now);
    if (wait_s > 0) {
        call->problem.retry_after_s = wait_s;
        return call_refuse(call, PROBLEM_TOO_MANY, "too many wrong tokens from this address");
    }
    guess_failed(call->plane->guesses, TOKEN_ACCOUNT, call->address, now);
    return call_refuse(call, PROBLEM_UNAUTHENTICATED, "the token is wrong, expired or revoked");
}

/* An attempt's token dies with it. Who asks is the agent of the attempt's server. */
static as_status identify_attempt(struct plane_call *call, const char *token)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    struct principal *who = &call->who;
    sql_begin(&sql, call);
    sql.is_scoped = true; /* the token says which tenant */
    sql_add(&sql,
            "SELECT a.id, j.tenant_id, t.tenant_code, s.hostname FROM attempt_tokens c JOIN job_attempts a ON a.id = "
            "c.job_attempt_id JOIN jobs j ON j.id = a.job_id JOIN tenants t ON t.id = j.tenant_id JOIN servers s ON "
            "s.id = a.server_id WHERE t.retired_ns IS NULL AND c.revoked_ns IS NULL AND c.token_hash = ");
    sql_value(&sql, auth_digest(&call->arena, token));
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK)
        return status;
    if (!store_next(rows)) {
        status = rows_end(rows, call);
        return status == AS_OK ? refuse_token(call) : status;
    }
    *who = (struct principal){.is_known = true, .role = ROLE_AGENT, .rights = RIGHT_JOB, .last_used_ns = call->now_ns};
    who->attempt_id = store_get_int(rows, 0);
    who->tenant_id = store_get_int(rows, 1);
    (void)snprintf(who->tenant_code, sizeof who->tenant_code, "%s", store_get_text(rows, 2, NULL));
    (void)snprintf(who->user_name, sizeof who->user_name, "%s", store_get_text(rows, 3, NULL));
    return AS_OK;
}

static as_status identify_token(struct plane_call *call, const char *token)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    enum role token_role, user_role, role;
    sql_begin(&sql, call);
    sql.is_scoped = true; /* the token says which tenant */
    sql_add(&sql, "SELECT " IDENTITY "c.last_used_ns, c.role, c.scopes FROM api_tokens" FROM_USER);
    sql_value(&sql, store_bool(false));
    sql_add(&sql, " AND c.revoked_ns IS NULL AND c.retired_ns IS NULL AND (c.expires_ns IS NULL OR c.expires_ns > ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, ") AND c.token_hash = ");
    sql_value(&sql, auth_digest(&call->arena, token));
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK)
        return status;
    if (!store_next(rows)) {
        status = rows_end(rows, call);
        return status == AS_OK ? identify_attempt(call, token) : status;
    }
    if (!role_from(store_get_text(rows, 7, NULL), &token_role) ||
        !role_from(store_get_text(rows, 5, NULL), &user_role) || !join_roles(token_role, user_role, &role))
        return call_refuse(call, PROBLEM_UNAUTHENTICATED, "the token has no role any more");
    status = take_identity(call, rows, role);
    call->who.rights &= rights_of_scopes(call, store_get_text(rows, 8, NULL));
    return status;
}

static as_status identify_session(struct plane_call *call, const char *cookie)
{
    struct store_rows *rows AS_AUTO_ROWS = NULL;
    struct sql sql AS_AUTO_SQL = {.count = 0};
    enum role role;
    sql_begin(&sql, call);
    sql.is_scoped = true; /* the session says which tenant */
    sql_add(&sql, "SELECT " IDENTITY "c.last_seen_ns FROM sessions" FROM_USER);
    sql_value(&sql, store_bool(false));
    sql_add(&sql, " AND c.ended_ns IS NULL AND c.expires_ns > ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " AND c.last_seen_ns > ");
    sql_value(&sql, store_int(call->now_ns - AUTH_SESSION_IDLE_NS));
    sql_add(&sql, " AND c.session_hash = ");
    sql_value(&sql, auth_digest(&call->arena, cookie));
    as_status status = sql_query(&sql, call, &rows);
    if (status != AS_OK)
        return status;
    if (!store_next(rows))
        return rows_end(rows, call); /* an old cookie is no cookie */
    if (!role_from(store_get_text(rows, 5, NULL), &role))
        return AS_OK;
    call->who.is_session = true;
    return take_identity(call, rows, role);
}

as_status auth_identify(struct plane_call *call)
{
    const char *cookie;
    if (call->authorization[0]) {
        if (strncasecmp(call->authorization, BEARER, strlen(BEARER)) != 0)
            return call_refuse(call, PROBLEM_UNAUTHENTICATED, "Authorization must be \"Bearer TOKEN\"");
        return identify_token(call, call->authorization + strlen(BEARER));
    }
    cookie = cookie_value(call);
    return cookie && *cookie ? identify_session(call, cookie) : AS_OK;
}

as_status auth_require(struct plane_call *call, enum right right)
{
    if (right == RIGHT_NONE)
        return AS_OK;
    if (!call->who.is_known)
        return call_refuse(call, PROBLEM_UNAUTHENTICATED, "log in, or send a token as \"Authorization: Bearer TOKEN\"");
    if (!call_has(call, right))
        return call_refuse(call, PROBLEM_FORBIDDEN, "the role %s, or the token's scopes, do not allow this",
                           role_name(call->who.role));
    return AS_OK;
}

as_status auth_check_origin(struct plane_call *call)
{
    const char *scheme = call->is_secure ? "https://" : "http://";
    const size_t len = strlen(scheme);
    if (!call->who.is_session)
        return AS_OK;
    if (call->origin[0]) {
        if (strncmp(call->origin, scheme, len) == 0 && strcasecmp(call->origin + len, call->host) == 0)
            return AS_OK;
    } else if (strcmp(call->fetch_site, "same-origin") == 0) {
        return AS_OK;
    }
    return call_refuse(call, PROBLEM_ORIGIN, "a session writes only from this server's own pages (Origin)");
}

void auth_touch(struct plane_call *call)
{
    const int64_t age_ns = call->now_ns - call->who.last_used_ns;
    struct store_tx *tx;
    if (!call->who.is_known || call->who.attempt_id ||
        age_ns < (call->who.is_session ? TOUCH_COOKIE_NS : TOUCH_TOKEN_NS))
        return;
    if (store_write(call->plane->store, &tx, NULL) != AS_OK)
        return;
    const struct store_value values[] = {store_int(call->now_ns), store_int(call->who.credential_id)};
    as_status status =
        store_exec(tx,
                   call->who.is_session ? "UPDATE sessions SET last_seen_ns = ?1 WHERE id = ?2 AND last_seen_ns < ?1"
                                        : "UPDATE api_tokens SET last_used_ns = ?1 WHERE id = ?2",
                   values, 2, NULL);
    if (status == AS_OK)
        status = store_commit(tx, NULL);
    else
        store_rollback(tx);
    if (status != AS_OK)
        log_debug("the use of a credential was not noted");
}

as_status auth_end_sessions(struct plane_call *call, int64_t user_id, bool keeps_own)
{
    struct sql sql AS_AUTO_SQL = {.count = 0};
    sql_begin(&sql, call);
    sql_add(&sql, "UPDATE sessions SET ended_ns = ");
    sql_value(&sql, store_int(call->now_ns));
    sql_add(&sql, " WHERE ended_ns IS NULL AND user_id = ");
    sql_of_row(&sql, user_id);
    if (keeps_own && call->who.is_session) {
        sql_add(&sql, " AND id <> ");
        sql_of_row(&sql, call->who.credential_id);
    }
    return sql_exec(&sql, call, NULL);
}
