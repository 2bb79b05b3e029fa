/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_ROUTE_H
#define ASSAY_PLANE_ROUTE_H

/*
 * The routes: one table, made once of the resources and of what is listed by hand. Dispatching, rights, checks of input
 * and the OpenAPI document all read it.
 */

#include "plane/resource.h"

enum route_kind {
    ROUTE_READ,   /* handler in a read transaction */
    ROUTE_WRITE,  /* handler in a transaction that may write; repeats with one Idempotency-Key give the first answer */
    ROUTE_OWN,    /* the handler opens its own transactions (call->tx is NULL) */
    ROUTE_EVENTS, /* a stream of events */
    ROUTE_FIXED   /* no store, no rights: answered by the loop itself */
};

struct route_param {
    const char *name;  /* of the query */
    const char *about; /* NULL: by the resource's field of that name */
};

struct route {
    enum http_method method;
    enum route_kind kind;
    enum right right;
    const char *path;    /* "/api/v1/runs/{run_code}/cancel"; members in braces */
    const char *id;      /* operationId: "cancel_run" */
    const char *summary; /* one sentence without full stop */
    const char *tag;
    const struct resource *resource; /* of derived routes, or whose address the path begins with */
    const struct shape *input;       /* NULL = no body */
    enum shape_mode input_mode;
    const struct shape *output; /* NULL = none, or another type */
    bool is_list;               /* the answer is a page of `output` */
    bool hashes;                /* runs in the small pool of those that hash passwords */
    int status;                 /* of success; 0 = 200 */
    bool may_be_empty;          /* 204 is an answer, too */
    const char *media;          /* of the answer; NULL = application/json */
    size_t body_bytes_max;      /* 0 = 1 MiB */
    const char *input_media;    /* the body is no JSON but of this type, and taken to a file (plane/upload.h) */
    const struct route_param *params;
    size_t param_count;
    /* Of ROUTE_WRITE, NULL = none: what takes long, in a read transaction before the one that writes. */
    as_status (*prepare)(struct plane_call *call);
    as_status (*handle)(struct plane_call *call);
};

struct route_table {
    const struct route *routes;
    size_t count;
};

/* All routes, made on the first call and kept; any thread after that. NULL without memory. */
const struct route_table *route_table(void);

enum route_match { ROUTE_NONE, ROUTE_OTHER_METHOD, ROUTE_FOUND };
/*
 * Finds the route of a path (without query, still percent-encoded); its parameters are given as ranges of the path. For
 * ROUTE_OTHER_METHOD *ret_allowed gets the methods there are, "GET, POST". HEAD finds what GET finds.
 */
struct route_found {
    const struct route *route;
    struct http_text params[CALL_PATH_PARAMS_MAX];
    uint32_t param_count;
    char allowed[64];
};
enum route_match route_find(enum http_method method, struct http_text path, struct route_found *ret);

const char *route_method_name(enum http_method method);

/* Routes listed by hand, a file a subject: `count` of them. */
struct route_list {
    const struct route *routes;
    size_t count;
};
extern const struct route_list routes_account, routes_runs, routes_catalogue, routes_results, routes_compare, routes_report,
    routes_documents, routes_prompts, routes_agent, routes_agent_lease, routes_lease;

#endif
