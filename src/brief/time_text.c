/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define US_PER_S  INT64_C(1000000)
#define S_PER_DAY INT64_C(86400)
/* Numbers beyond this are milliseconds. */
#define SECONDS_WATERSHED 2e10
#define UNIX_S_MIN        INT64_C(-62135596800) /* year 1 */
#define UNIX_S_MAX        INT64_C(253402300799) /* year 9999 */

/* A civil time; zone_minutes is meaningless without has_zone. */
struct civil {
    int year, month, day, hour, minute, second;
    int microsecond;
    bool has_zone;
    int zone_minutes;
};

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

static bool is_valid(const struct civil *t)
{
    return t->year >= 1 && t->month >= 1 && t->month <= 12 && t->day >= 1 && t->day <= month_days(t->year, t->month) &&
           t->hour < 24 && t->minute < 60 && t->second < 60;
}

static void print_civil(const struct civil *t, char ret[TIME_TEXT_BYTES])
{
    size_t used = (size_t)snprintf(ret, TIME_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d", t->year % 10000,
                                   t->month % 100, t->day % 100, t->hour % 100, t->minute % 100, t->second % 100);
    if (t->microsecond != 0)
        used += (size_t)snprintf(ret + used, TIME_TEXT_BYTES - used, ".%06d", t->microsecond % 1000000);
    if (!t->has_zone)
        return;
    int minutes = t->zone_minutes < 0 ? -t->zone_minutes : t->zone_minutes;
    if (minutes == 0)
        (void)snprintf(ret + used, TIME_TEXT_BYTES - used, "Z");
    else
        (void)snprintf(ret + used, TIME_TEXT_BYTES - used, "%c%02d:%02d", t->zone_minutes < 0 ? '-' : '+',
                       minutes / 60 % 100, minutes % 60);
}

/* Exactly `digits` digits. */
static bool take_digits(const char **at, const char *end, int digits, int *ret)
{
    int sum = 0;
    if (end - *at < digits)
        return false;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        sum = sum * 10 + (**at - '0');
    }
    *ret = sum;
    return true;
}

static bool take_char(const char **at, const char *end, const char *allowed)
{
    if (*at == end || **at == '\0' || !strchr(allowed, **at))
        return false;
    (*at)++;
    return true;
}

static bool take_fraction(const char **at, const char *end, int *ret_microsecond)
{
    int scale = 100000, sum = 0;
    const char *from = *at;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++, scale /= 10)
        sum += (**at - '0') * scale;
    *ret_microsecond = sum;
    return *at > from;
}

/* Nothing, "Z", "+hh:mm", "+hhmm" or "+hh". */
static bool take_zone(const char **at, const char *end, struct civil *t)
{
    int hours, minutes = 0;
    while (*at < end && **at == ' ')
        (*at)++;
    if (*at == end)
        return true;
    t->has_zone = true;
    if (take_char(at, end, "Zz"))
        return *at == end;
    bool is_negative = **at == '-';
    if (!take_char(at, end, "+-") || !take_digits(at, end, 2, &hours))
        return false;
    (void)take_char(at, end, ":");
    if (*at < end && !take_digits(at, end, 2, &minutes))
        return false;
    t->zone_minutes = (is_negative ? -1 : 1) * (hours * 60 + minutes);
    return *at == end && hours < 24 && minutes < 60;
}

static bool take_iso(const char *at, const char *end, struct civil *t)
{
    if (!take_digits(&at, end, 4, &t->year) || !take_char(&at, end, "-") || !take_digits(&at, end, 2, &t->month) ||
        !take_char(&at, end, "-") || !take_digits(&at, end, 2, &t->day))
        return false;
    if (at == end)
        return true;
    if (!take_char(&at, end, "Tt _") || !take_digits(&at, end, 2, &t->hour) || !take_char(&at, end, ":") ||
        !take_digits(&at, end, 2, &t->minute))
        return false;
    if (take_char(&at, end, ":") && !take_digits(&at, end, 2, &t->second))
        return false;
    if (take_char(&at, end, ".,") && !take_fraction(&at, end, &t->microsecond))
        return false;
    return take_zone(&at, end, t);
}

/* Days since 1970 to a date (proleptic Gregorian; Howard Hinnant's civil_from_days). */
static void civil_from_days(int64_t days, struct civil *t)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100),
            shifted = (5 * day_of_year + 2) / 153;
    t->day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
    t->month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    t->year = (int)(year_of_era + era * 400 + (t->month <= 2));
}

bool time_from_number(double number, char ret[TIME_TEXT_BYTES])
{
    if (!isfinite(number))
        return false;
    double seconds = fabs(number) > SECONDS_WATERSHED ? number / 1000 : number, whole = floor(seconds);
    if (whole < (double)UNIX_S_MIN || whole > (double)UNIX_S_MAX)
        return false;
    int64_t unix_s = (int64_t)whole, microsecond = (int64_t)nearbyint((seconds - whole) * (double)US_PER_S);
    if (microsecond >= US_PER_S) {
        microsecond -= US_PER_S;
        unix_s++;
    }
    int64_t days = unix_s / S_PER_DAY - (unix_s % S_PER_DAY < 0), rest = unix_s - days * S_PER_DAY;
    struct civil t = {
        .hour = (int)(rest / 3600), .minute = (int)(rest / 60 % 60), .second = (int)(rest % 60), .has_zone = true};
    t.microsecond = (int)microsecond;
    civil_from_days(days, &t);
    print_civil(&t, ret);
    return true;
}

bool time_local(int64_t unix_s, char ret[TIME_TEXT_BYTES])
{
    time_t when = (time_t)unix_s;
    struct tm local;
    if (unix_s < UNIX_S_MIN + S_PER_DAY || unix_s > UNIX_S_MAX - S_PER_DAY || !localtime_r(&when, &local))
        return false;
    struct civil t = {
        local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, 0, true, 0};
    t.zone_minutes = (int)(local.tm_gmtoff / 60);
    print_civil(&t, ret);
    return true;
}

bool time_normalise(const char *text, size_t len, char ret[TIME_TEXT_BYTES])
{
    struct civil t = {.year = 0};
    double number;
    if (take_iso(text, text + len, &t) && is_valid(&t)) {
        print_civil(&t, ret);
        return true;
    }
    for (size_t i = 0; i < len; i++)
        if (!strchr("0123456789.-+", text[i]) || text[i] == '\0')
            return false;
    return len > 0 && scalar_double(text, len, &number) && time_from_number(number, ret);
}
