/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_AUTH_H
#define ASSAY_PLANE_AUTH_H

/*
 * Who asks: an API token ("Authorization: Bearer assay_…") or a session (a cookie given by the login). Both are looked
 * up by their SHA-256; a token's role never goes beyond its user's present one. Writing calls of sessions must come
 * from the server's own pages (Origin, else Sec-Fetch-Site).
 */

#include "plane/call.h"

#define AUTH_TOKEN_PREFIX    "assay_"
#define AUTH_TOKEN_BYTES     (sizeof AUTH_TOKEN_PREFIX - 1 + SECRET_TOKEN_BYTES)
#define AUTH_HINT_BYTES      11 /* the prefix, four characters and a NUL */
#define AUTH_SESSION_IDLE_NS (12 * 3600 * NS_PER_S)
#define AUTH_SESSION_LIFE_NS (7 * 86400 * NS_PER_S)
#define AUTH_FIRST_TENANT    "default"
#define AUTH_DIGEST_BYTES    32

/* Fills call->who, or leaves it unknown when nothing was sent. In a transaction. Refusals are told. */
as_status auth_identify(struct plane_call *call) AS_NODISCARD;
/* Whether `call->who` may take this right; 401 or 403 is told. */
as_status auth_require(struct plane_call *call, enum right right) AS_NODISCARD;
/* Writing by cookie: refuses requests that other sites made. */
as_status auth_check_origin(struct plane_call *call) AS_NODISCARD;
/* Notes that the credential was used, when that was noted long enough ago. Own transaction; failures are of no account.
 */
void auth_touch(struct plane_call *call);

/* Rights of a role; an admin of the first tenant is the operator. */
uint32_t auth_rights(enum role role, const char *tenant_code);
/* SHA-256 as bytes, in the call's arena as a value for a column; NULL value without memory. */
struct store_value auth_digest(struct arena *arena, const char *text);
/* A fresh token and its hint. */
as_status auth_new_token(char ret[AUTH_TOKEN_BYTES], char ret_hint[AUTH_HINT_BYTES]) AS_NODISCARD;
/* The name of the session's cookie. */
const char *auth_cookie_name(const struct plane_call *call);
/* Ends all sessions of a user but the present one when `keeps_own`. In the call's transaction. */
as_status auth_end_sessions(struct plane_call *call, int64_t user_id, bool keeps_own) AS_NODISCARD;

#endif
