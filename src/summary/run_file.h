/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_SUMMARY_RUN_FILE_H
#define ASSAY_SUMMARY_RUN_FILE_H

/*
 * run.json: the run facts in the result folder, written when a run starts (has_result false) and again when it ends,
 * each time whole and atomically. Errors: AS_E_IO, AS_E_NOTFOUND, AS_E_INVALID (damaged or of another version; the
 * message names the file), AS_E_NOMEM.
 */

#include "base/arena.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "summary/run_facts.h"

#define RUN_FILE_NAME   "run.json"
#define RUN_FILE_SCHEMA "assay.run.v1"

/* The text of run.json. AS_E_INVALID when facts->config_json is no JSON. */
as_status run_facts_format(const struct run_facts *facts, struct strbuf *ret) AS_NODISCARD;
/* Reads it back; strings live in `arena`. What is absent stays unknown. */
as_status run_facts_parse(const char *text, size_t len, struct arena *arena, struct run_facts *ret,
                          struct as_error *err) AS_NODISCARD;

/* `folder`/run.json. */
as_status run_file_write(const char *folder, const struct run_facts *facts, struct as_error *err) AS_NODISCARD;
as_status run_file_read(const char *folder, struct arena *arena, struct run_facts *ret,
                        struct as_error *err) AS_NODISCARD;

#endif
