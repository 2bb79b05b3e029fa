/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and instants as text, against the C library and against themselves. */
#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_number(const char *text, size_t len)
{
    double own = 0;
    int64_t whole = 0;
    bool has_own = json_text_double(text, len, &own);
    bool has_whole = json_text_int64(text, len, &whole);
    if (!json_cursor_validate(text, len, NULL)) {
        if (has_own || has_whole)
            abort();
        return;
    }
    if (text[0] != '-' && (text[0] < '0' || text[0] > '9'))
        return;
    double expected = strtod(text, NULL);
    if (has_own != (isfinite(expected) != 0) || (has_own && memcmp(&own, &expected, sizeof own) != 0))
        abort();
    if (has_whole && (double)whole != expected)
        abort();
}

static void check_bits(const uint8_t *data, size_t size)
{
    double value, back;
    char text[DOUBLE_TEXT_BYTES];
    if (size < sizeof value)
        return;
    memcpy(&value, data, sizeof value);
    size_t len = double_format(value, text);
    if (len != strlen(text) || len >= sizeof text)
        abort();
    if (isfinite(value) && (!json_text_double(text, len, &back) || memcmp(&back, &value, sizeof value) != 0))
        abort();
}

static void check_instant(const char *text, size_t len)
{
    struct wall t, again;
    char formatted[WALL_TEXT_BYTES];
    if (wall_parse(text, len, &t) != 0)
        return;
    wall_format(t, formatted);
    if (wall_parse(formatted, strlen(formatted), &again) != 0 || t.ns < again.ns || t.ns - again.ns >= NS_PER_US)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    /* strtod stops at a NUL and takes white space, hexadecimal and names, which the grammar check has refused before.
     */
    while (size > 0 && strchr(" \t\r\n", text[size - 1]))
        size--;
    if (strlen(text) >= size)
        check_number(text, size);
    check_bits(data, size);
    check_instant(text, size);
    free(text);
    return 0;
}
