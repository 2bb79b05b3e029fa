/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static int64_t clock_read_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

struct mono mono_now(void)
{
    return (struct mono){clock_read_ns(CLOCK_MONOTONIC)};
}

struct wall wall_now(void)
{
    return (struct wall){clock_read_ns(CLOCK_REALTIME)};
}

int64_t cpu_process_ns(void)
{
    return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t cpu_thread_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct clock_offset clock_offset_measure(int rounds)
{
    struct clock_offset best = {0, INT64_MAX, {0}};
    for (int i = 0; i < rounds || i == 0; i++) {
        int64_t before = clock_read_ns(CLOCK_MONOTONIC);
        int64_t wall = clock_read_ns(CLOCK_REALTIME);
        int64_t after = clock_read_ns(CLOCK_MONOTONIC);
        int64_t half = (after - before + 1) / 2;
        if (half < best.error_ns)
            best = (struct clock_offset){wall - (before + (after - before) / 2), half, {after}};
    }
    return best;
}

void mono_sleep_until(struct mono t)
{
    struct timespec ts = {.tv_sec = (time_t)(t.ns / NS_PER_S), .tv_nsec = (long)(t.ns % NS_PER_S)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Days since 1970-01-01 to the civil date (Howard Hinnant, chrono-Compatible Low-Level Date Algorithms). */
static void civil_from_days(int64_t days, int *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = (int)(yoe + era * 400 + (*month <= 2));
}

static int64_t days_from_civil(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t yoe = year - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static void put_digits(char *at, int64_t value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
}

void wall_format(struct wall t, char ret_text[WALL_TEXT_BYTES])
{
    int64_t seconds = t.ns / NS_PER_S;
    int64_t rest = t.ns % NS_PER_S;
    if (rest < 0) {
        rest += NS_PER_S;
        seconds--;
    }
    int64_t days = seconds / 86400;
    int64_t of_day = seconds % 86400;
    if (of_day < 0) {
        of_day += 86400;
        days--;
    }
    int year, month, day;
    civil_from_days(days, &year, &month, &day);
    memcpy(ret_text, "0000-00-00T00:00:00.000000Z", WALL_TEXT_BYTES);
    put_digits(ret_text, year, 4);
    put_digits(ret_text + 5, month, 2);
    put_digits(ret_text + 8, day, 2);
    put_digits(ret_text + 11, of_day / 3600, 2);
    put_digits(ret_text + 14, of_day / 60 % 60, 2);
    put_digits(ret_text + 17, of_day % 60, 2);
    put_digits(ret_text + 20, rest / NS_PER_US, 6);
}

/* Reads exactly `width` digits; returns -1 when there is something else. */
static int64_t take_digits(const char **at, const char *end, int width)
{
    int64_t value = 0;
    for (int i = 0; i < width; i++, (*at)++) {
        if (*at >= end || **at < '0' || **at > '9')
            return -1;
        value = value * 10 + (**at - '0');
    }
    return value;
}

static int take_char(const char **at, const char *end, const char *any_of)
{
    if (*at >= end || !strchr(any_of, **at) || **at == '\0')
        return -1;
    return *(*at)++;
}

/* -1 when a point has no digit behind it. */
static int64_t take_fraction_ns(const char **at, const char *end)
{
    if (*at == end || **at != '.')
        return 0;
    const char *first = ++*at;
    int64_t ns = 0;
    for (int64_t scale = NS_PER_S / 10; *at < end && **at >= '0' && **at <= '9'; (*at)++, scale /= 10)
        ns += (**at - '0') * scale;
    return *at == first ? -1 : ns;
}

static int days_of_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}

static int take_zone_s(const char **at, const char *end, int64_t *ret)
{
    int sign = take_char(at, end, "Zz+-");
    if (sign < 0)
        return -1;
    if (sign == 'Z' || sign == 'z') {
        *ret = 0;
        return 0;
    }
    int64_t hours = take_digits(at, end, 2);
    if (hours < 0 || hours > 23 || take_char(at, end, ":") < 0)
        return -1;
    int64_t minutes = take_digits(at, end, 2);
    if (minutes < 0 || minutes > 59)
        return -1;
    *ret = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return 0;
}

int wall_parse(const char *text, size_t len, struct wall *ret)
{
    const char *at = text, *end = text + len;
    int64_t year = take_digits(&at, end, 4);
    if (year < 0 || take_char(&at, end, "-") < 0)
        return -1;
    int64_t month = take_digits(&at, end, 2);
    if (month < 1 || month > 12 || take_char(&at, end, "-") < 0)
        return -1;
    int64_t day = take_digits(&at, end, 2);
    if (day < 1 || day > days_of_month(year, month) || take_char(&at, end, "Tt ") < 0)
        return -1;
    int64_t hour = take_digits(&at, end, 2);
    if (hour < 0 || hour > 23 || take_char(&at, end, ":") < 0)
        return -1;
    int64_t minute = take_digits(&at, end, 2);
    if (minute < 0 || minute > 59 || take_char(&at, end, ":") < 0)
        return -1;
    int64_t second = take_digits(&at, end, 2);
    if (second < 0 || second > 60)
        return -1;
    int64_t fraction_ns = take_fraction_ns(&at, end);
    int64_t zone_s;
    if (fraction_ns < 0 || take_zone_s(&at, end, &zone_s) < 0 || at != end)
        return -1;
    int64_t days = days_from_civil(year, (int)month, (int)day);
    int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second - zone_s;
    int64_t ns;
    if (__builtin_mul_overflow(seconds, NS_PER_S, &ns) || __builtin_add_overflow(ns, fraction_ns, &ns))
        return -1;
    ret->ns = ns;
    return 0;
}
