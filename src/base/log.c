/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_LINE_BYTES 4096

static _Atomic int log_level_now = LOG_LEVEL_INFO;
static _Atomic(const char *) log_program = "assay";

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&log_level_now, (int)level, memory_order_relaxed);
}

void log_set_program(const char *name)
{
    atomic_store_explicit(&log_program, name, memory_order_relaxed);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    static const char *const words[] = {"error: ", "warning: ", "", "debug: "};
    if ((int)level > atomic_load_explicit(&log_level_now, memory_order_relaxed))
        return;
    char line[LOG_LINE_BYTES];
    int head = snprintf(line, sizeof line, "%s: %s", atomic_load_explicit(&log_program, memory_order_relaxed),
                        words[level]);
    size_t used = head < 0 ? 0 : (size_t)head < sizeof line ? (size_t)head : sizeof line - 1;
    va_list args;
    va_start(args, fmt);
    int body = vsnprintf(line + used, sizeof line - used - 1, fmt, args);
    va_end(args);
    if (body > 0)
        used += (size_t)body < sizeof line - used - 1 ? (size_t)body : sizeof line - used - 2;
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written;
}
