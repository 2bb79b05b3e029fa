/* SPDX-License-Identifier: Apache-2.0 */
#include "run/ntp.h"

#include <string.h>

#define UNIX_EPOCH_S INT64_C(2208988800) /* 1970 in seconds since 1900 */
#define MODE_CLIENT 3
#define MODE_SERVER 4
#define VERSION 4
#define AT_ORIGINATE 24
#define AT_RECEIVE 32
#define AT_TRANSMIT 40

static void put_u64(unsigned char *at, uint64_t value)
{
    for (int i = 7; i >= 0; i--, value >>= 8)
        at[i] = (unsigned char)value;
}

static uint64_t get_u64(const unsigned char *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}

/* NTP's 32.32 fixed point; the era is left out, as it is in packets. */
static uint64_t ntp_of_wall(struct wall t)
{
    int64_t seconds = t.ns / NS_PER_S, rest_ns = t.ns % NS_PER_S;
    if (rest_ns < 0) {
        rest_ns += NS_PER_S;
        seconds--;
    }
    uint64_t fraction = ((uint64_t)rest_ns << 32) / (uint64_t)NS_PER_S;
    return (uint64_t)(uint32_t)(seconds + UNIX_EPOCH_S) << 32 | fraction;
}

/* a − b in ns, for stamps less than 68 years apart, over a change of era too. */
static int64_t ntp_diff_ns(uint64_t a, uint64_t b)
{
    int64_t difference = (int64_t)(a - b);
    int64_t seconds = difference >> 32;
    uint64_t fraction = (uint64_t)difference & UINT32_MAX;
    return seconds * NS_PER_S + (int64_t)(fraction * (uint64_t)NS_PER_S >> 32);
}

void ntp_make_request(uint64_t cookie, unsigned char ret[NTP_PACKET_BYTES])
{
    memset(ret, 0, NTP_PACKET_BYTES);
    ret[0] = VERSION << 3 | MODE_CLIENT;
    put_u64(ret + AT_TRANSMIT, cookie);
}

as_status ntp_read_answer(const struct ntp_exchange *exchange, struct ntp_answer *ret, struct as_error *err)
{
    const unsigned char *packet = exchange->packet;
    if (exchange->len < NTP_PACKET_BYTES)
        return error_set(err, AS_E_INVALID, "answered %zu bytes, no time", exchange->len);
    if ((packet[0] & 7) != MODE_SERVER || get_u64(packet + AT_ORIGINATE) != exchange->cookie)
        return error_set(err, AS_E_INVALID, "gave an answer that belongs to no question");
    if (packet[1] == 0)
        return error_set(err, AS_E_INVALID, "refused (kiss of death \"%.4s\")", (const char *)packet + 12);
    if (packet[0] >> 6 == 3 || packet[1] > 15 || get_u64(packet + AT_TRANSMIT) == 0)
        return error_set(err, AS_E_INVALID, "is not synchronised itself");
    uint64_t sent = ntp_of_wall(exchange->sent), received = ntp_of_wall(exchange->received);
    uint64_t server_in = get_u64(packet + AT_RECEIVE), server_out = get_u64(packet + AT_TRANSMIT);
    int64_t there_ns = ntp_diff_ns(server_in, sent), back_ns = ntp_diff_ns(server_out, received);
    ret->offset_ns = there_ns / 2 + back_ns / 2 + (there_ns % 2 + back_ns % 2) / 2;
    ret->round_trip_ns = exchange->received.ns - exchange->sent.ns - ntp_diff_ns(server_out, server_in);
    if (ret->round_trip_ns < 0)
        ret->round_trip_ns = 0;
    return AS_OK;
}
