/* SPDX-License-Identifier: Apache-2.0 */
#include "http/date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char DAYS[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char *const LONG_DAYS[7] = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};
static const char MONTHS[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

#define FIRST_S INT64_C(-62135596800) /* 0001-01-01 */
#define LAST_S  INT64_C(253402300799) /* 9999-12-31 */

void http_date_format(int64_t unix_s, char ret_text[HTTP_DATE_BYTES])
{
    time_t t = (time_t)(unix_s < FIRST_S ? FIRST_S : unix_s > LAST_S ? LAST_S : unix_s);
    struct tm tm;
    gmtime_r(&t, &tm);
    snprintf(ret_text, HTTP_DATE_BYTES, "%s, %02u %s %04u %02u:%02u:%02u GMT", DAYS[tm.tm_wday % 7],
             (unsigned)tm.tm_mday % 100, MONTHS[tm.tm_mon % 12], (unsigned)(tm.tm_year + 1900) % 10000,
             (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
}

/* What is left of a date, and whether all parts so far were right. */
struct scan {
    const char *at, *end;
    bool is_good;
};

static void scan_text(struct scan *scan, const char *text)
{
    size_t len = strlen(text);
    scan->is_good = scan->is_good && (size_t)(scan->end - scan->at) >= len && memcmp(scan->at, text, len) == 0;
    if (scan->is_good)
        scan->at += len;
}

/* `width` digits; the first may be a space when `padded`. */
static int scan_digits(struct scan *scan, int width, bool padded)
{
    int value = 0;
    if (scan->end - scan->at < width)
        scan->is_good = false;
    for (int i = 0; i < width && scan->is_good; i++) {
        char c = *scan->at++;
        if (i == 0 && padded && c == ' ')
            c = '0';
        if (c < '0' || c > '9')
            scan->is_good = false;
        else
            value = value * 10 + (c - '0');
    }
    return value;
}

static int scan_month(struct scan *scan)
{
    for (int i = 0; i < 12; i++) {
        if (scan->end - scan->at >= 3 && memcmp(scan->at, MONTHS[i], 3) == 0) {
            scan->at += 3;
            return i;
        }
    }
    scan->is_good = false;
    return 0;
}

static void scan_time(struct scan *scan, struct tm *tm)
{
    tm->tm_hour = scan_digits(scan, 2, false);
    scan_text(scan, ":");
    tm->tm_min = scan_digits(scan, 2, false);
    scan_text(scan, ":");
    tm->tm_sec = scan_digits(scan, 2, false);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", after the comma. */
static void scan_fixdate(struct scan *scan, struct tm *tm)
{
    scan_text(scan, " ");
    tm->tm_mday = scan_digits(scan, 2, false);
    scan_text(scan, " ");
    tm->tm_mon = scan_month(scan);
    scan_text(scan, " ");
    tm->tm_year = scan_digits(scan, 4, false) - 1900;
    scan_text(scan, " ");
    scan_time(scan, tm);
    scan_text(scan, " GMT");
}

/* "Sunday, 06-Nov-94 08:49:37 GMT", after the comma. */
static void scan_rfc850(struct scan *scan, struct tm *tm, int64_t now_s)
{
    scan_text(scan, " ");
    tm->tm_mday = scan_digits(scan, 2, false);
    scan_text(scan, "-");
    tm->tm_mon = scan_month(scan);
    scan_text(scan, "-");
    int year = scan_digits(scan, 2, false);
    scan_text(scan, " ");
    scan_time(scan, tm);
    scan_text(scan, " GMT");
    time_t now = (time_t)now_s;
    struct tm today;
    gmtime_r(&now, &today);
    int this_year = today.tm_year + 1900;
    year += this_year - this_year % 100;
    if (year > this_year + 50)
        year -= 100;
    tm->tm_year = year - 1900;
}

/* "Sun Nov  6 08:49:37 1994", after the day. */
static void scan_asctime(struct scan *scan, struct tm *tm)
{
    scan_text(scan, " ");
    tm->tm_mon = scan_month(scan);
    scan_text(scan, " ");
    tm->tm_mday = scan_digits(scan, 2, true);
    scan_text(scan, " ");
    scan_time(scan, tm);
    scan_text(scan, " ");
    tm->tm_year = scan_digits(scan, 4, false) - 1900;
}

static bool is_day(struct http_text text, bool is_long)
{
    for (int i = 0; i < 7; i++) {
        if (is_long ? http_text_equals(text, LONG_DAYS[i]) : text.len == 3 && memcmp(text.at, DAYS[i], 3) == 0)
            return true;
    }
    return false;
}

bool http_date_parse(struct http_text text, int64_t now_s, int64_t *ret_unix_s)
{
    struct tm tm = {0};
    const char *comma = text.len ? memchr(text.at, ',', text.len) : NULL;
    struct http_text day = {text.at, comma ? (size_t)(comma - text.at) : 3};
    if (text.len < 3)
        return false;
    struct scan scan = {day.at + day.len + (comma ? 1 : 0), text.at + text.len, is_day(day, comma && day.len > 3)};
    if (comma && day.len > 3)
        scan_rfc850(&scan, &tm, now_s);
    else if (comma)
        scan_fixdate(&scan, &tm);
    else
        scan_asctime(&scan, &tm);
    bool in_range = tm.tm_mday >= 1 && tm.tm_mday <= 31 && tm.tm_hour < 24 && tm.tm_min < 60 && tm.tm_sec <= 60;
    if (!scan.is_good || scan.at != scan.end || !in_range)
        return false;
    int month_day = tm.tm_mday;
    bool is_leap = tm.tm_sec == 60;
    int64_t unix_s = (int64_t)timegm(&tm);
    if (tm.tm_mday != month_day && !is_leap)
        return false; /* 30 February */
    *ret_unix_s = unix_s;
    return true;
}

double http_retry_after_s(struct http_text text, int64_t now_s)
{
    int64_t value;
    text = http_text_trim(text);
    if (http_parse_decimal(text, &value))
        return (double)value;
    if (!http_date_parse(text, now_s, &value))
        return -1;
    return value > now_s ? (double)(value - now_s) : 0;
}
