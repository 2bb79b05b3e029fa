/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_EVENTS_H
#define ASSAY_PLANE_EVENTS_H

/*
 * Server-sent events of GET /api/v1/events. Events are rows first (written by events_store in the transaction of the
 * change they tell), then, after its commit, given to the hub, which keeps the latest in memory and wakes the loops. A
 * listener gets what it missed since Last-Event-ID from the store, then what the hub has, each event once and in order;
 * one that is too slow is closed and comes again. Comment lines keep idle streams alive.
 */

#include "plane/call.h"

#define EVENTS_COMMENT_NS (15 * NS_PER_S)
#define EVENTS_LISTENERS  1024

struct event_hub;

as_status event_hub_new(struct plane *plane, struct event_hub **ret) AS_NODISCARD;
void event_hub_free(struct event_hub *hub);
/* Tells the hub that a loop runs, or is about to end. In the loop's thread. */
void event_hub_loop(struct event_hub *hub, struct http_loop *loop, bool begins);

/* Writes the call's events as rows; the hub stays locked until events_done, so that sequences are those of the commits.
 */
as_status events_store(struct plane_call *call) AS_NODISCARD;
/* After the commit (or its failure): gives them to the listeners. */
void events_done(struct plane_call *call, bool is_committed);

/* Worker: reads what a listener missed into the call's answer; loop: begins the stream. */
as_status events_backlog(struct plane_call *call) AS_NODISCARD;
/* In the loop's thread: the call becomes a listener, which owns it. */
void events_begin(struct plane_call *take_call);
/* Ends the streams of a credential (0 = of any of the user's) whose rights have changed. Any thread. */
void events_end_user(struct event_hub *hub, int64_t user_id);

#endif
