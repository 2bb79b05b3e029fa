/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_AGENT_H
#define ASSAY_PLANE_AGENT_H

/*
 * Calls of agents, the programs that do jobs on servers. Each call holds the protocol it speaks and the server it
 * speaks for; this version takes its own protocol and the two before it, and tells others what to do (426). A token
 * that was made for one server speaks for no other.
 */

#include "plane/call.h"
#include "plane/shape.h"

#define AGENT_PROTOCOL        1 /* ours */
#define AGENT_PROTOCOL_OLDEST 1 /* the oldest that is understood: two before ours, once there are such */
#define AGENT_HEARTBEAT_S     15
#define AGENT_SILENT_S        60

/* Members that every call of an agent has. */
#define AGENT_PROTOCOL_FIELD                                                                                           \
    {                                                                                                                  \
        .name = "protocol_version", .type = FIELD_INT, .flags = FIELD_REQUIRED, .min = 1, .max = 1e6,                  \
        .about = "The protocol that the agent speaks."                                                                 \
    }
#define AGENT_FIELDS                                                                                                   \
    AGENT_PROTOCOL_FIELD,                                                                                              \
        {.name = "config_code", .type = FIELD_CODE, .flags = FIELD_REQUIRED, .about = "Hardware of its server."},      \
    {                                                                                                                  \
        .name = "hostname", .type = FIELD_CODE, .flags = FIELD_REQUIRED, .about = "Its server."                        \
    }

struct agent {
    int64_t server_id; /* 0 = not registered yet (agent_begin only) */
    int64_t config_id;
    const char *config_code, *hostname;
    const char *state; /* of the server, NULL when it is not registered */
    int64_t protocol;
};

/* Tells a protocol that is too old or too new what to do. */
as_status agent_check_protocol(struct plane_call *call, int64_t protocol) AS_NODISCARD;
/* Who calls; a refusal (protocol, another server's token, no such hardware) is told. In the call's transaction. */
as_status agent_begin(struct plane_call *call, struct agent *ret) AS_NODISCARD;
/* The same of a registered server, which counts as heard of. */
as_status agent_find(struct plane_call *call, struct agent *ret) AS_NODISCARD;

#endif
