/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_NET_STAMPS_H
#define ASSAY_NET_STAMPS_H

/*
 * Kernel receive stamps (SO_TIMESTAMPNS, CLOCK_REALTIME) on the monotonic clock. The offset between the two clocks is
 * measured at most once a millisecond; one that a stamp contradicts (it lies after the read, or long before it) is
 * measured anew at once. A stamp taken around a clock step is ambiguous and given up. Pure but for the measuring
 * function, which is passed in.
 */

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>

#define STAMP_OFFSET_AGE_NS NS_PER_MS
/* A stamp so much older than its read makes the offset be looked at again: the client may lag, or the clock was set
 * back. */
#define STAMP_SUSPECT_LAG_NS (50 * NS_PER_MS)
/* Offset changes above what slewing explains that make stamps ambiguous. */
#define STAMP_STEP_NS (20 * NS_PER_US)

/* Room for the one control message a read can have. */
#define STAMP_CONTROL_BYTES CMSG_SPACE(sizeof(struct timespec))

struct stamp_clock {
    struct clock_offset (*measure)(int rounds); /* clock_offset_measure, or a test's */
    struct clock_offset offset;
    int64_t step_ns; /* largest jump seen */
    bool is_known;   /* offset was measured */
};

static inline void stamp_clock_init(struct stamp_clock *clock, struct clock_offset (*measure)(int rounds))
{
    *clock = (struct stamp_clock){.measure = measure};
}

/* Takes a new measurement; returns false when wall − mono jumped since the last one. */
static inline bool stamp_clock_renew(struct stamp_clock *clock)
{
    struct clock_offset now = clock->measure(3);
    struct clock_offset old = clock->offset;
    bool was_known = clock->is_known;
    clock->offset = now;
    clock->is_known = true;
    if (!was_known)
        return true;
    int64_t change = now.offset_ns > old.offset_ns ? now.offset_ns - old.offset_ns : old.offset_ns - now.offset_ns;
    int64_t slewed = mono_diff_ns(now.measured_at, old.measured_at) / 1000;
    int64_t jump = change - slewed - now.error_ns - old.error_ns;
    if (jump > clock->step_ns)
        clock->step_ns = jump;
    return jump <= STAMP_STEP_NS;
}

/* The monotonic instant of a kernel stamp whose read returned at `user_ns`; -1 when it cannot be told. Never after
 * user_ns. */
static inline int64_t stamp_to_mono(struct stamp_clock *clock, int64_t wall_ns, int64_t user_ns)
{
    bool is_steady = true;
    if (!clock->is_known || user_ns - clock->offset.measured_at.ns > STAMP_OFFSET_AGE_NS)
        is_steady = stamp_clock_renew(clock);
    int64_t kernel_ns = wall_ns - clock->offset.offset_ns;
    int64_t lag_ns = user_ns - kernel_ns;
    if (is_steady && (lag_ns < 0 || lag_ns > STAMP_SUSPECT_LAG_NS)) {
        is_steady = stamp_clock_renew(clock);
        kernel_ns = wall_ns - clock->offset.offset_ns;
        lag_ns = user_ns - kernel_ns;
    }
    if (!is_steady || lag_ns < -(clock->offset.error_ns + STAMP_STEP_NS))
        return -1;
    return lag_ns < 0 ? user_ns : kernel_ns;
}

/* The receive stamp among a message's control data, in ns of CLOCK_REALTIME; -1 = none. */
static inline int64_t stamp_of_message(const struct msghdr *message)
{
    if (message->msg_controllen < CMSG_LEN(sizeof(struct timespec)))
        return -1;
    const struct cmsghdr *control = (const struct cmsghdr *)message->msg_control;
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SO_TIMESTAMPNS)
        return -1;
    struct timespec ts;
    __builtin_memcpy(&ts, CMSG_DATA(control), sizeof ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

#endif
