/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MODALITY_ARTIFACT_FOLDER_H
#define ASSAY_MODALITY_ARTIFACT_FOLDER_H

/*
 * The folder that files of a run are saved in. A file is written under another name, then renamed: it is whole or not
 * there. Nothing is written outside (names have no slash, links are not followed), nothing that exists is replaced
 * unless `overwrite`. Any thread.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct artifact_folder {
    int fd;
    bool overwrite;
};

/*
 * Makes the folder and its parents. AS_E_EXISTS when it holds anything and `overwrite` is false; AS_E_IO. *ret needs
 * artifact_folder_close.
 */
as_status artifact_folder_open(const char *path, bool overwrite, struct artifact_folder *ret,
                               struct as_error *err) AS_NODISCARD;
void artifact_folder_close(struct artifact_folder *folder);
/* AS_E_EXISTS, AS_E_IO (full disk, a removed folder), AS_E_INVALID: no plain name. Of several threads each writes other
 * names. */
as_status artifact_folder_write(const struct artifact_folder *folder, const char *name, const void *data, size_t len,
                                struct as_error *err) AS_NODISCARD;

#endif
