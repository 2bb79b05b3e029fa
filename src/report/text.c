/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text.h"

#include <math.h>
#include <stdio.h>

const char *text_ms(double value, char ret[REPORT_NUMBER_BYTES])
{
    if (!isfinite(value))
        return "-";
    double size = fabs(value);
    int digits = size < 1 ? 3 : size < 1000 ? 2 : size < 100000 ? 1 : 0;
    (void)snprintf(ret, REPORT_NUMBER_BYTES, "%.*f", digits, value);
    return ret;
}

const char *text_rate(double value, char ret[REPORT_NUMBER_BYTES])
{
    if (!isfinite(value))
        return "-";
    double size = fabs(value);
    int digits = size < 10 ? 3 : size < 1000 ? 2 : size < 10000 ? 1 : 0;
    (void)snprintf(ret, REPORT_NUMBER_BYTES, "%.*f", digits, value);
    return ret;
}

const char *text_duration(double seconds, char ret[REPORT_NUMBER_BYTES])
{
    if (!isfinite(seconds) || seconds < 0)
        return "-";
    int64_t whole = (int64_t)(seconds + 0.5);
    if (seconds < 1)
        (void)snprintf(ret, REPORT_NUMBER_BYTES, "%.0f ms", seconds * 1000);
    else if (seconds < 60)
        (void)snprintf(ret, REPORT_NUMBER_BYTES, "%.1f s", seconds);
    else if (whole < 3600)
        (void)snprintf(ret, REPORT_NUMBER_BYTES, "%d:%02d", (int)(whole / 60), (int)(whole % 60));
    else if (whole < 3600000)
        (void)snprintf(ret, REPORT_NUMBER_BYTES, "%d:%02d:%02d", (int)(whole / 3600), (int)(whole / 60 % 60),
                       (int)(whole % 60));
    else
        return "-";
    return ret;
}
