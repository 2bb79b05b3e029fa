/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_PROMPT_FILES_H
#define ASSAY_CTL_PROMPT_FILES_H

/*
 * The images or recordings that the file of a prompt source names, held against a folder: each local reference is a
 * path inside the folder, its file is there, and where the line gives a digest (SHA-256), it has it. References to web
 * addresses are passed over.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct prompt_files {
    int64_t files, with_digest; /* local references; those held against a digest */
};

/* `text` is the JSONL. AS_E_INVALID: a reference that leaves the folder, or a file with another digest; AS_E_NOTFOUND:
 * a file that is not there; AS_E_IO, AS_E_NOMEM. The sentence names line and file. */
as_status prompt_files_check(const char *text, size_t len, const char *folder, struct prompt_files *ret,
                             struct as_error *err) AS_NODISCARD;

#endif
