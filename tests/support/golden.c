/* SPDX-License-Identifier: Apache-2.0 */
#include "support/golden.h"

#include "base/file.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

char *golden_read(const char *path, size_t *ret_len)
{
    struct strbuf buf;
    struct as_error err;
    strbuf_init(&buf, 0);
    if (file_read(path, &buf, &err) != AS_OK)
        fail_msg("%s", err.message);
    *ret_len = buf.len;
    return buf.data;
}

static void bless(const char *path, const char *actual, size_t len)
{
    struct as_error err;
    if (file_write_atomic(path, actual, len, &err) != AS_OK)
        fail_msg("%s", err.message);
}

static int line_length(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    return (int)((newline ? newline : end) - line);
}

void golden_check(const char *path, const char *actual, size_t len)
{
    const char *switch_value = getenv("ASSAY_BLESS");
    if (switch_value && strcmp(switch_value, "1") == 0) {
        bless(path, actual, len);
        return;
    }
    size_t expected_len;
    char *expected = golden_read(path, &expected_len);
    size_t same = 0, line = 1, line_start = 0;
    while (same < len && same < expected_len && actual[same] == expected[same]) {
        if (actual[same++] == '\n') {
            line++;
            line_start = same;
        }
    }
    if (same < len || same < expected_len) {
        print_error("%s:%zu\n  expected: %.*s\n  actual:   %.*s\n", path, line,
                    line_length(expected + line_start, expected + expected_len), expected + line_start,
                    line_length(actual + line_start, actual + len), actual + line_start);
        free(expected);
        fail_msg("%s: the output differs in line %zu (ASSAY_BLESS=1 accepts it)", path, line);
    }
    free(expected);
}
