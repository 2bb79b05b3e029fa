/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct status_row {
    const char *name;
    const char *sentence;
    int exit_code;
    int http_status;
};

static const struct status_row STATUS_ROWS[] = {
#define STATUS_ROW(name, exit_code, http_status, sentence) {#name, sentence, exit_code, http_status},
    AS_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

static const struct status_row *status_row(as_status status)
{
    size_t count = sizeof STATUS_ROWS / sizeof STATUS_ROWS[0];
    size_t index = (size_t)status;
    return &STATUS_ROWS[index < count ? index : (size_t)AS_E_INTERNAL];
}

const char *status_name(as_status status)
{
    return status_row(status)->name;
}

const char *status_sentence(as_status status)
{
    return status_row(status)->sentence;
}

int status_exit_code(as_status status)
{
    return status_row(status)->exit_code;
}

int status_http(as_status status)
{
    return status_row(status)->http_status;
}

static void error_fill(struct as_error *err, as_status status, const char *fmt, va_list args)
{
    err->status = status;
    err->line = 0;
    err->column = 0;
    err->offset = -1;
    vsnprintf(err->message, sizeof err->message, fmt, args);
}

as_status error_set(struct as_error *err, as_status status, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        error_fill(err, status, fmt, args);
        va_end(args);
    }
    return status;
}

as_status error_set_at(struct as_error *err, as_status status, int64_t line, int64_t offset, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        error_fill(err, status, fmt, args);
        va_end(args);
        err->line = line;
        err->offset = offset;
    }
    return status;
}

as_status error_set_errno(struct as_error *err, int errnum, const char *fmt, ...)
{
    as_status status = AS_E_IO;
    if (errnum == ENOENT)
        status = AS_E_NOTFOUND;
    else if (errnum == EACCES || errnum == EPERM)
        status = AS_E_DENIED;
    else if (errnum == ENOMEM)
        status = AS_E_NOMEM;
    else if (errnum == EEXIST)
        status = AS_E_EXISTS;
    if (err) {
        va_list args;
        va_start(args, fmt);
        error_fill(err, status, fmt, args);
        va_end(args);
        char reason[128];
        const char *text = strerror_r(errnum, reason, sizeof reason);
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used, ": %s", text);
    }
    return status;
}

as_status error_prefix(struct as_error *err, const char *fmt, ...)
{
    if (!err)
        return AS_E_INTERNAL;
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", old);
    return err->status;
}
