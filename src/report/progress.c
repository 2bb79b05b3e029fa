/* SPDX-License-Identifier: Apache-2.0 */
#include "report/progress.h"

#include "report/text.h"
#include "summary/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define UNKNOWN ((double)NAN)

double progress_eta_s(const struct progress_figures *f)
{
    double left_s = UNKNOWN;
    if (isfinite(f->duration_s))
        left_s = f->duration_s > f->elapsed_s ? f->duration_s - f->elapsed_s : 0;
    if (f->planned >= 0 && f->done > 0 && f->elapsed_s > 0) {
        double by_count_s = (double)(f->planned - f->done) * f->elapsed_s / (double)f->done;
        /* Whichever bound comes first ends the run. */
        if (!(left_s < by_count_s))
            left_s = by_count_s;
    }
    return left_s;
}

static void append(char *line, size_t *len, const char *fmt, ...) AS_PRINTF(3, 4);

static void append(char *line, size_t *len, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int added = vsnprintf(line + *len, PROGRESS_LINE_BYTES - *len, fmt, args);
    va_end(args);
    if (added < 0)
        return;
    *len += (size_t)added;
    if (*len >= PROGRESS_LINE_BYTES)
        *len = PROGRESS_LINE_BYTES - 1;
}

static void append_progress(const struct progress_figures *f, char *line, size_t *len)
{
    char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES];
    if (f->warmup_left > 0)
        append(line, len, "warm-up, %" PRId64 " left | ", f->warmup_left);
    if (f->planned > 0)
        append(line, len, "%" PRId64 "/%" PRId64 " %d%%", f->done, f->planned,
               (int)(100.0 * (double)f->done / (double)f->planned));
    else
        append(line, len, "%" PRId64 " done", f->done);
    if (isfinite(f->duration_s))
        append(line, len, " | %s of %s", text_duration(f->elapsed_s, a), text_duration(f->duration_s, b));
}

static void append_rates(const struct progress_figures *f, char *line, size_t *len)
{
    char a[REPORT_NUMBER_BYTES], b[REPORT_NUMBER_BYTES];
    append(line, len, " | %s req/s", text_rate(f->requests_per_s, a));
    if (isfinite(f->completion_tokens_per_s))
        append(line, len, " | %s tok/s", text_rate(f->completion_tokens_per_s, a));
    append(line, len, " | %s p50 %s p99 %s ms", f->is_streaming ? "TTFT" : "time", text_ms(f->latency_p50_ms, a),
           text_ms(f->latency_p99_ms, b));
}

/* Cuts at a character's start: "µ" and the like must stay whole. */
static size_t cut(const char *line, size_t len, size_t columns)
{
    if (columns == 0 || len <= columns)
        return len;
    while (columns > 0 && ((unsigned char)line[columns] & 0xc0) == 0x80)
        columns--;
    return columns;
}

size_t progress_format(const struct progress_figures *f, size_t columns, char ret[PROGRESS_LINE_BYTES])
{
    size_t len = 0;
    char eta[REPORT_NUMBER_BYTES];
    append_progress(f, ret, &len);
    append_rates(f, ret, &len);
    append(ret, &len, " | %" PRId64 " in flight | %" PRId64 " error%s", f->in_flight, f->errors,
           f->errors == 1 ? "" : "s");
    if (f->is_draining)
        append(ret, &len, " | draining");
    else
        append(ret, &len, " | ETA %s", text_duration(progress_eta_s(f), eta));
    len = cut(ret, len, columns);
    ret[len] = '\0';
    return len;
}

void progress_percentiles(int64_t *recent_ns, size_t count, double *ret_p50_ms, double *ret_p99_ms)
{
    struct distribution d = summary_quick_distribution(recent_ns, count);
    *ret_p50_ms = d.percentile[DISTRIBUTION_P50] / 1e6;
    *ret_p99_ms = d.percentile[DISTRIBUTION_P99] / 1e6;
}
