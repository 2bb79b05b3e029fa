/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_NTP_H
#define ASSAY_RUN_NTP_H

/*
 * How far the machine's clock is off: a client of SNTP (RFC 5905, RFC 4330 section 5). All servers are asked at once, each in a worker
 * of its own that also looks its name up; nothing waits for longer than the time limit, a look-up that hangs is left
 * behind. Of the answers within NTP_GRACE_NS of the first, the one with the shortest round trip counts. Any thread.
 */

#include "base/clock.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define NTP_TIME_LIMIT_NS (INT64_C(5) * NS_PER_S)
#define NTP_GRACE_NS (INT64_C(200) * NS_PER_MS)
#define NTP_SERVERS_MAX 16
#define NTP_PACKET_BYTES 48

struct ntp_answer {
    size_t server;         /* index of the one that counts */
    int64_t offset_ns;     /* server − local clock */
    int64_t round_trip_ns; /* network part: the server's own time is taken off */
    size_t answers;        /* how many were usable */
};

/*
 * Asks `servers` ("host", "host:port", "[v6]:port"; at most NTP_SERVERS_MAX). AS_E_TIMEOUT when none gave a usable answer within
 * `limit_ns`: err->message says what each came to.
 */
as_status ntp_ask(const char *const *servers, size_t count, int64_t limit_ns, struct ntp_answer *ret, struct as_error *err) AS_NODISCARD;

/* The request, with `cookie` as its transmit time. */
void ntp_make_request(uint64_t cookie, unsigned char ret[NTP_PACKET_BYTES]);
/* A request and its answer as they passed here. */
struct ntp_exchange {
    uint64_t cookie;
    struct wall sent, received; /* local clock */
    unsigned char packet[NTP_PACKET_BYTES];
    size_t len;                 /* bytes that came */
};
/* Reads the answer. AS_E_INVALID with a reason: too short, none to this request, the server is not synchronised, kiss of death. */
as_status ntp_read_answer(const struct ntp_exchange *exchange, struct ntp_answer *ret, struct as_error *err) AS_NODISCARD;

#endif
