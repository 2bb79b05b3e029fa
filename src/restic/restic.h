/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RESTIC_RESTIC_H
#define ASSAY_RESTIC_RESTIC_H

/*
 * Folders kept in a restic repository: made, backed up, restored, by Debian's program `restic`, which is started with
 * an argument array and never by a shell. The repository's address is passed through as it is (a path, s3:…, rest:…);
 * its password comes from a file, or from restic's own environment (RESTIC_PASSWORD_FILE, RESTIC_PASSWORD_COMMAND,
 * RESTIC_PASSWORD), as do the keys of a store in the network (AWS_ACCESS_KEY_ID, …). Neither address nor password is
 * put on a command line, and what restic says is not repeated where it names an address with a user.
 *
 * Errors: AS_E_NOTFOUND: restic is not installed, there is no repository, or no such snapshot; AS_E_DENIED: the
 * password is wrong or missing; AS_E_STATE: the repository is locked; AS_E_IO: whatever else restic says; AS_E_NOMEM.
 * Each comes with a sentence that says what to do. Calls last as long as restic does. Any thread.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define RESTIC_ID_BYTES 65

struct restic_repository {
    const char *address;
    const char *password_file; /* NULL = by the environment */
};

/* Makes the repository unless it is there. */
as_status restic_init(const struct restic_repository *repository, bool *ret_is_new, struct as_error *err) AS_NODISCARD;

struct restic_snapshot {
    char id[RESTIC_ID_BYTES];
    int64_t files, bytes; /* of the folder */
};

/* Backs up what is in the folder; paths in the snapshot are relative to it. `tags`: NULL-terminated. */
as_status restic_backup(const struct restic_repository *repository, const char *folder, const char *const *tags,
                        struct restic_snapshot *ret, struct as_error *err) AS_NODISCARD;
/* Puts a snapshot's files into a folder, which is made when it is not there, and has restic verify what it wrote. */
as_status restic_restore(const struct restic_repository *repository, const char *snapshot, const char *folder,
                         struct as_error *err) AS_NODISCARD;

#endif
