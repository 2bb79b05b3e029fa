/* SPDX-License-Identifier: Apache-2.0 */
#include "run/identity.h"
#include "run/ntp.h"
#include "run/slo.h"
#include "support/check.h"

#include <string.h>

/* ---- objectives ---- */

static as_status slo_of(const char *text, struct run_slo *ret, struct as_error *err)
{
    const char *items[] = {text};
    return slo_read(&(struct opt_list){items, 1}, ret, err);
}

static void objectives(void **state)
{
    (void)state;
    struct run_slo slo;
    assert_int_equal(slo_of("ttft:200 e2el:5000", &slo, NULL), AS_OK);
    assert_int_equal(slo.ttft_ns, 200 * NS_PER_MS);
    assert_int_equal(slo.e2e_ns, 5000 * NS_PER_MS);
    assert_int_equal(slo.tpot_ns, -1);
    assert_int_equal(slo.itl_ns, -1);
    assert_int_equal(slo_of("time_to_first_token:1.5,inter_token_latency:20 request_latency:3", &slo, NULL), AS_OK);
    assert_int_equal(slo.ttft_ns, 1500 * NS_PER_US);
    assert_int_equal(slo.tpot_ns, 20 * NS_PER_MS);
    assert_int_equal(slo.e2e_ns, 3 * NS_PER_MS);
    assert_int_equal(slo_of("itl:7", &slo, NULL), AS_OK);
    assert_int_equal(slo.itl_ns, 7 * NS_PER_MS);
}

static void objectives_that_are_none(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "--goodput: names no objective"},
        {"ttft", "--goodput: has no number of milliseconds after ttft"},
        {"ttft:", "--goodput: has no number of milliseconds after ttft"},
        {"ttft:-1", "--goodput: has no number of milliseconds after ttft"},
        {"ttft:0", "--goodput: has no usable number of milliseconds after ttft"},
        {"ttft:1.2.3", "--goodput: has no usable number of milliseconds after ttft"},
        {"ttft:1 ttft:2", "--goodput: bounds ttft a second time"},
        {"tftt:1", "--goodput: has an unknown objective \"tftt\""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct run_slo slo = {1, 2, 3, 4};
        struct as_error err = {0};
        assert_int_equal(slo_of(cases[i][0], &slo, &err), AS_E_USAGE);
        assert_string_equal(err.message, cases[i][1]);
        assert_int_equal(slo.ttft_ns, 1);
    }
}

/* ---- names of runs ---- */

static void names_of_a_run(void **state)
{
    (void)state;
    static const unsigned char random[16] = {0xff, 0x01, 0x3f, 0x2a, 5, 6, 0xf7, 8, 0xff, 10, 11, 12, 13, 14, 15, 16};
    struct identity identity;
    identity_from("llm", (struct wall){INT64_C(1796065533) * NS_PER_S + 123456000}, random, &identity);
    assert_string_equal(identity.uuid, "ff013f2a-0506-4708-bf0a-0b0c0d0e0f10");
    assert_string_equal(identity.timestamp, "2026-11-30T19:05:33.123456Z");
    assert_string_equal(identity.human, "llm-20261130T190533Z-warm-bison-3f2a");
}

/* ---- time servers ---- */

#define COOKIE UINT64_C(0x0123456789abcdef)

static void put_stamp(unsigned char *at, struct wall t)
{
    uint64_t seconds = (uint64_t)(t.ns / NS_PER_S + INT64_C(2208988800)) & UINT32_MAX;
    uint64_t stamp = seconds << 32 | ((uint64_t)(t.ns % NS_PER_S) << 32) / (uint64_t)NS_PER_S;
    for (int i = 7; i >= 0; i--, stamp >>= 8)
        at[i] = (unsigned char)stamp;
}

/* A server whose clock is `offset_ns` ahead, 10 ms away, 2 ms of its own. */
static struct ntp_exchange exchange_with(int64_t base_ns, int64_t offset_ns)
{
    struct ntp_exchange exchange = {.cookie = COOKIE, .len = NTP_PACKET_BYTES};
    unsigned char request[NTP_PACKET_BYTES];
    exchange.sent = (struct wall){base_ns};
    exchange.received = (struct wall){base_ns + 22 * NS_PER_MS};
    ntp_make_request(COOKIE, request);
    memcpy(exchange.packet + 24, request + 40, 8);
    exchange.packet[0] = 4 << 3 | 4;
    exchange.packet[1] = 2;
    put_stamp(exchange.packet + 32, (struct wall){base_ns + 10 * NS_PER_MS + offset_ns});
    put_stamp(exchange.packet + 40, (struct wall){base_ns + 12 * NS_PER_MS + offset_ns});
    return exchange;
}

static void the_request_is_a_client_packet(void **state)
{
    (void)state;
    unsigned char request[NTP_PACKET_BYTES];
    ntp_make_request(COOKIE, request);
    assert_int_equal(request[0], 0x23);
    assert_int_equal(request[40], 0x01);
    assert_int_equal(request[47], 0xef);
}

static void offsets(void **state)
{
    (void)state;
    static const int64_t bases_ns[] = {INT64_C(1796065533) * 1000000000,
                                       INT64_C(2085978495) * 1000000000 /* one second before 2036's change of era */};
    static const int64_t offsets_ns[] = {0, 1, 999999999, -1500000000, INT64_C(86400) * 1000000000, -NS_PER_MS};
    for (size_t b = 0; b < ARRAY_COUNT(bases_ns); b++)
        for (size_t i = 0; i < ARRAY_COUNT(offsets_ns); i++) {
            struct ntp_exchange exchange = exchange_with(bases_ns[b], offsets_ns[i]);
            struct ntp_answer answer;
            assert_int_equal(ntp_read_answer(&exchange, &answer, NULL), AS_OK);
            assert_in_range(answer.offset_ns - offsets_ns[i] + 3, 0, 6);
            assert_in_range(answer.round_trip_ns - 20 * NS_PER_MS + 3, 0, 6);
        }
}

static void answers_that_do_not_count(void **state)
{
    (void)state;
    struct ntp_answer answer;
    struct as_error err = {0};
    struct ntp_exchange exchange = exchange_with(NS_PER_S, 0);
    exchange.len = 20;
    assert_int_equal(ntp_read_answer(&exchange, &answer, &err), AS_E_INVALID);
    assert_string_equal(err.message, "answered 20 bytes, no time");
    exchange = exchange_with(NS_PER_S, 0);
    exchange.cookie++;
    assert_int_equal(ntp_read_answer(&exchange, &answer, &err), AS_E_INVALID);
    assert_string_equal(err.message, "gave an answer that belongs to no question");
    exchange = exchange_with(NS_PER_S, 0);
    exchange.packet[1] = 0;
    memcpy(exchange.packet + 12, "RATE", 4);
    assert_int_equal(ntp_read_answer(&exchange, &answer, &err), AS_E_INVALID);
    assert_string_equal(err.message, "refused (kiss of death \"RATE\")");
    exchange = exchange_with(NS_PER_S, 0);
    exchange.packet[0] |= 0xc0;
    assert_int_equal(ntp_read_answer(&exchange, &answer, &err), AS_E_INVALID);
    assert_string_equal(err.message, "is not synchronised itself");
    exchange = exchange_with(NS_PER_S, 0);
    memset(exchange.packet + 40, 0, 8);
    assert_int_equal(ntp_read_answer(&exchange, &answer, &err), AS_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objectives),     cmocka_unit_test(objectives_that_are_none),
        cmocka_unit_test(names_of_a_run), cmocka_unit_test(the_request_is_a_client_packet),
        cmocka_unit_test(offsets),        cmocka_unit_test(answers_that_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
