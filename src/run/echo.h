/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_ECHO_H
#define ASSAY_RUN_ECHO_H

/*
 * request.http of the result folder: the first request as it was sent, so that two tools that disagree can be compared
 * by what they asked for.
 */

#include "base/arena.h"
#include "engine/engine.h"
#include "run/folder.h"

#define ECHO_FILE_NAME "request.http"
/* Bytes of head and body that are kept. */
#define ECHO_BYTES_MAX ((size_t)64 * 1024)

/* Memory for it from the arena; a NULL buffer without memory: nothing is kept then. */
void echo_init(struct request_echo *echo, struct arena *arena);
/*
 * Writes the file, with *** for the values of header lines that are not the program's own and for keys in the query.
 * Writes nothing when no request was sent. AS_E_IO, AS_E_NOMEM.
 */
as_status echo_write(const struct request_echo *echo, const struct folder *folder, struct as_error *err) AS_NODISCARD;
/* The text of the file. */
void echo_format(const struct request_echo *echo, struct strbuf *out);

#endif
