/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_STATE_H
#define ASSAY_PLANE_STATE_H

/* What the files of this module share of a running control plane. */

#include "plane/events.h"
#include "plane/guess.h"
#include "plane/keeper.h"
#include "plane/plane.h"
#include "plane/route.h"
#include "plane/watch.h"

#include <stdatomic.h>

struct plane {
    const struct plane_settings *settings;
    struct store *store;
    struct secret_key key;
    int64_t shared_tenant_id;
    struct http_tls *tls;
    struct http_server *server;
    struct work_pool *workers; /* all calls */
    struct work_pool *hashers; /* those that hash passwords: two at once */
    struct guess *guesses;
    struct event_hub *events;
    struct watch *servers_heard; /* agents, by the id of their server */
    struct watch *attempts_heard;
    struct keeper *keeper;
    atomic_bool is_ending; /* who waits gets an answer */
    _Atomic uint32_t uploads; /* bodies being taken to files (plane/upload.h) */
    char url[320];
};

/* Parts of plane_open that work without serving, too. */
bool plane_is_postgresql(const char *database);
as_status plane_open_store(const struct plane_settings *settings, bool creates, struct store **ret,
                           struct as_error *err) AS_NODISCARD;
as_status plane_open_key(const struct plane_settings *settings, struct secret_key *ret,
                         struct as_error *err) AS_NODISCARD;
/* Fields that every answer has; the most that plane_fields adds to the call's own. */
#define PLANE_HEADERS 10
uint32_t plane_fields(const struct plane_call *call, struct http_field ret[CALL_FIELDS_MAX + PLANE_HEADERS]);
/* Makes the call's answer of its problem. */
void plane_put_problem(struct plane_call *call);
void plane_call_free(struct plane_call *call);
/* Runs a call in a worker thread: who, may they, the handler, the commit. The answer is in the call. */
void dispatch(struct plane_call *call);
/* The next piece of its answer, in a worker thread; a failure is in its problem. */
void dispatch_piece(struct plane_call *call);

#endif
