/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_FILE_H
#define ASSAY_BASE_FILE_H

/*
 * Whole-file helpers. Errors name the path and the system's reason in *err (may be NULL).
 * EINTR is handled inside; no function leaves a half-written target behind.
 */

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Appends the whole file to `ret` (its max_bytes is the limit → AS_E_LIMIT). "-" reads stdin. */
as_status file_read(const char *path, struct strbuf *ret, struct as_error *err) AS_NODISCARD;
/* Writes a temporary file beside `path`, fsyncs it, renames it over `path`, fsyncs the folder. Of a link to
   a file the file is replaced; what else is there and no regular file (a device, a pipe) is written to, never replaced.
 */
as_status file_write_atomic(const char *path, const void *data, size_t len, struct as_error *err) AS_NODISCARD;
/*
 * Appends one line (a newline is added) with one O_APPEND write under an advisory lock and fsyncs; if the
 * file lacks a final newline one is put before it.
 */
as_status file_append_line(const char *path, const char *line, size_t len, struct as_error *err) AS_NODISCARD;
/* Creates the folder and its parents (mode 0777 & ~umask); one that exists is fine. */
as_status file_make_dirs(const char *path, struct as_error *err) AS_NODISCARD;
/* Writes all bytes, restarting on EINTR and short writes. */
as_status file_write_all(int fd, const void *data, size_t len) AS_NODISCARD;
bool file_exists(const char *path);
/* `base` joined with `name`, or `name` itself when it is absolute; false when `size` is too small. */
bool path_join(char *ret, size_t size, const char *base, const char *name);
/* The folder part of `path` ("." when it has none); false when `size` is too small. */
bool path_dir(char *ret, size_t size, const char *path);

#endif
