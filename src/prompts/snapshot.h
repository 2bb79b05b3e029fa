/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_SNAPSHOT_H
#define ASSAY_PROMPTS_SNAPSHOT_H

/*
 * A snapshot: a folder with rows (JSONL), the files they name, and manifest.json, which says what it is (code, type,
 * licence, source, rows) and lists every file with its size and SHA-256. Types are the control plane's:
 * metrumbench_vlm_snapshot, metrumbench_asr_snapshot, metrumbench_imagegen_snapshot. Paths in rows are relative to the
 * folder. The manifest is written last: a folder without one is no snapshot. One thread a snapshot.
 */

#include "base/json_write.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <stdint.h>

#define SNAPSHOT_SCHEMA   "assay.snapshot.v1"
#define SNAPSHOT_MANIFEST "manifest.json"

struct snapshot_facts {
    const char *code, *type;
    const char *source, *licence; /* NULL = not said */
    const char *rows_file;        /* "prompts.jsonl" */
    int64_t rows;
};

/* A snapshot being made. */
struct snapshot {
    const char *folder;
    struct strbuf files; /* JSON array's items so far */
    int64_t file_count, bytes;
};

/* Makes the folder; AS_E_EXISTS when a manifest is in it. `folder` is kept. snapshot_done must follow a success. */
as_status snapshot_init(struct snapshot *snapshot, const char *folder, struct as_error *err) AS_NODISCARD;
/* Writes a file of the folder (a relative path; its folders are made) and notes it. AS_E_IO, AS_E_NOMEM. */
as_status snapshot_add(struct snapshot *snapshot, const char *path, const struct strbuf *data, struct as_error *err) AS_NODISCARD;
/* Notes a file that is in the folder already. */
as_status snapshot_note(struct snapshot *snapshot, const char *path, const struct strbuf *data, struct as_error *err) AS_NODISCARD;
/* Writes the manifest. */
as_status snapshot_finish(struct snapshot *snapshot, const struct snapshot_facts *facts, struct as_error *err) AS_NODISCARD;
void snapshot_done(struct snapshot *snapshot);

/* What a verification found. */
struct snapshot_found {
    char code[128], type[64]; /* cut to fit */
    int64_t files, bytes;
};
/*
 * Reads every file that the manifest lists and compares size and digest. AS_E_NOTFOUND: no manifest, or a file is
 * missing; AS_E_INVALID: the manifest is damaged or names a path outside the folder, or a file differs; it is named.
 */
as_status snapshot_verify(const char *folder, struct snapshot_found *ret, struct as_error *err) AS_NODISCARD;

#endif
