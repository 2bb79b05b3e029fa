/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_CLOCK_H
#define ASSAY_BASE_CLOCK_H

/*
 * Monotonic and wall time are different types, both in nanoseconds. Every duration is a
 * difference of two struct mono. Wall time is metadata. All functions may be called from any
 * thread; none can fail.
 */

#include <stddef.h>
#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

struct mono {
    int64_t ns; /* CLOCK_MONOTONIC */
};

struct wall {
    int64_t ns; /* CLOCK_REALTIME, since 1970-01-01T00:00:00Z */
};

/*
 * wall = mono + offset_ns, true to within ±error_ns at the time of measuring
 * (half of the tightest bracket mono, wall, mono).
 */
struct clock_offset {
    int64_t offset_ns;
    int64_t error_ns;
    struct mono measured_at;
};

struct mono mono_now(void);
struct wall wall_now(void);

/* CPU time used so far by this process / this thread, in ns. */
int64_t cpu_process_ns(void);
int64_t cpu_thread_ns(void);

/* a - b in ns. */
static inline int64_t mono_diff_ns(struct mono a, struct mono b)
{
    return a.ns - b.ns;
}

static inline struct mono mono_add_ns(struct mono t, int64_t ns)
{
    return (struct mono){t.ns + ns};
}

/* Measures the offset of the wall clock: the tightest of `rounds` brackets (≥ 1). */
struct clock_offset clock_offset_measure(int rounds);

static inline struct mono wall_to_mono(struct wall t, const struct clock_offset *offset)
{
    return (struct mono){t.ns - offset->offset_ns};
}

static inline struct wall mono_to_wall(struct mono t, const struct clock_offset *offset)
{
    return (struct wall){t.ns + offset->offset_ns};
}

/* Sleeps until `t`; returns early only when a signal arrived. */
void mono_sleep_until(struct mono t);

/* "2026-11-30T19:05:33.123456Z" and a NUL: 28 bytes. */
#define WALL_TEXT_BYTES 28
void wall_format(struct wall t, char ret_text[WALL_TEXT_BYTES]);

/* Parses RFC 3339 with "Z" or a numeric zone; returns 0, or -1 when it is none or beyond struct wall (1677 to 2262). */
int wall_parse(const char *text, size_t len, struct wall *ret);

#endif
