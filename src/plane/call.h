/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_CALL_H
#define ASSAY_PLANE_CALL_H

/*
 * One call of the API: what was asked, who asks, and the answer being made. It is filled in a loop's thread, carried to
 * a worker thread that runs the route's handler inside a transaction, and answered by the loop again; one thread at a
 * time has it. All memory of a call is in its arena.
 *
 * Tenants. Every statement is a struct sql, which does not run unless it was tied to the caller's tenant: by sql_own or
 * sql_visible, or (sql_of_row) to a row that such a statement gave. What belongs to another tenant is not found.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"
#include "http/server.h"
#include "plane/problem.h"
#include "plane/secret.h"
#include "plane/work.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct plane;
struct route;
struct plane_call;
struct upload;

/* What a caller may do. A route needs one of them. */
enum right {
    RIGHT_NONE = 0,     /* open to everybody */
    RIGHT_READ = 1,     /* viewer, member, admin */
    RIGHT_WRITE = 2,    /* member, admin */
    RIGHT_ADMIN = 4,    /* admin of the tenant */
    RIGHT_OPERATOR = 8, /* admin of the first tenant: tenants, and what all of them share */
    RIGHT_AGENT = 16,   /* agents only */
    RIGHT_JOB = 32      /* an attempt's own token */
};

enum role { ROLE_VIEWER, ROLE_MEMBER, ROLE_ADMIN, ROLE_AGENT, ROLE_COUNT };
const char *role_name(enum role role);
/* False when there is none of that name. */
bool role_from(const char *name, enum role *ret);

struct principal {
    bool is_known;
    bool is_session; /* by cookie, not by token */
    int64_t tenant_id, user_id;
    int64_t credential_id; /* of the token or session */
    int64_t last_used_ns;  /* of it, as noted */
    int64_t attempt_id;    /* that a token is for; 0 = none */
    enum role role;
    uint32_t rights;
    char tenant_code[101];
    char user_name[129];
};

/* Who gets a loop's callbacks of an exchange: x->user points to one, the first member of something larger. */
struct exchange_user {
    void (*writable)(struct http_exchange *x);
    void (*abort)(struct http_exchange *x);
    void (*closed)(struct http_exchange *x); /* the last one */
};

/*
 * An answer of any length, made and sent piece by piece (plane/pieces.h): the handler made the first one and sets `next`, which
 * is called, each time in a read transaction of its own, when what was made is with the kernel.
 */
struct call_pieces {
    const struct exchange_user *user;
    as_status (*next)(struct plane_call *call); /* adds to the empty call->out; NULL after the last piece */
    void (*done)(struct plane_call *call);      /* frees `state`; with the call */
    void *state;
    struct http_timer retry;
    bool is_ending; /* all pieces are sent */
};

#define CALL_PATH_PARAMS_MAX 4
#define CALL_FIELDS_MAX      6
#define CALL_EVENTS_MAX      4

/* A change that those who listen hear of after the commit. */
struct call_event {
    const char *topic; /* "run" */
    const char *name;  /* "run_started" */
    const char *code;  /* natural key of the thing */
    const char *data;  /* JSON without internal keys */
    int64_t sequence;  /* set when it is written */
};

struct plane_call {
    struct work_item work;
    struct http_message message;
    struct http_exchange *exchange; /* the loop's; held while a worker has the call */
    struct plane *plane;
    const struct route *route;
    struct arena arena;

    /* What was asked; all in the arena, "" where not given. */
    const char *path;                         /* as sent, without query */
    const char *params[CALL_PATH_PARAMS_MAX]; /* decoded, in the order of the template */
    const char *query;
    const char *body;
    size_t body_len;
    const struct json_value *input; /* the body's tree, NULL when the route takes none */
    struct upload *upload;          /* a body that lies in a file (plane/upload.h), freed with the call; NULL = none */
    const char *upload_digest;      /* SHA-256 of it, set by the route's `prepare` */
    const char *authorization, *cookie, *origin, *host, *fetch_site, *if_match, *idempotency_key, *last_event_id;
    const char *content_kind, *accept; /* Content-Type and Accept, as sent */
    const char *allowed;               /* for 405: the methods there are */
    const char *address;               /* of the caller, without port */
    bool is_secure;                    /* came by TLS, here or at the proxy */

    struct principal who;
    int64_t shared_tenant_id;
    int64_t now_ns; /* wall time when the handler began */
    struct mono begun;   /* when the call came */
    bool is_waiting;     /* set by `prepare`: looks again in a while */
    struct http_timer again;
    struct store_tx *tx;

    /* The answer. */
    int status; /* 200 unless set */
    const char *content_type;
    struct strbuf out;
    struct json_writer json; /* writes to `out` */
    struct http_field fields[CALL_FIELDS_MAX];
    uint32_t field_count;
    struct problem problem;
    struct call_event events[CALL_EVENTS_MAX];
    uint32_t event_count;
    bool holds_events;     /* the hub's order is locked by this call */
    int64_t last_sequence; /* of a stream: the last event it has */
    int64_t ended_user_id; /* sessions and streams of this user end with the commit; 0 = none */
    bool is_json;          /* the body was sent as application/json */
    bool shows_secret;     /* the answer holds what is shown once: */
    const char *secret;
    const char *password_hash; /* of the password in the input, made before the transaction */
    struct call_pieces pieces; /* of an answer that is longer than what is held at once */
};

/* A refusal of this call: problem_set on it. */
#define call_refuse(call, kind, ...) problem_set(&(call)->problem, (kind), __VA_ARGS__)
/* The status that stands for a failed statement of the call's transaction, told in its problem. */
as_status call_store_failed(struct plane_call *call, as_status status);
/* Adds a field to the answer; `name` is static, the value lives in the arena. */
void call_add_field(struct plane_call *call, const char *name, const char *value);
/* An event for those who listen; its texts live in the arena or are static. */
as_status call_add_event(struct plane_call *call, const struct call_event *event) AS_NODISCARD;
bool call_has(const struct plane_call *call, enum right right);
/* A copy in the arena; without memory the problem is set and NULL returned. */
char *call_printf(struct plane_call *call, const char *fmt, ...) AS_PRINTF(2, 3);

/* ---- statements ---- */

#define SQL_PARAMS_MAX 160

/* A statement being made. */
struct sql {
    struct strbuf text;
    const struct plane_call *call;
    struct store_value params[SQL_PARAMS_MAX];
    uint32_t count;
    uint32_t own_param, shared_param; /* number of the parameter that holds this tenant, 0 = none yet */
    bool is_full;                     /* more parameters than there is room for */
    bool is_scoped;
};

#define AS_AUTO_SQL __attribute__((cleanup(sql_done)))
void sql_begin(struct sql *sql, const struct plane_call *call);
void sql_done(struct sql *sql);
void sql_add(struct sql *sql, const char *fmt, ...) AS_PRINTF(2, 3);
/* Adds a value that the text names as ?N more than once; returns N. */
uint32_t sql_param(struct sql *sql, struct store_value value);
/* Adds "?N" and its value. */
void sql_value(struct sql *sql, struct store_value value);
/* Adds the condition that a row is the caller's tenant's: "alias.tenant_id = ?N". */
void sql_own(struct sql *sql, const char *alias);
/* The same, or of the shared catalogue. */
void sql_visible(struct sql *sql, const char *alias);
/* Adds "?N" for the id of a row that a scoped statement gave. */
void sql_of_row(struct sql *sql, int64_t id);
/* Adds "?N", the caller's tenant, for a row to be made. */
void sql_tenant(struct sql *sql);
/*
 * What LIMIT a statement for so many rows says, as a number in its text: the next of a few steps, so that there are few texts and
 * PostgreSQL, which plans a text once, knows how many rows are wanted. The caller stops at its own limit.
 */
int64_t sql_limit_step(int64_t rows);
/* Run it in the call's transaction; a failure is told in the call's problem. */
as_status sql_query(struct sql *sql, struct plane_call *call, struct store_rows **ret) AS_NODISCARD;
as_status sql_exec(struct sql *sql, struct plane_call *call, int64_t *ret_changed) AS_NODISCARD;
/* The first column of the first row; AS_E_NOTFOUND (no problem set) when there is none. */
as_status sql_one_int(struct sql *sql, struct plane_call *call, int64_t *ret) AS_NODISCARD;

#define AS_AUTO_ROWS __attribute__((cleanup(rows_done)))
void rows_done(struct store_rows **rows);
/* After the last row: a failure is told in the call's problem. */
as_status rows_end(const struct store_rows *rows, struct plane_call *call) AS_NODISCARD;

/* Text of a column, copied into the arena; NULL for NULL. */
const char *rows_copy(struct plane_call *call, const struct store_rows *rows, uint32_t column);

#endif
